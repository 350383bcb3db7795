"""Text from outside is shown in Markdown as it is, and does nothing there."""

from __future__ import annotations

import pytest

from allotment.cli.forms.markdown import plain, rows


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("books-2", "books-2"),
        ("- item", "\\- item"),
        ("a|b", "a\\|b"),
        ("@somebody", "&#64;somebody"),
        ("[x](https://example.org)", "\\[x\\](https&#58;//example.org)"),
        ("<img>", "&lt;img\\>"),
        ("one\ntwo", "one\\\\x0atwo"),
        ("*big* _one_ `code`", "\\*big\\* \\_one\\_ \\`code\\`"),
        ("50 % (40–60 %)", "50 % (40–60 %)"),
    ],
)
def test_nothing_of_it_is_a_mark(text: str, marked: str) -> None:
    assert plain(text) == marked


def test_a_table_has_its_first_column_to_the_left() -> None:
    assert rows(("", "kai"), [("ends", "1h | x")]) == ["|  | kai |", "| --- | ---: |", "| ends | 1h \\| x |"]
