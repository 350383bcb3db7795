"""`allot check`: text and JSON, names and files, exit codes, and nothing that could steer a terminal."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from allotment.cli import invoke
from allotment.cli.rules import RULES

STEPS = "steps:\n  - step: ocr\n"
BOOKS = "pipeline: read\nvolumes:\n  - {id: a, folder: scans/a}\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("pipelines", "campaigns", "scans/a"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "pipelines/read.yaml").write_text(STEPS)
    (tmp_path / "campaigns/books.yaml").write_text(BOOKS)
    (tmp_path / "platform.yaml").write_text("engine: local\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)
    person = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "init", "-q", "-b", "main"], check=True)
    subprocess.run(["git", *person, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    return tmp_path


BASE = re.compile(r"; compared with main at [0-9a-f]{10}\n\Z")


class Said:
    """Runs `allot` and keeps what it said, but for the commit that it compared with."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys
        self.out = self.err = ""

    def __call__(self, *words: str) -> int:
        code = invoke(["check", *words])
        out, self.err = self.capsys.readouterr()
        self.out = BASE.sub("\n", out)
        return code

    def json(self, *words: str) -> Any:
        self(*words, "-o", "json")
        answer = json.loads(self.out)
        assert answer.pop("compared_with").startswith("main at ")
        return answer


