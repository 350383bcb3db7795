"""Pictures as files of their own: legends are laid out without a page, and no word lies over another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from allotment.pictures.alone import BETWEEN, LETTER, LINE, MARGIN, SWATCH, WIDTH, Captioned, alone
from allotment.pictures.chart import Chart, drawing, swatch
from tests.pictures.reading import image

KEYS = st.lists(st.text("abcdef ", min_size=1, max_size=60), max_size=20)


def chart(name: str, keys: list[str], height: float) -> Chart:
    legend = tuple((swatch(), words) for words in keys)
    return Chart(drawing(name, "a title", "about", height), legend, height=height)


@given(st.lists(st.tuples(KEYS, st.floats(1, 900)), max_size=4))
def test_nothing_lies_over_anything_else(made: list[tuple[list[str], float]]) -> None:
    charts = [chart(f"c{place}", keys, height) for place, (keys, height) in enumerate(made)]
    root = image(alone("title", [Captioned(each, "caption") for each in charts]))
    boxes = [(float(each.get("y", 0)), each) for each in root.findall("svg")]
    ground = 0.0
    for top, each in boxes:
        words = each.find("text")
        if words is None:
            assert top > ground
            ground = top + float(each.get("height", 0)) - 0.01
            continue
        assert top >= ground
        ground = top
    assert ground + LINE <= float(root.get("height", 0)) or not boxes


@given(KEYS)
def test_keys_of_a_line_stand_beside_each_other(keys: list[str]) -> None:
    root = image(alone("title", [Captioned(chart("c", keys, 100), "caption")]))
    ends: dict[str, float] = {}
    for each in root.findall("svg")[1:]:
        line, x = each.get("y", ""), float(each.get("x", 0))
        words = each.findtext("text", "")
        assert x == MARGIN or x >= ends[line] + BETWEEN - 0.01
        ends[line] = x + SWATCH + LETTER * len(words)
        assert ends[line] <= WIDTH - MARGIN or x == MARGIN
