"""What was read on a page, as values, and its two simple forms: plain text and JSON.

Both are the same bytes whenever the same things were read: keys are sorted, confidences have three decimals,
places are whole pixels inside the page, and there is no clock.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Point = tuple[float, float]
Quad = tuple[Point, Point, Point, Point]  # the corners as the text stands: its top left, then clockwise


@dataclass(frozen=True, slots=True)
class Word:
    """A word, how sure the reader is of it (0 to 1), and where it stands."""

    text: str
    confidence: float
    quad: Quad


@dataclass(frozen=True, slots=True)
class Line:
    """Words that were read as one line."""

    words: tuple[Word, ...]
    confidence: float
    quad: Quad

    @property
    def text(self) -> str:
        """The words with single spaces between them."""
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together: a column or a paragraph, in reading order."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class PageText:
    """All text of a page, in reading order, with the size of the page in pixels."""

    width: int
    height: int
    blocks: tuple[Block, ...]
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle in whole pixels, inside the page."""

    left: int
    top: int
    width: int
    height: int


def box_around(points: Iterable[Point], width: int, height: int) -> Box:
    """The smallest upright rectangle that holds the points, cut to the page, at least one pixel each way."""
    places = tuple(points)
    left = min(max(math.floor(min(x for x, _ in places)), 0), width - 1)
    top = min(max(math.floor(min(y for _, y in places)), 0), height - 1)
    right = min(max(math.ceil(max(x for x, _ in places)), left + 1), width)
    bottom = min(max(math.ceil(max(y for _, y in places)), top + 1), height)
    return Box(left, top, right - left, bottom - top)


def outline(quad: Sequence[Point], width: int, height: int) -> list[tuple[int, int]]:
    """The corners in whole pixels, cut to the page."""
    return [(min(max(round(x), 0), width), min(max(round(y), 0), height)) for x, y in quad]


def clean(text: str) -> str:
    """Text with composed letters and without what neither XML nor a terminal can carry."""
    return "".join(
        char for char in unicodedata.normalize("NFC", text) if unicodedata.category(char) not in UNWANTED
    )


UNWANTED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def as_text(page: PageText) -> bytes:
    """The page as plain text: a line for each line, an empty line between blocks, UTF-8."""
    blocks = ("".join(f"{line.text}\n" for line in block.lines) for block in page.blocks)
    return "\n".join(blocks).encode()


def as_json(page: PageText, source: str) -> bytes:
    """The page as JSON: every line and word with its confidence and its place.

    A place is ``[left, top, width, height]`` in pixels; a line has its outline too, for pages that are askew.
    """
    lines = [
        {
            "block": number,
            "text": line.text,
            "confidence": round(line.confidence, 3),
            "box": _box(line.quad, page),
            "outline": outline(line.quad, page.width, page.height),
            "words": [
                {
                    "text": word.text,
                    "confidence": round(word.confidence, 3),
                    "box": _box(word.quad, page),
                }
                for word in line.words
            ],
        }
        for number, block in enumerate(page.blocks, start=1)
        for line in block.lines
    ]
    content = {
        "format_version": 1,
        "source": clean(source),
        "width": page.width,
        "height": page.height,
        "language": page.language,
        "lines": lines,
    }
    return (json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n").encode()


def _box(quad: Quad, page: PageText) -> list[int]:
    box = box_around(quad, page.width, page.height)
    return [box.left, box.top, box.width, box.height]
