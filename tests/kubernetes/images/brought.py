"""The runner's folder as it is brought into pods, made from what is installed here, and a team's image."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
IMAGES = ROOT / "images" / "runner"
NO_INDEX = ("error sending request", "Failed to fetch", "dns error")
BUILD = ROOT / "scripts" / "runner_folder.py"


def made_folder(out: Path, *arguments: str) -> str:
    """Make the folder; returns what the script says."""
    command = [sys.executable, str(BUILD), str(out), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if any(word in done.stderr for word in NO_INDEX):
        pytest.skip(f"there is no package index here: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return done.stdout


def injected(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """Do what the init container does."""
    environ = {**os.environ, "ALLOTMENT_RUNNER_FOLDER": str(source)}
    command = [sys.executable, "-B", str(IMAGES / "inject.py"), str(target)]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def module(name: str) -> ModuleType:
    """A program of the images as a module."""
    spec = importlib.util.spec_from_file_location(f"images_{name}", IMAGES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found
