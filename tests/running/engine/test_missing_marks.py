"""A run that finds a complete volume without a mark leaves one, so that the next look is cheap."""

from __future__ import annotations

from pathlib import Path

from tests.running.engine.harness import Repository


def test_a_run_adds_the_marks_that_are_missing(tmp_path: Path) -> None:
    repository = Repository(tmp_path, volumes=3, pages=2).write()
    assert repository.allot("run", "c").returncode == 0
    marks = sorted(path for path in (tmp_path / "results").rglob("complete/*") if path.is_file())
    assert len(marks) == 3
    for mark in marks[:2]:
        mark.unlink()
    again = repository.allot("run", "c")
    assert again.returncode == 0, again.stderr
    assert sorted(path for path in (tmp_path / "results").rglob("complete/*") if path.is_file()) == marks