@pytest.fixture
def allot(root: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    return Said(capsys)


def test_a_repository_that_is_right(allot: Said) -> None:
    assert allot() == 0
    assert allot.out == "nothing wrong in 3 files: 1 pipeline and 1 campaign are right (1 volume)\n"
    assert allot.err == ""


def test_without_git_a_note_says_what_was_not_checked(allot: Said, root: Path) -> None:
    shutil.rmtree(root / ".git")
    assert allot("--strict") == 0
    closing, note = allot.out.splitlines()
    assert note.startswith("note before-not-checked: whether used campaigns and pipelines changed was not")
    assert note.endswith("this folder is in no git repository")
    assert closing == "nothing wrong in 3 files: 1 pipeline and 1 campaign are right (1 volume)"
    assert allot("--base", "main") == 2
    assert "--base: this folder is in no git repository" in allot.err


def test_it_is_said_what_needs_were_held_against(allot: Said) -> None:
    assert allot("--describe", "8 x L4") == 0
    assert allot.out.endswith("; needs held against the described fleet, which has 8 devices\n")
    assert allot.json("--describe", "8 x L4")["held_against"] == "the described fleet, which has 8 devices"
    assert allot.json()["held_against"] == ""


def test_findings_are_lines_with_place_rule_and_hint_and_a_line_that_counts(allot: Said, root: Path) -> None:
    (root / "campaigns/books.yaml").write_text(BOOKS + "windw: 1\npack: 0\nname: books\n")
    assert allot() == 1
    books = "campaigns/books.yaml"
    not_read = "`name` is not read: the file's name says it already"
    assert allot.out.splitlines() == [
        f"{books}:4:1 error unknown-key: there is no key `windw` here (did you mean `window`?)",
        f"{books}:5:7 error out-of-range: `pack` is 0, and must be from 1 to 10,000 (change the number)",
        f"{books}:6:1 warning name-in-file: {not_read} (take the line out)",
        "2 errors, 1 warning in 3 files; 1 pipeline and 0 campaigns are right (0 volumes)",
    ]


def test_warnings_fail_only_when_they_are_to(allot: Said, root: Path) -> None:
    (root / "campaigns/books.yaml").write_text("name: books\n" + BOOKS)
    assert allot() == 0
    assert "1 warning" in allot.out
    assert allot("--strict") == 1


def test_notes_never_fail(allot: Said, root: Path) -> None:
    (root / "platform.yaml").write_text("format: 1\n")
    assert allot("--strict") == 0
    assert "note platform-not-used" in allot.out


def test_findings_as_json(allot: Said, root: Path) -> None:
    (root / "campaigns/books.yaml").write_text("windw: 1\n" + BOOKS)
    assert allot.json() == {
        "format_version": 1,
        "platform": "platform.yaml",
        "held_against": "",
        "summary": {
            "errors": 1,
            "warnings": 0,
            "notes": 0,
            "files": 3,
            "pipelines": 1,
            "campaigns": 0,
            "volumes": 0,
            "fleets": 0,
            "gangs": 0,
        },
        "findings": [
            {
                "file": "campaigns/books.yaml",
                "line": 1,
                "column": 1,
                "severity": "error",
                "rule": "unknown-key",
                "message": "there is no key `windw` here",
                "hint": "did you mean `window`?",
                "evidence": [],
            }
        ],
        "rules": {"unknown-key": RULES["unknown-key"]},
    }


def test_fleets_and_gangs_are_counted_and_their_needs_looked_at(allot: Said, root: Path) -> None:
    for name, text in (("fleets/web", "command: [serve]\n"), ("gangs/fit", "command: [fit]\nworkers: 2\n")):
        (root / name).parent.mkdir()
        (root / f"{name}.yaml").write_text(text)
    assert allot() == 0
    assert allot.out.endswith("1 campaign are right (1 volume), and 1 fleet and 1 gang\n")
    assert allot("web") == 0
    (root / "fleets/web.yaml").write_text("command: [serve]\ngpu: {count: 40}\n")
    assert allot("web") == 1
    assert allot.out.startswith("fleets/web.yaml:2:14 error claim-too-large:")
    (root / "fleets/web.yaml").write_text("command: [serve]\ngpu: {memory: 90Gi}\n")
    assert allot("web", "--describe", "8 x A100-40") == 1
    assert allot.out.startswith("fleets/web.yaml:2:15 error never-fits:")


def test_output_to_a_file(allot: Said, root: Path) -> None:
    assert allot("--out", "found.txt") == 0
    assert allot.out == ""
    assert (root / "found.txt").read_text().startswith("nothing wrong in 3 files")
    assert allot("--out", "none/found.txt") == 3
    assert "cannot be written" in allot.err


def test_names_and_files_choose_what_is_checked(allot: Said, root: Path) -> None:
    (root / "pipelines/other.yaml").write_text("steps: []\n")
    assert allot("books") == 0
    assert allot("campaigns/books.yaml", "read") == 0
    assert allot("other") == 1
    assert allot("pipelines") == 1
    assert allot("-C", str(root), "books") == 0
    assert allot("platform.yaml") == 0


def test_a_name_that_means_nothing_is_a_wrong_call(allot: Said) -> None:
    assert allot("bokos") == 2
    assert "there is no pipeline, campaign, fleet, gang or file `bokos`" in allot.err
    assert "did you mean `books`?" in allot.err


def test_a_folder_without_anything_of_ours_is_a_wrong_call(allot: Said, tmp_path: Path) -> None:
    assert allot("-C", str(tmp_path / "scans")) == 2
    assert "no repository" in allot.err


def test_the_platform_that_holds_is_checked_and_a_broken_one_is_not_held_against_files(
    allot: Said, root: Path
) -> None:
    (root / "campaigns/books.yaml").write_text("priority: night\n" + BOOKS)
    (root / "big.yaml").write_text("lanes: {night: {valeu: 1}}\n")
    assert allot("--platform", "big.yaml") == 1
    assert [line.partition(" (")[0] for line in allot.out.splitlines()[:-1]] == [
        "big.yaml:1:17 error unknown-key: there is no key `valeu` here"
    ]


def test_what_a_cluster_lacks_is_told_where_its_platform_is_named(allot: Said, root: Path) -> None:
    (root / "big.yaml").write_text("engine: kubernetes\n")
    assert allot() == 0
    assert allot("--platform", "big.yaml") == 1
    assert "pipelines/read.yaml:1:1 error no-image: no image is named" in allot.out
    assert "campaigns/books.yaml:3:5 warning folder-not-in-pods: volume `a` lies" in allot.out


def test_a_repositorys_own_platform_file_is_checked_also_where_another_holds(allot: Said, root: Path) -> None:
    (root / "big.yaml").write_text("engine: kubernetes\n")
    (root / "platform.yaml").write_text("engin: local\n")
    assert allot("--platform", "big.yaml") == 1
    assert "\nplatform.yaml:1:1 error unknown-key" in allot.out


def test_a_team_that_does_not_exist_is_a_wrong_call(allot: Said) -> None:
    assert allot("--team", "nobody") == 2
    assert "no team `nobody`" in allot.err


def test_needs_that_no_claim_can_hold_are_found_at_their_place(allot: Said, root: Path) -> None:
    (root / "pipelines/read.yaml").write_text(STEPS + "gpu:\n  memory: 8Gi\n  count: 40\n")
    assert allot() == 1
    assert allot.out.startswith("pipelines/read.yaml:5:10 error claim-too-large:")


def test_text_from_files_cannot_steer_a_terminal(allot: Said, root: Path) -> None:
    (root / "campaigns/books.yaml").write_text(BOOKS + '"\\e]0;owned\\a\\u202e": 1\n')
    (root / "campaigns/\x1b[31mred.yaml").write_text(BOOKS)
    assert allot() == 1
    assert "\x1b" not in allot.out
    assert "\u202e" not in allot.out
    assert "\\x1b]0;owned\\x07" in allot.out
    assert allot("-o", "json") == 1
    assert allot.out.isascii()
    assert "\x1b" not in allot.out


def test_colour_only_on_a_terminal(allot: Said, root: Path) -> None:
    (root / "pipelines/read.yaml").write_text("steps: []\n")
    assert allot() == 1
    assert "\x1b[" not in allot.out


def test_one_value_of_memory_is_advised_where_a_world_is_looked_at(allot: Said, root: Path) -> None:
    (root / "pipelines/read.yaml").write_text(f"{STEPS}gpu: {{memory: 80Gi}}\n")
    found = allot.json("--describe", "1 x H100-SXM mig=on-demand")["findings"]
    hints = {each["rule"]: each["hint"] for each in found}
    assert "write `memory: 79.25Gi`" in hints["memory-of-cards"]
    assert hints["memory-of-cards"] == hints["never-fits"]
