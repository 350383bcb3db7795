"""JSON holds any text, and shows a terminal none that could steer it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.cli.json_text import json_text
from allotment.cli.shared import is_shown


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda each: st.lists(each) | st.dictionaries(st.text(), each)
    )
)
def test_what_is_read_back_is_what_was_written(value: object) -> None:
    text = json_text(value)
    assert json.loads(text) == value
    assert all(char == "\n" or is_shown(char) for char in text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\x1b[31m", '"\\u001b[31m"'),
        ("\x9b2J", '"\\u009b2J"'),
        ("\u202eabc", '"\\u202eabc"'),
        ("\U000e0001", '"\\udb40\\udc01"'),
        ("höß €", '"höß €"'),
    ],
)
def test_what_steers_is_written_as_its_code(text: str, told: str) -> None:
    assert json_text(text) == told
