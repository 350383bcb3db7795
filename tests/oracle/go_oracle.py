"""The published allocator of Kubernetes (``k8s.io/dynamic-resource-allocation``) as something to ask.

``main.go`` is built against one version of the module for each behaviour: the version that decides as the
behaviour says it does, found by asking all of them about the same scenarios. The program is kept in the
user's cache, under a name that changes with what it is built from.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HERE = Path(__file__).parent
MODULES = {
    "fixed": HERE / "go.mod",  # v0.37.0-beta.0
    "snapshot": HERE / "snapshot.mod",  # v0.37.0-alpha.3
    "1.36.3": HERE / "1.36.3.mod",  # v0.36.3
}
VARIANTS = ("stable", "incubating", "experimental")


class NoOracle(Exception):
    """Why the published allocator cannot be asked on this machine."""


def program(behaviour: str, *, download: bool) -> Path:
    """The built program; ``download`` says whether Go may fetch the module where it is not at hand."""
    go = shutil.which("go")
    if go is None:
        raise NoOracle("Go is not installed; with it and the module, the published allocator is asked")
    module = MODULES[behaviour]
    sources = (HERE / "main.go", module, module.with_suffix(".sum"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    built = _cache() / f"{behaviour}-{digest}"
    if built.exists():
        return built
    built.parent.mkdir(parents=True, exist_ok=True)
    being_built = built.with_suffix(f".{os.getpid()}")
    flags = [f"-modfile={module}", "-mod=readonly", "-buildvcs=false", "-o", str(being_built), "."]
    alone = {"GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": ""}
    offline = {} if download else {"GOPROXY": "off"}
    ended = subprocess.run(
        [go, "build", *flags],
        cwd=HERE,
        env=os.environ | alone | offline,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode and not download:
        raise NoOracle("the published allocator is not in Go's module cache; `make soak` fetches it")
    if ended.returncode:
        raise NoOracle(f"the published allocator could not be built: {ended.stderr.strip()[-300:]}")
    being_built.replace(built)
    return built


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "allotment" / "oracle"


class Oracle:
    """A running program, asked one scenario after the other."""

    def __init__(self, built: Path, limit_seconds: float = 5.0) -> None:
        options = ["-variants", ",".join(VARIANTS), "-limit", f"{limit_seconds}s"]
        self._process = subprocess.Popen(
            [built, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def ask(self, scenario: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of each variant."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(scenario) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise NoOracle("the published allocator has ended; what it said stands on the error stream")
        answers: dict[str, Any] = json.loads(line)["answers"]
        return answers
