"""Positions point at the token that they name, in code points, wherever the file was written."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from allotment.documents import Document, Loc, read_text

KEYS = st.text("abcåäö😀é", min_size=1, max_size=4)
LEAVES = st.one_of(st.integers(0, 10**6).map(str), st.text("xyzÅÄÖ漢", min_size=1, max_size=6))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3), st.dictionaries(KEYS, inner, min_size=1)
    ),
    max_leaves=15,
)
LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def leaves(value: object, loc: Loc = ()) -> Iterator[tuple[Loc, str]]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, (*loc, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from leaves(below, (*loc, index))
    else:
        yield loc, str(value)


def token_at(text: str, document: Document, loc: Loc, *, key: bool = False) -> str:
    """The text of the file from where a position points, found by its line and column alone."""
    position = document.position(loc, key=key)
    line = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[position.line - 1]
    return line[position.column - 1 :]


@given(TREES, st.booleans(), LINE_ENDS)
def test_every_value_is_found_where_it_stands(tree: object, flow: bool, line_end: str) -> None:
    text = yaml.safe_dump(tree, allow_unicode=True, default_flow_style=flow, width=10**6)
    text = text.replace("\n", line_end)
    document = read_text(text, name="x.yaml")
    for loc, leaf in leaves(tree):
        assert token_at(text, document, loc).lstrip("'\"").startswith(leaf)
        if loc and isinstance(loc[-1], str):
            assert token_at(text, document, loc, key=True).lstrip("'\"").startswith(loc[-1])


TEXT = "# a campaign\npipeline: read\nwindow:\n  min: 1\nvolumes:\n  - id: a\n    folder:\n  - R1\n"


@pytest.mark.parametrize(
    ("loc", "place"),
    [
        ((), "2:1"),
        (("pipeline",), "2:11"),
        (("window",), "4:3"),
        (("window", "min"), "4:8"),
        (("window", "max"), "4:3"),  # what is missing is where it would be
        (("volumes",), "6:3"),
        (("volumes", 0), "6:5"),
        (("volumes", 0, "folder"), "7:5"),  # what has no value is where its key is
        (("volumes", 0, "folder", "deeper"), "7:12"),
        (("volumes", 1), "8:5"),
        (("volumes", 9), "6:3"),
        (("volumes", 1, "id"), "8:5"),
        (("nowhere", "at", "all"), "2:1"),
    ],
)
def test_places_of_a_campaign(loc: Loc, place: str) -> None:
    position = read_text(TEXT, name="x.yaml").position(loc)
    assert f"{position.line}:{position.column}" == place


def test_quoted_and_block_scalars_begin_at_their_sign() -> None:
    document = read_text("a: 'x'\nb: \"y\"\nc: |\n  z\n", name="x.yaml")
    assert [document.position((key,)).column for key in "abc"] == [4, 4, 4]
    scalar = document.scalar(("a",))
    assert scalar is not None
    assert (scalar.text, scalar.quoted) == ("x", True)


def test_traps_are_told_in_the_order_of_the_file_with_their_places() -> None:
    document = read_text("a: yes\nb: ['yes', 1:20]\nno: 1\n", name="x.yaml")
    assert [(trap.loc, trap.is_key, trap.scalar.text) for trap in document.traps()] == [
        (("a",), False, "yes"),
        (("b", 1), False, "1:20"),
        (("no",), True, "no"),
    ]
