"""`allot doctor` as a person uses it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.running.engine.harness import Repository


def test_a_machine_that_is_ready(tmp_path: Path) -> None:
    made = Repository(tmp_path, volumes=1, pages=1).write()
    ended = made.allot("doctor")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stderr == ""
    assert ended.stdout.endswith("everything is ready\n")
    assert "✓ bucket: what is there is never written over" in ended.stdout
    assert "✓ repository: 1 pipeline, 1 campaign in" in ended.stdout
    assert not (tmp_path / "results").exists(), "nothing is left behind"


def test_what_is_in_the_way_is_told_with_its_remedy(tmp_path: Path) -> None:
    made = Repository(tmp_path, volumes=1, pages=1).write()
    (tmp_path / "results").write_text("a file")
    with (tmp_path / "campaigns" / "c.yaml").open("a") as file:
        file.write("windw: 3\n")
    text = made.allot("doctor")
    assert text.returncode == 1
    assert "✗ repository: campaigns/c.yaml:" in text.stdout
    assert "did you mean `window`?" in text.stdout
    assert "✗ bucket: " in text.stdout
    answer = json.loads(made.allot("doctor", "-o", "json").stdout)
    assert (answer["format_version"], answer["ready"]) == (1, False)
    problems = [check["check"] for check in answer["checks"] if check["state"] == "problem"]
    assert problems == ["repository", "bucket"]
    left = json.loads(made.allot("doctor", "-o", "json", "--no-bucket").stdout)
    assert "bucket" not in {check["check"] for check in left["checks"]}
