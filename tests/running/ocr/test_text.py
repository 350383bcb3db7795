"""The three forms in which a page's text is kept: plain text, JSON and ALTO."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.running.ocr.alto import as_alto
from allotment.running.ocr.text import Block, Line, PageText, Quad, Word, as_json, as_text, box_around, clean
from tests.running.ocr.alto_rules import NS, checked_alto, strings

SOFTWARE = (("A Reader", "1.2"), ("Its Engine", "3"))


def upright(left: float, top: float, right: float, bottom: float) -> Quad:
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def line(*words: str, top: float = 10) -> Line:
    made = tuple(
        Word(word, 0.98765, upright(10 + 30 * n, top, 35 + 30 * n, top + 12)) for n, word in enumerate(words)
    )
    return Line(made, 0.5, upright(10, top, 5 + 30 * len(words), top + 12))


PAGE = PageText(
    width=200,
    height=100,
    blocks=(
        Block((line("Kära", "syster!"), line("Allt", "är", "väl.", top=30))),
        Block((line("Å", top=70),)),
    ),
    language="sv",
)


def test_plain_text_has_lines_and_an_empty_line_between_blocks() -> None:
    assert as_text(PAGE).decode() == "Kära syster!\nAllt är väl.\n\nÅ\n"


def test_json_has_every_line_and_word_with_its_place() -> None:
    content = json.loads(as_json(PAGE, "p1.png"))
    assert {key: content[key] for key in content if key != "lines"} == {
        "format_version": 1,
        "source": "p1.png",
        "width": 200,
        "height": 100,
        "language": "sv",
    }
    assert [(one["block"], one["text"]) for one in content["lines"]] == [
        (1, "Kära syster!"),
        (1, "Allt är väl."),
        (2, "Å"),
    ]
    assert content["lines"][0]["words"][1] == {
        "text": "syster!",
        "confidence": 0.988,
        "box": [40, 10, 25, 12],
    }
    assert content["lines"][0]["outline"] == [[10, 10], [65, 10], [65, 22], [10, 22]]
    assert "Kära" in as_json(PAGE, "p1.png").decode()


def test_alto_keeps_the_words_in_order_with_what_made_them() -> None:
    root = checked_alto(as_alto(PAGE, source="p1.png", number=3, software=SOFTWARE))
    assert strings(root) == ["Kära", "syster!", "Allt", "är", "väl.", "Å"]
    assert next(root.iter(f"{NS}Page")).attrib["PHYSICAL_IMG_NR"] == "3"
    assert next(root.iter(f"{NS}Page")).attrib["LANG"] == "sv"
    assert next(root.iter(f"{NS}fileName")).text == "p1.png"
    assert [element.text for element in root.iter(f"{NS}softwareVersion")] == ["1.2", "3"]
    space = next(root.iter(f"{NS}SP"))
    assert space.attrib == {"HPOS": "35", "VPOS": "10", "WIDTH": "5"}


def test_a_page_without_text_has_all_three_forms() -> None:
    empty = PageText(10, 20, ())
    assert as_text(empty) == b""
    assert json.loads(as_json(empty, "p"))["lines"] == []
    root = checked_alto(as_alto(empty, source="p", number=1, software=()))
    assert strings(root) == []
    assert "LANG" not in next(root.iter(f"{NS}Page")).attrib


def test_text_is_composed_and_without_what_xml_cannot_carry() -> None:
    assert clean("a\u030a\x00\x1b[1mb\u200b\ud800c\ufffe") == "å[1mbc"


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (((1.2, 2.7), (3.1, 4.0)), (1, 2, 3, 2)),
        (((-5, -5), (500, 500)), (0, 0, 100, 50)),
        (((99.9, 49.9), (99.9, 49.9)), (99, 49, 1, 1)),
        (((400, 400), (500, 500)), (99, 49, 1, 1)),
    ],
)
def test_a_box_is_whole_pixels_inside_the_page(
    points: tuple[tuple[float, float], ...], expected: tuple[int, int, int, int]
) -> None:
    box = box_around(points, 100, 50)
    assert (box.left, box.top, box.width, box.height) == expected


numbers = st.floats(-300, 600, allow_nan=False)
quads = st.tuples(*[st.tuples(numbers, numbers)] * 4)
words = st.builds(
    Word,
    text=st.text(min_size=1).map(clean).filter(lambda text: text.strip() == text and text != ""),
    confidence=st.floats(0, 1),
    quad=quads,
)
lines = st.builds(
    Line, words=st.lists(words, min_size=1, max_size=4).map(tuple), confidence=st.floats(0, 1), quad=quads
)
pages = st.builds(
    PageText,
    width=st.integers(1, 300),
    height=st.integers(1, 300),
    blocks=st.lists(st.builds(Block, st.lists(lines, min_size=1, max_size=3).map(tuple)), max_size=3).map(
        tuple
    ),
)


@given(page=pages, source=st.text())
def test_whatever_was_read_the_forms_hold_and_agree(page: PageText, source: str) -> None:
    root = checked_alto(as_alto(page, source=source, number=1, software=SOFTWARE))
    read = [word.text for block in page.blocks for one in block.lines for word in one.words]
    assert strings(root) == read
    content = json.loads(as_json(page, source))
    assert [word["text"] for one in content["lines"] for word in one["words"]] == read
    assert as_text(page).decode().count("\n") >= len(content["lines"])
