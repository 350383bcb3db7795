"""Kubernetes' own evaluation of selectors (``k8s.io/dynamic-resource-allocation/cel``) as something to ask.

``published/main.go`` is built against one version of the module for each version of Kubernetes, and kept in
the user's cache under a name that changes with what it is built from.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "published"
MODULES = {"1.37": "go.mod", "1.37.0-alpha.3": "snapshot.mod", "1.36": "1.36.mod"}
"""Files that name the version of the module, by version of Kubernetes."""
DEADLINE = 600


class NotHereError(Exception):
    """Why Kubernetes cannot be asked on this machine."""


def program(version: str, *, download: bool) -> Path:
    """The built program; ``download`` says whether Go may fetch the module where it is not at hand."""
    go = shutil.which("go")
    if go is None:
        raise NotHereError("Go is not installed; with it and the module, Kubernetes itself is asked")
    module = HERE / MODULES[version]
    sources = (HERE / "main.go", module, module.with_suffix(".sum"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    built = _cache() / f"selectors-{version}-{digest}"
    if built.exists():
        return built
    built.parent.mkdir(parents=True, exist_ok=True)
    fresh = built.with_suffix(f".{os.getpid()}")
    flags = [f"-modfile={module}", "-mod=readonly", "-buildvcs=false", "-o", str(fresh), "."]
    alone = {"GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": ""}
    offline = {} if download else {"GOPROXY": "off"}
    ended = subprocess.run(
        [go, "build", *flags],
        cwd=HERE,
        env=os.environ | alone | offline,
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    if ended.returncode:
        raise NotHereError(f"Kubernetes' selectors could not be built: {ended.stderr.strip()[-300:]}")
    fresh.replace(built)
    return built


def ask(
    built: Path, devices: list[dict[str, Any]], questions: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The answers to all questions, about all devices."""
    lines = [json.dumps(devices), *map(json.dumps, questions)]
    ended = subprocess.run(
        [built], input="\n".join(lines), capture_output=True, text=True, check=True, timeout=DEADLINE
    )
    return [json.loads(line) for line in ended.stdout.splitlines()]


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "allotment" / "oracle"
