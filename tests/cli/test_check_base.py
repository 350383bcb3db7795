"""`allot check` in a branch: what was used is only ever added to, and each other change has its line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from allotment.cli import invoke

PIPELINE = "gpu: {memory: 8Gi}\nsteps:\n  - step: checksum\n    settings: {}\n"
CAMPAIGN = "pipeline: read\nvolumes:\n  - {id: a, folder: scans/a}\n  - {id: b, folder: scans/b}\n"
BOOKS, READ = "campaigns/books.yaml", "pipelines/read.yaml"


def git(*words: str) -> None:
    person = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *person, *words], check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A branch of a repository whose main branch has a used campaign, and a pipeline of nobody."""
    for name in ("a", "b", "c"):
        (tmp_path / f"scans/{name}").mkdir(parents=True)
    files = {BOOKS: CAMPAIGN, READ: PIPELINE, "pipelines/unused.yaml": PIPELINE}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "x")
    git("checkout", "-qb", "change")
    return tmp_path


def swapped(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:2], lines[3], lines[2]])


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({}, 0, []),
        ({BOOKS: CAMPAIGN + "window: 3\npriority: idle\nsuspend: true\n"}, 0, []),
        ({BOOKS: "volumes: [{folder: scans/a/, id: a}, {folder: scans/b, id: b}]\npipeline: read\n"}, 0, []),
        ({BOOKS: CAMPAIGN + "  - {id: c, folder: scans/c}\n"}, 0, [f"{BOOKS}:5:5 note volumes-appended:"]),
        ({BOOKS: CAMPAIGN[:-29]}, 1, [f"{BOOKS}:3:5 error volume-removed:"]),
        ({BOOKS: CAMPAIGN.replace("scans/b", "scans/c")}, 1, [f"{BOOKS}:4:5 error volume-changed:"]),
        ({BOOKS: swapped(CAMPAIGN)}, 1, [f"{BOOKS}:3:5 error volume-moved:"]),
        ({BOOKS: CAMPAIGN.replace("read", "unused")}, 1, [f"{BOOKS}:1:11 error campaign-pipeline-changed:"]),
        ({READ: PIPELINE.replace("8Gi", "40Gi") + "resources: {cpu: 2}\n"}, 0, []),
        ({READ: "steps: [{settings: {}, step: checksum}]\ngpu: {memory: 8Gi}\n"}, 0, []),
        ({READ: PIPELINE.replace("checksum", "ocr")}, 1, [f"{READ}:3:11 error recipe-changed:"]),
        ({READ: PIPELINE + "prepare: {step: 'mine:fetch'}\n"}, 1, [f"{READ}:5:10 error recipe-changed:"]),
        ({"pipelines/unused.yaml": PIPELINE.replace("checksum", "ocr")}, 0, []),
        ({"pipelines/unused.yaml": None}, 0, []),
        ({READ: None}, 1, [f"{BOOKS}:1:11 error unknown-pipeline:"]),
        ({BOOKS: None}, 0, [f"{BOOKS}:1:1 warning campaign-removed:"]),
        (
            {BOOKS: None, "campaigns/new.yaml": CAMPAIGN},
            0,
            ["campaigns/new.yaml:1:1 warning campaign-renamed:"],
        ),
        (
            {BOOKS: None, "campaigns/books.yml": CAMPAIGN},
            1,
            ["campaigns/books.yml:1:1 error wrong-extension:"],
        ),
        ({BOOKS: "pipeline: 1\n"}, 1, [f"{BOOKS}:1:1 error missing-key:", f"{BOOKS}:1:11 error yaml-trap:"]),
    ],
)
@pytest.mark.parametrize("committed", [False, True])
def test_a_branch_is_compared_with_the_main_one(
    root: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    changes: dict[str, str | None],
    code: int,
    said: list[str],
    committed: bool,
) -> None:
    for name, text in changes.items():
        (root / name).unlink() if text is None else (root / name).write_text(text)
    if committed:
        git("add", "-A")
        git("commit", "-qm", "x", "--allow-empty")
    assert invoke(["check"]) == code
    lines = capsys.readouterr().out.splitlines()[:-1]
    assert [" ".join(line.split(" ")[:3]) for line in lines] == said


def test_named_files_are_compared_and_another_base_can_be_named(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / READ).write_text(PIPELINE.replace("checksum", "ocr"))
    (root / BOOKS).write_text(swapped(CAMPAIGN))
    git("commit", "-qam", "x")
    assert invoke(["check", "read"]) == 1
    assert "volume-moved" not in capsys.readouterr().out
    assert invoke(["check", "--base", "HEAD"]) == 0
    assert invoke(["check", "--base", "nowhere"]) == 2
    assert "git knows no `nowhere`" in capsys.readouterr().err


def test_it_is_said_what_was_compared_with(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
    assert invoke(["check"]) == 0
    assert capsys.readouterr().out.endswith(f"; compared with main at {commit[:10]}\n")
    assert invoke(["check", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["compared_with"] == f"main at {commit[:10]}"


def test_a_repository_that_only_a_folder_around_it_keeps_in_git_is_noted(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = root / "scans" / "inner"
    for name, text in ((BOOKS, CAMPAIGN), (READ, PIPELINE), ("scans/a/x", ""), ("scans/b/x", "")):
        (inner / name).parent.mkdir(parents=True, exist_ok=True)
        (inner / name).write_text(text)
    monkeypatch.chdir(inner)
    for words in (["check"], ["check", "--base", "main"]):
        assert invoke(words) == 0
        said = capsys.readouterr().out
        assert "note before-not-checked" in said
        assert "nothing of this folder is in main at " in said
        assert f"of the git repository {root}" in said


def test_a_clone_of_one_commit_that_is_compared_with_itself_is_noted(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    git("clone", "-q", "--depth", "1", f"file://{root}", str(root / "clone"))
    monkeypatch.chdir(root / "clone")
    git("branch", "-q", "-M", "main")
    assert invoke(["check"]) == 0
    said = capsys.readouterr().out
    assert "note before-not-checked" in said
    assert "is this very commit; fetch the whole history" in said


@pytest.mark.parametrize(
    ("path", "now"), [(BOOKS, CAMPAIGN.replace("- {id: b, folder: scans/b}\n", "")), (READ, PIPELINE)]
)
def test_a_file_that_could_not_be_read_before_is_told(
    root: Path, capsys: pytest.CaptureFixture[str], path: str, now: str
) -> None:
    (root / path).write_text("pipeline: [broken\n")
    git("commit", "-qam", "broken")
    git("branch", "-f", "main")
    (root / path).write_text(now)
    assert invoke(["check"]) == 0
    said = capsys.readouterr()
    assert f"{path}:1:1 warning before-not-checked: what changed in it was not checked" in said.out
    assert invoke(["check", "--strict"]) == 1
