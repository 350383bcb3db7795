"""Pictures as a file of their own (SVG), for a text that shows them: a README, a wiki, slides.

Inside a page a picture takes its colours, its width and its letters from the page. Alone it brings them
along: the same style, a width, its caption above and its legend below. It loads nothing and follows light and
dark as a page does. Nothing lays out a legend inside such a file, so words get the room that letters need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from allotment.pictures.chart import Chart
from allotment.pictures.markup import Markup, element, joined, number
from allotment.pictures.style import sheet

WIDTH: Final = 960.0
MARGIN, ROWED = 20.0, 72.0
TITLE, CAPTION, LINE, AFTER = 30.0, 24.0, 20.0, 18.0
SWATCH, LETTER, BETWEEN = 25.0, 6.4, 18.0
"""The room of a sign, of a letter, and between two keys of a legend, in pixels."""
_LETTERS: Final = (
    'svg{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}'
    "svg .title{font-size:16px;font-weight:650}svg .caption{font-size:14px;font-weight:600}"
    "svg .key{fill:var(--soft)}"
)


@dataclass(frozen=True, slots=True)
class Captioned:
    """A picture, and the line above it."""

    chart: Chart
    caption: str


def alone(title: str, pictures: Sequence[Captioned], lead: str = "") -> str:
    """The file's text: pictures one under the other, below their title and a sentence."""
    y = MARGIN + TITLE
    parts: list[Markup] = [element("text", title, class_="title", x=MARGIN, y=MARGIN + 12)]
    if lead:
        parts.append(element("text", lead, x=MARGIN, y=y + 10))
        y += CAPTION
    for each in pictures:
        left = MARGIN + (ROWED if each.chart.is_rowed else 0.0)
        parts.append(element("text", each.caption, class_="caption", x=MARGIN, y=y + 10))
        y += CAPTION
        width, height = WIDTH - left - MARGIN, each.chart.height
        parts.append(element("svg", each.chart.svg, class_="open", x=left, y=y, width=width, height=height))
        y += height + 8
        keys, lines = _legend(each.chart, y)
        parts.append(keys)
        y += LINE * lines + AFTER
    return element(
        "svg",
        element("title", title),
        element("style", Markup(sheet() + _LETTERS)),
        element("rect", width="100%", height="100%", rx=10, fill="var(--surface)"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(WIDTH)} {number(y)}",
        width=WIDTH,
        height=y,
        role="img",
    )


def _legend(chart: Chart, top: float) -> tuple[Markup, int]:
    """The keys in lines from ``top`` on, and how many lines they take."""
    placed = list(_placed([words for _, words in chart.legend]))
    keys = [
        element(
            "svg",
            sign,
            element("text", words, class_="key", x=SWATCH, y=10),
            class_="open",
            x=x,
            y=top + LINE * line,
        )
        for (sign, words), (x, line) in zip(chart.legend, placed, strict=True)
    ]
    return joined(keys), placed[-1][1] + 1 if placed else 0


def _placed(keys: Sequence[str]) -> Iterator[tuple[float, int]]:
    """Where each key begins, and in which line; one that does not fit any more begins the next."""
    x, line = MARGIN, 0
    for words in keys:
        width = SWATCH + LETTER * len(words)
        if x > MARGIN and x + width > WIDTH - MARGIN:
            x, line = MARGIN, line + 1
        yield x, line
        x += width + BETWEEN
