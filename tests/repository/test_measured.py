"""What was measured is written, read back as it was, and refused with its place when somebody broke it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.quantities import GI, MI
from allotment.repository.measured import (
    FILE,
    Measured,
    MeasuredFile,
    PageSeconds,
    merged,
    scan_measured,
    written,
)

ENTRY = Measured(
    pipeline="demo",
    recipe="123456789012",
    card="H200-141",
    peak=8 * GI,
    steadiness=0.97,
    volumes=3,
    pages=120,
    page_seconds=PageSeconds(1.1, 2.0, 3.5),
    device_wait=0.12,
    measured="2026-05-31T12:00:00Z",
)


def changed(**values: object) -> Measured:
    return Measured(**{name: values.get(name, getattr(ENTRY, name)) for name in Measured.__slots__})  # type: ignore[arg-type]


def test_no_file_is_an_empty_one(tmp_path: Path) -> None:
    assert scan_measured(tmp_path) == (MeasuredFile(tmp_path / FILE), [])


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    other = changed(card='NVIDIA "X" \\ 1e5', told_by="card", recipe="00000000e123")
    (tmp_path / FILE).write_text(written([other, ENTRY]))
    found, findings = scan_measured(tmp_path)
    assert findings == []
    assert found.entries == (other, ENTRY)
    assert found.of_recipe("demo", "123456789012") == (ENTRY,)
    assert found.of_pipeline("other") == ()
    assert found.position(ENTRY).line > found.position(other).line > 1


@given(
    card=st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=30),
    mebibytes=st.integers(1, 2**30),
    part=st.integers(0, 10**6),
    micros=st.integers(0, 10**12),
)
def test_any_card_and_any_figure_is_read_back(card: str, mebibytes: int, part: int, micros: int) -> None:
    seconds = PageSeconds(0.0, 0.0, micros / 10**6)
    entry = changed(card=card, peak=mebibytes * MI, steadiness=part / 10**6, page_seconds=seconds)
    with TemporaryDirectory() as folder:
        (Path(folder) / FILE).write_text(written([entry]))
        found, findings = scan_measured(Path(folder))
    assert (found.entries, findings) == ((entry,), [])


@pytest.mark.parametrize(
    ("old", "new", "rule", "words"),
    [
        ("steadiness", "stediness", "unknown-key", "did you mean `steadiness`?"),
        ("format: 1", "format: 2", "unknown-format", "format 2"),
        ('"123456789012"', "123456789012", "yaml-trap", "text"),
        ('"123456789012"', "latest", "bad-text", "twelve hexadecimal digits"),
        ("0.97", "1.5", "out-of-range", "from 0 to 1"),
        ("peak: 8Gi", "peak: 8", "bad-quantity", "8"),
        ("  pages: 120\n", "", "missing-key", "allot measure"),
        ("told_by: process", "told_by: proces", "unknown-word", "did you mean `process`?"),
        ('"2026-05-31T12:00:00Z"', '"yesterday"', "bad-text", "UTC"),
    ],
)
def test_what_is_broken_is_told_with_its_place(
    tmp_path: Path, old: str, new: str, rule: str, words: str
) -> None:
    text = written([ENTRY])
    assert old in text
    (tmp_path / FILE).write_text(text.replace(old, new))
    found, findings = scan_measured(tmp_path)
    assert found.entries == ()
    assert rule in [finding.rule for finding in findings]
    assert any(words in f"{finding.message} {finding.hint}" for finding in findings)
    assert all(finding.position.file == str(tmp_path / FILE) for finding in findings)


def test_one_recipe_has_one_entry_per_card(tmp_path: Path) -> None:
    text = written([ENTRY])
    (tmp_path / FILE).write_text(text + text.partition("measured:\n")[2])
    found, findings = scan_measured(tmp_path)
    assert (found.entries, [finding.rule for finding in findings]) == ((), ["measured-twice"])


def test_a_link_out_of_the_repository_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    root.mkdir()
    (tmp_path / "elsewhere.yaml").write_text(written([ENTRY]))
    (root / FILE).symlink_to(tmp_path / "elsewhere.yaml")
    found, findings = scan_measured(root)
    assert (found.entries, [finding.rule for finding in findings]) == ((), ["file-escapes"])


def test_new_figures_take_the_place_of_old_ones_of_the_same_recipe_and_card() -> None:
    newer, other = changed(peak=9 * GI), changed(card="L4")
    assert merged([ENTRY, other], [newer]) == (newer, other)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (ENTRY, None),
        (changed(pages=19), "only 19 pages were measured on H200-141, and it takes 20"),
        (changed(steadiness=0.5), "50% of the peak of 8.00Gi, and it takes 80%"),
    ],
)
def test_steady_is_told_with_figures(entry: Measured, words: str | None) -> None:
    why = entry.why_not_steady()
    assert why is None if words is None else words in str(why)


def test_the_room_for_a_worker_is_its_peak_and_a_tenth() -> None:
    assert ENTRY.room == -(-8 * 1024 * 11 // 10) * MI
