"""Programs in Go out of published modules, built where Go is, and kept in the user's cache.

A program is built from a folder of ours that names the modules in a ``.mod`` file and their hashes in the
``.sum`` file beside it; nothing of theirs is stored here. Its name in the cache changes with all that it is
built from, and whoever comes second waits for whoever builds it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

DEADLINE = 600.0


class NoProgram(Exception):
    """Why a published module cannot be asked on this machine."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the folder in which the file ``module`` lies, or of a package that it names.

    ``shelf`` is the part of the cache that it is kept in.
    """

    name: str
    module: Path
    package: str = "."
    flags: tuple[str, ...] = ()
    shelf: str = "oracle"

    @property
    def path(self) -> Path:
        """Where the built program is, or will be."""
        sources = (*sorted(self.module.parent.glob("*.go")), self.module, self.module.with_suffix(".sum"))
        told = " ".join((self.package, *self.flags)).removeprefix(".").encode()
        digest = hashlib.sha256(b"".join([*(each.read_bytes() for each in sources), told])).hexdigest()[:16]
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return Path(home) / "allotment" / self.shelf / f"{self.name}-{digest}"


def built(program: Program, *, download: bool, seconds: float = DEADLINE) -> Path:
    """The path of the program; NoProgram where there is none within so many seconds.

    ``download`` says whether Go may fetch modules that are not at hand. What was compiled when the time is up
    is not lost: the next build begins there.
    """
    path = program.path
    if path.exists():
        return path
    go = shutil.which("go")
    if go is None:
        raise NoProgram(f"{program.name}: Go is not installed; with it, it is built out of published modules")
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone(path.with_name(f"{path.name}.lock")):
        if not path.exists():
            _build(go, program, path, download=download, seconds=seconds)
    return path


def _build(go: str, program: Program, path: Path, *, download: bool, seconds: float) -> None:
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    options = [f"-modfile={program.module}", "-mod=readonly", "-buildvcs=false", *program.flags]
    alone = {"GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": ""}
    process = subprocess.Popen(
        ["nice", "-n", "10", go, "build", *options, "-o", str(fresh), program.package],
        cwd=program.module.parent,
        env=os.environ | alone | ({} if download else {"GOPROXY": "off"}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _, said = process.communicate(timeout=seconds)
    except BaseException as error:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            why = f"{program.name} was not built within {seconds:.0f} s; what is compiled is kept"
            raise NoProgram(why) from None
        raise
    if process.returncode and not download:
        raise NoProgram(f"{program.name}: a module is not in Go's module cache; `make soak` fetches it")
    if process.returncode:
        raise NoProgram(f"{program.name} could not be built: {said.strip()[-600:]}")
    fresh.replace(path)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
