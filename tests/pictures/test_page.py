from __future__ import annotations

import pytest

from allotment.pictures.chart import Chart, Table
from allotment.pictures.markup import element
from allotment.pictures.page import KeyFigure, Page, Section, figure, items, page, paragraph, shown
from allotment.pictures.style import sheet
from tests.pictures.reading import HOSTILE, page_parts, words


def example(text: str) -> Page:
    table = Table((text, "n"), ((text, "1"),), frozenset({1}), left_out=3)
    chart = Chart(element("svg", element("title", text)), ((element("svg"), text),), table, (text,))
    return Page(
        text,
        text,
        text,
        text,
        (KeyFigure(text, text, text),),
        (Section(text, (figure(chart, text), shown(table), items([text]), paragraph(text)), text),),
        (text,),
    )


@pytest.mark.parametrize("text", [*HOSTILE, "", "plain"], ids=range(len(HOSTILE) + 2))
def test_a_page_needs_nothing_and_lets_nothing_in(text: str) -> None:
    made = page(example(text))
    root = page_parts(made)
    assert made == page(example(text))
    if text == "plain":
        assert root.get("lang") == "en"
        assert "3 more rows are left out." in words(root)


def test_a_table_says_what_heads_its_rows_and_columns() -> None:
    root = page_parts(page(example("x")))
    heads = list(root.iter("th"))
    assert {each.get("scope") for each in heads} == {"col", "row"}
    assert {each.get("class") for each in root.iter("td")} == {"n"}


def test_the_sheet_is_for_light_and_dark_and_narrow_and_paper() -> None:
    style = sheet()
    for each in ("prefers-color-scheme:dark", "max-width:640px", "@media print", "color-scheme:light dark"):
        assert each in style
    assert "url(" not in style
    assert "\n" not in style
    assert len(style) < 12_000
    assert style.count("{") == style.count("}")


def test_an_empty_page_is_a_page() -> None:
    root = page_parts(page(Page("Nothing")))
    assert words(root).split()[0] == "Nothing"
