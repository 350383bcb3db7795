"""Lines that are longer than the terminal is wide go on further in, and lose nothing."""

from __future__ import annotations

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.cli.columns import folded

WORDS = st.lists(st.text("abc`:,", min_size=1, max_size=30), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  to do: nothing", ["  to do: nothing"]),
        ("  to do: look at it in a minute", ["  to do: look at", "    it in a", "    minute"]),
        ("a-word-that-is-longer-than-all", ["a-word-that-is-longer-than-all"]),
        ("x a-word-that-is-longer-than-all", ["x", "  a-word-that-is-longer-than-all"]),
    ],
)
def test_lines_go_on_further_in(line: str, expected: list[str]) -> None:
    assert folded(line, 16) == expected


def test_where_nobody_looks_nothing_is_folded() -> None:
    assert folded("a " * 500, None) == ["a " * 500]


def test_colours_take_no_room() -> None:
    line = f"{click.style('letters', fg='red', bold=True)} waits for a card"
    assert [click.unstyle(each) for each in folded(line, 15)] == ["letters waits", "  for a card"]


@given(WORDS, st.integers(min_value=0, max_value=6), st.integers(min_value=10, max_value=90))
def test_all_words_are_kept_and_lines_fit_that_can(words: list[str], indent: int, width: int) -> None:
    pieces = folded(" " * indent + " ".join(words), width)
    assert " ".join(pieces).split() == words
    assert pieces[0].startswith(" " * indent)
    for piece in pieces:
        assert len(piece) <= width or len(piece.split()) == 1
