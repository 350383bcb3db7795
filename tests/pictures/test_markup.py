from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.pictures.markup import FORBIDDEN, Markup, element, joined, number, said
from tests.pictures.reading import HOSTILE, parsed


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_text_from_outside_is_never_markup(text: str) -> None:
    found = parsed(element("svg", element("title", text), aria_label=text))
    svg = found[0]
    kept = FORBIDDEN.sub("\ufffd", text)
    assert [each.tag for each in svg.iter()] == ["svg", "title"]
    assert svg[0].text == kept
    assert svg.get("aria-label") == kept


@given(st.text())
def test_any_text_comes_back_as_it_was(text: str) -> None:
    plain = FORBIDDEN.sub("\ufffd", text)
    found = parsed(element("text", text, class_=text))[0]
    assert (found.text or "") == plain.replace("\r\n", "\n").replace("\r", "\n")


def test_markup_is_put_in_as_it_is() -> None:
    inner = element("b", "<")
    assert element("p", inner, "&") == "<p><b>&lt;</b>&amp;</p>"
    assert joined([inner, ">"], " < ") == "<b>&lt;</b> &lt; &gt;"
    assert said(Markup("<br/>")) == "<br/>"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (-0.0001, "0"), (1.0, "1"), (1.25, "1.25"), (1.005, "1"), (100.0, "100"), (1e6, "1000000")],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text


def test_attributes_that_say_nothing_are_left_out() -> None:
    made = element("rect", class_=None, width=1.5, height=2, hidden=False, open=True, aria_hidden="true")
    assert made == '<rect width="1.5" height="2" open="open" aria-hidden="true"/>'
