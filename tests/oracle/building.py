"""Programs in Go that ask published modules of Kubernetes, built where Go is, and kept in the user's cache.

A program is built against one version of a module, which a ``.mod`` file beside it names; its name in the
cache changes with what it is built from.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

DEADLINE = 600


class NoOracle(Exception):
    """Why a published module cannot be asked on this machine."""


def built(module: Path, name: str, *, download: bool) -> Path:
    """The program of the folder in which ``module`` lies.

    ``download`` says whether Go may fetch modules that are not at hand. Raises NoOracle.
    """
    go = shutil.which("go")
    if go is None:
        raise NoOracle("Go is not installed; with it and the module, Kubernetes itself is asked")
    sources = (module.parent / "main.go", module, module.with_suffix(".sum"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    program = _cache() / f"{name}-{digest}"
    if program.exists():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    fresh = program.with_suffix(f".{os.getpid()}")
    flags = [f"-modfile={module}", "-mod=readonly", "-buildvcs=false", "-o", str(fresh), "."]
    alone = {"GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": ""}
    offline = {} if download else {"GOPROXY": "off"}
    ended = subprocess.run(
        [go, "build", *flags],
        cwd=module.parent,
        env=os.environ | alone | offline,
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    if ended.returncode and not download:
        raise NoOracle("the published module is not in Go's module cache; `make soak` fetches it")
    if ended.returncode:
        raise NoOracle(f"the program could not be built: {ended.stderr.strip()[-300:]}")
    fresh.replace(program)
    return program


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "allotment" / "oracle"
