"""The published module of Kueue as files: its definitions of kinds, its webhooks, where Go keeps them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import yaml

from tests.controlplane.components import KUEUE, PROGRAMS
from tests.go_programs import NoProgram

MODULE: Final = "sigs.k8s.io/kueue"
SECONDS: Final = 120


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@lru_cache
def folder(*, download: bool = False) -> Path:
    """Where the module lies; NoProgram where it does not and may not be fetched."""
    go = shutil.which("go")
    if go is None:
        raise NoProgram("Go is not installed; with it, Kueue's own definitions of its kinds are read")
    offline = {} if download else {"GOPROXY": "off"}
    ended = subprocess.run(
        [go, "mod", "download", "-json", f"{MODULE}@v{KUEUE}"],
        cwd=PROGRAMS["kueue"].module.parent,
        env=os.environ | {"GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": ""} | offline,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    told = json.loads(ended.stdout) if ended.stdout else {"Error": ended.stderr}
    if told.get("Error"):
        raise NoProgram(f"{MODULE} {KUEUE} is not in Go's module cache; `make test-cluster` fetches it")
    return Path(told["Dir"])


def definitions(*, download: bool = False) -> Iterator[dict[str, Any]]:
    """The CustomResourceDefinitions of its kinds."""
    bases = folder(download=download) / "config" / "components" / "crd" / "bases"
    for path in sorted(bases.glob("*.yaml")):
        yield _loaded(path)


def converted() -> Iterator[str]:
    """The definitions whose versions the manager translates into each other."""
    layers = folder() / "config" / "components" / "crd"
    listed = yaml.safe_load((layers / "kustomization.yaml").read_text(encoding="utf-8"))
    for each in listed["patches"]:
        told = yaml.safe_load((layers / each["path"]).read_text(encoding="utf-8"))
        if "conversion" in told["spec"]:
            yield told["metadata"]["name"]


def webhooks(*, download: bool = False) -> Iterator[dict[str, Any]]:
    """What is to be asked before its kinds, and what it manages, are written."""
    path = folder(download=download) / "config" / "components" / "webhook" / "manifests.yaml"
    yield from (each for each in yaml.safe_load_all(path.read_text(encoding="utf-8")) if each)


def _loaded(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), _Loader)
