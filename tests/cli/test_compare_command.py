"""`allot compare`: its columns, its forms, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from allotment.cli import invoke

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "compare"
WHERE = [
    "-C",
    str(EXAMPLES / "own-cluster/archive"),
    "--platform",
    str(EXAMPLES / "own-cluster/cluster.yaml"),
]
CALL = ["compare", *WHERE, "--describe", "4 x A100-80", "--draws", "1"]


@pytest.fixture(autouse=True)
def there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ALLOT_PLATFORM", raising=False)


def data(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert invoke([*CALL, "-o", "json", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("words", "columns"),
    [
        ([], ["default", "kueue", "kai", "both"]),
        (["--scheduler", "kai"], ["kai"]),
        (["--with", "window=2", "--with", " window=2;"], ["kueue", "kueue with window=2"]),
        (
            ["--scheduler", "default", "--scheduler", "kai", "--with", "window=2; pack=2"],
            ["default", "default with window=2; pack=2", "kai", "kai with window=2; pack=2"],
        ),
    ],
)
def test_columns_are_schedulers_and_changes(
    words: list[str], columns: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert [each["name"] for each in data(capsys, *words)["columns"]] == columns


def test_a_narrower_window_takes_longer(capsys: pytest.CaptureFixture[str]) -> None:
    wide, narrow = data(capsys, "--scheduler", "kai", "--with", "window=1")["columns"]
    assert narrow["cells"]["makespan"]["p50"] > 2 * wide["cells"]["makespan"]["p50"]


def test_what_has_nothing_left_is_nothing_to_compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["init", "archive"]) == 0
    with (tmp_path / "archive/campaigns/checksums.yaml").open("a", encoding="utf-8") as file:
        file.write("suspend: true\n")
    capsys.readouterr()
    words = ["compare", "checksums", "-C", "archive", "--describe", "1 x L4"]
    assert invoke(words) == invoke(["plan", "checksums", "-C", "archive"]) == 0
    assert "there is nothing to compare: nothing of checksums is left to do; name" in capsys.readouterr().out
    assert invoke([*words, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["nothing_to_do"] is True


def test_work_that_is_sent_later_ends_later(capsys: pytest.CaptureFixture[str]) -> None:
    now = data(capsys, "--scheduler", "kai")["columns"][0]["cells"]["makespan"]["p50"]
    later = data(capsys, "--scheduler", "kai", "--at", "church-books=2h")["columns"][0]["cells"]["makespan"][
        "p50"
    ]
    assert later == pytest.approx(now + 7200, abs=120)


def test_a_page_is_whole_and_goes_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "compare.html"
    assert invoke([*CALL, "--scheduler", "kai", "-o", "html", "--out", str(out)]) == 0
    text = out.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert text.rstrip().endswith("</html>")
    assert capsys.readouterr().out == ""


def test_markdown_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([*CALL, "--scheduler", "kueue", "--scheduler", "kai", "-o", "markdown"]) == 0
    assert "|  | kueue | kai |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--with", ";"], "changes nothing"),
        (["--with", "windows=2"], "did you mean `window`"),
        (["--at", "church-book=2h"], "did you mean `church-books`"),
        (["--at", "church-books=soon"], "write --at church-books=2h"),
        (["--at", "church-books"], "does not say when"),
        (["--at", "church-books=1h", "--at", "church-books=2h"], "at another time already"),
        (["--beside", "archives=x"], "did you mean `archive`"),
        (["--beside", "archive"], "does not say where `archive` has its repository"),
        (["--beside", "archive=nowhere"], "there is no folder nowhere"),
        (["--beside", f"archive={EXAMPLES / 'own-cluster/archive'}"], "whose files these are"),
        (["--set", "image_pul=3m"], "image_pull"),
    ],
)
def test_what_is_not_there_is_refused(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke([*CALL, *words]) == 2
    assert told in capsys.readouterr().err


def test_what_a_scheduler_cannot_give_does_not_end_and_the_reason_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole, parts = data(capsys, "--scheduler", "kueue", "--with", "sharing=fraction; share=0.25")["columns"]
    assert whole["cells"]["unfinished"]["p50"] == 0
    assert parts["cells"]["unfinished"]["p50"] == 1
    assert invoke([*CALL, "--scheduler", "kueue", "--with", "sharing=fraction; share=0.25"]) == 0
    assert "gives out no parts of a GPU" in " ".join(capsys.readouterr().out.split())
