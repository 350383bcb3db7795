"""How many of the words that stand on a page were read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from allotment.starter.recall import Recall, main, recall, volume_recalls


@pytest.mark.parametrize(
    ("truth", "read", "expected"),
    [
        ("Kära syster!", "kära SYSTER", Recall(2, 2)),
        ("Kära syster!", "kara syster", Recall(1, 2)),
        ("ja ja ja", "ja nej ja", Recall(2, 3)),
        ("ett, två", "två\nett tre fyra", Recall(2, 2)),
        ("a\u030a", "\u00e5", Recall(1, 1)),
        ("half-way", "half way", Recall(2, 2)),
        ("the word", "thew ord", Recall(0, 2)),
        ("", "anything", Recall(0, 0)),
    ],
)
def test_words_are_counted_without_regard_to_case_and_punctuation(
    truth: str, read: str, expected: Recall
) -> None:
    assert recall(truth, read) == expected


def test_of_no_words_all_were_found() -> None:
    assert Recall(0, 0).share == 1.0
    assert (Recall(1, 2) + Recall(2, 2)).share == 0.75


def a_repository(root: Path) -> Path:
    for volume, pages in {"a": ["one two", "three four"], "b": ["five"]}.items():
        (root / "truth" / volume).mkdir(parents=True)
        for number, text in enumerate(pages, start=1):
            (root / "truth" / volume / f"page-{number}.txt").write_text(text)
    read = root / "results/team/read/0123456789ab/a/pages"
    read.mkdir(parents=True)
    (read / "0001.ocr.txt").write_text("one two")
    (read / "0002.ocr.txt").write_text("three")
    return root


def test_volumes_are_measured_from_the_bucket_and_missing_pages_count(tmp_path: Path) -> None:
    root = a_repository(tmp_path)
    assert volume_recalls(root / "truth", root / "results") == {"a": Recall(3, 4), "b": Recall(0, 1)}


def test_the_report_has_a_line_for_each_volume_and_the_exit_code_says_enough_or_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = a_repository(tmp_path)
    assert main([str(root)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "  a                    word recall 0.750  (3 of 4 words)",
        "  b                    word recall 0.000  (0 of 1 words)",
        "  all volumes          word recall 0.600  (3 of 5 words)",
    ]
    (root / "results/team/read/0123456789ab/a/pages/0002.ocr.txt").write_text("three four")
    (root / "results/team/other/0123456789ab/b/pages").mkdir(parents=True)
    (root / "results/team/other/0123456789ab/b/pages/0001.ocr.txt").write_text("five")
    assert main([str(root)]) == 0


def test_a_folder_that_is_no_starter_repository_is_refused_in_words(tmp_path: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "allotment.starter.recall", str(tmp_path)], capture_output=True, text=True
    )
    assert shown.returncode == 2
    assert "name a repository that `allot init` wrote" in shown.stderr
