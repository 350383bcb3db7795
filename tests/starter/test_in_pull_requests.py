"""What runs before a merge and before a commit: the starter's workflow, and the hook of this repository."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from allotment.starter.write import write_starter

ROOT = Path(__file__).parents[2]


def git(root: Path, *words: str) -> None:
    person = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *person, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A branch of a clone of the starter repository, as a workflow checks it out."""
    origin = tmp_path / "origin"
    write_starter(origin)
    git(origin, "init", "-q")
    git(origin, "add", "-A")
    git(origin, "commit", "-qm", "x")
    git(tmp_path, "clone", "-q", str(origin), "clone")
    git(tmp_path / "clone", "checkout", "-qb", "change")
    return tmp_path / "clone"


def workflow(root: Path) -> dict[str, Any]:
    value: dict[str, Any] = yaml.safe_load((root / ".github/workflows/check.yml").read_text())
    return value


def check_in_workflow(root: Path) -> subprocess.CompletedProcess[str]:
    """The workflow's last step, in its shell."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "ALLOT_"))}
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    environ["GITHUB_BASE_REF"] = "main"
    run = workflow(root)["jobs"]["check"]["steps"][-1]["run"]
    return subprocess.run(
        ["bash", "-e", "-c", run], cwd=root, env=environ, capture_output=True, text=True, timeout=60
    )


def test_the_workflow_passes_the_starter_and_refuses_a_removed_volume_at_its_line(clone: Path) -> None:
    answer = check_in_workflow(clone)
    assert (answer.returncode, answer.stderr) == (0, "")
    campaign = clone / "campaigns/letters.yaml"
    lines = campaign.read_text().splitlines(keepends=True)
    campaign.write_text("".join(line for line in lines if "dagbok-1902" not in line))
    git(clone, "commit", "-qam", "x")
    answer = check_in_workflow(clone)
    assert answer.returncode == 1
    assert answer.stdout.startswith("::error file=campaigns/letters.yaml,line=6,col=5,title=volume-removed::")


def test_the_workflow_may_read_and_nothing_else(clone: Path) -> None:
    value = workflow(clone)
    assert value["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in str(value)
    checkout = value["jobs"]["check"]["steps"][0]["with"]
    assert checkout == {"fetch-depth": 0, "persist-credentials": False}
    runs = [step["run"] for step in value["jobs"]["check"]["steps"] if "run" in step]
    assert all("${{" not in run for run in runs)


def test_the_hook_runs_for_files_of_ours_and_no_others() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"] == "allot check"
    assert hook["pass_filenames"] is False
    for name in (
        "pipelines/read.yaml",
        "campaigns/a.yml",
        "fleets/web.yaml",
        "gangs/fit.yaml",
        "platform.yaml",
    ):
        assert re.search(hook["files"], name), name
    for name in ("scans/a/pipelines.yaml", "README.md", "campaigns/deep/a.yaml", "my-platform.yaml"):
        assert not re.search(hook["files"], name), name


def test_the_workflow_installs_from_where_there_is_something_to_install(clone: Path) -> None:
    (install,) = (step["run"] for step in workflow(clone)["jobs"]["check"]["steps"] if "pip" in str(step))
    assert shlex.split(install) == [
        "pip",
        "install",
        "allotment @ git+https://github.com/allotment/allotment@main",
    ]
