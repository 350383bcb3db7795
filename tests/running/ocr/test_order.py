"""The order in which pieces of text are read, however the page lay on the glass."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.running.ocr.order import between, in_reading_order, skew_of
from allotment.running.ocr.text import Block, Line, Point, Quad, Word


def piece(text: str, left: float, top: float, width: float, height: float = 20) -> Line:
    quad = ((left, top), (left + width, top), (left + width, top + height), (left, top + height))
    return Line(words=(Word(text, 0.9, quad),), confidence=0.9, quad=quad)


def turned(line: Line, degrees: float) -> Line:
    """The piece on a page that was turned clockwise about its top left corner."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))

    def turn(point: Point) -> Point:
        return (point[0] * cos - point[1] * sin, point[0] * sin + point[1] * cos)

    first, second, third, fourth = (turn(point) for point in line.quad)
    return Line(line.words, line.confidence, (first, second, third, fourth))


def texts(blocks: Sequence[Block]) -> list[list[str]]:
    return [[line.text for line in block.lines] for block in blocks]


PARAGRAPH = [piece(f"line {n}", 100, 100 + 30 * n, 600) for n in range(8)]
TWO_COLUMNS = [
    piece("heading", 100, 20, 600, 30),
    *(piece(f"left {n}", 100, 100 + 30 * n, 250) for n in range(6)),
    *(piece(f"right {n}", 450, 105 + 30 * n, 250) for n in range(6)),
]
LETTER = [
    piece("place and date", 450, 40, 250),
    piece("dear sister", 100, 130, 200),
    piece("we are", 100, 160, 300),
    piece("all well", 430, 163, 270),
    piece("and send", 100, 190, 600),
    piece("your brother", 400, 280, 200),
]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (PARAGRAPH, [[f"line {n}" for n in range(8)]]),
        (
            TWO_COLUMNS,
            [["heading"], [f"left {n}" for n in range(6)], [f"right {n}" for n in range(6)]],
        ),
        (
            LETTER,
            [["place and date"], ["dear sister", "we are all well", "and send"], ["your brother"]],
        ),
    ],
)
@given(data=st.data())
def test_the_order_is_that_of_the_page_whatever_its_skew(
    page: list[Line], expected: list[list[str]], data: st.DataObject
) -> None:
    degrees = data.draw(st.floats(-6, 6))
    found = data.draw(st.permutations([turned(line, degrees) for line in page]))
    assert texts(in_reading_order(found)) == expected
    assert math.degrees(skew_of(found)) == pytest.approx(degrees, abs=0.01)


def test_a_page_without_text_has_no_blocks() -> None:
    assert in_reading_order([]) == ()
    assert skew_of([]) == 0.0


def test_pieces_of_one_line_are_one_line_with_all_their_words() -> None:
    (block,) = in_reading_order([piece("world", 220, 103, 100), piece("hello", 100, 100, 100)])
    (line,) = block.lines
    assert line.text == "hello world"
    assert line.quad[0] == (100, 100)
    assert line.quad[2] == (320, 123)


def test_writing_that_stands_on_end_does_not_make_the_page_askew() -> None:
    standing = Line((), 0.9, ((50, 700), (50, 100), (70, 100), (70, 700)))
    assert skew_of([standing, *PARAGRAPH]) == 0.0
    assert len(in_reading_order([standing, *PARAGRAPH])) >= 1


def test_a_number_beside_the_text_is_no_column() -> None:
    blocks = in_reading_order([*PARAGRAPH, piece("7", 780, 100, 12)])
    assert texts(blocks)[0][0] == "line 0 7"


@given(
    st.lists(
        st.tuples(*[st.floats(-5000, 5000, allow_nan=False)] * 8),
        max_size=40,
    )
)
def test_no_piece_is_lost_or_doubled_whatever_was_found(corners: list[tuple[float, ...]]) -> None:
    pieces = []
    for index, places in enumerate(corners):
        quad: Quad = (
            (places[0], places[1]),
            (places[2], places[3]),
            (places[4], places[5]),
            (places[6], places[7]),
        )
        pieces.append(Line((Word(str(index), 0.5, quad),), 0.5, quad))
    blocks = in_reading_order(pieces)
    words = [word.text for block in blocks for line in block.lines for word in line.words]
    assert sorted(words) == sorted(str(index) for index in range(len(corners)))


def test_very_many_pieces_are_no_trouble() -> None:
    pieces = [piece(str(n), 50 * (n % 40), 100 * (n // 40), 20) for n in range(2000)]
    assert sum(len(block.lines) for block in in_reading_order(pieces)) >= 50


def test_a_part_of_a_line_is_cut_along_its_slope() -> None:
    quad = ((0.0, 0.0), (100.0, 10.0), (98.0, 30.0), (-2.0, 20.0))
    assert between(quad, 0.5, 1.0) == ((50.0, 5.0), (100.0, 10.0), (98.0, 30.0), (48.0, 25.0))
