"""A page that needs nothing but itself: no script, no network, one style, and a policy that allows no more.

It can be mailed, attached to a pull request, opened from a folder and printed. The policy names the style by
its digest, so that even markup that got in would load and run nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from allotment.pictures.chart import Chart, Table
from allotment.pictures.markup import Markup, element, joined, said
from allotment.pictures.style import sheet


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """One number at the top: what it is, the number with its unit, and a word about it."""

    label: str
    value: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: its heading, a sentence, what is in it; ``is_long`` may be cut between pages."""

    title: str
    parts: tuple[Markup, ...] = ()
    lead: str = ""
    kind: str = ""
    is_long: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """All of a page. ``kicker`` says of what kind it is, ``lead`` is the answer in a sentence."""

    title: str
    kicker: str = ""
    about: str = ""
    lead: str = ""
    figures: tuple[KeyFigure, ...] = ()
    sections: tuple[Section, ...] = ()
    foot: tuple[str, ...] = field(default=())


def page(value: Page) -> str:
    """The file's text."""
    style = sheet()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", value.title),
        element("style", Markup(style)),
    )
    main = element(
        "main",
        _header(value),
        _figures(value.figures) if value.figures else Markup(),
        *(_section(each) for each in value.sections),
        element("footer", *(element("p", each) for each in value.foot)) if value.foot else Markup(),
    )
    return f"<!DOCTYPE html>\n{element('html', head, element('body', main), lang='en')}\n"


def _header(value: Page) -> Markup:
    parts = [
        element("p", value.kicker, class_="kicker") if value.kicker else Markup(),
        element("h1", value.title),
        element("p", value.about) if value.about else Markup(),
        paragraph(value.lead, "lead") if value.lead else Markup(),
    ]
    return element("header", *parts)


def _figures(figures: Sequence[KeyFigure]) -> Markup:
    return element("dl", *(_figure(each) for each in figures), class_="figures")


def _figure(each: KeyFigure) -> Markup:
    detail = element("dd", each.detail, class_="detail") if each.detail else Markup()
    return element("div", element("dt", each.label), element("dd", each.value, class_="value"), detail)


def _section(each: Section) -> Markup:
    kind = " ".join(part for part in (each.kind, "long" if each.is_long else "") if part)
    lead = paragraph(each.lead) if each.lead else Markup()
    return element("section", element("h2", each.title), lead, *each.parts, class_=kind or None)


def figure(chart: Chart, caption: str = "") -> Markup:
    """A picture with its caption, its legend and its numbers."""
    parts = [
        element("figcaption", caption) if caption else Markup(),
        element("div", chart.svg, class_="rowed" if chart.is_rowed else None),
        legend(chart),
        *(element("p", note, class_="soft") for note in chart.notes),
        numbers(chart.table) if chart.table else Markup(),
    ]
    return element("figure", *parts)


def legend(chart: Chart) -> Markup:
    """What the signs of a picture mean."""
    if not chart.legend:
        return Markup()
    return element("ul", *(element("li", sign, words) for sign, words in chart.legend), class_="legend")


def numbers(table: Table, words: str = "The numbers") -> Markup:
    """A table that opens on demand."""
    rest = f"{table.left_out:,} more rows are left out." if table.left_out else ""
    after = element("p", rest, class_="soft") if rest else Markup()
    return element("details", element("summary", words), shown(table), after)


def shown(table: Table) -> Markup:
    """A table; the first cell of a row is its heading."""
    head = element(
        "tr", *(_cell("th", title, place, table, "col") for place, title in enumerate(table.titles))
    )
    rows = (
        element(
            "tr",
            *(
                _cell("td" if place else "th", cell, place, table, None if place else "row")
                for place, cell in enumerate(row)
            ),
        )
        for row in table.rows
    )
    kind = "many" if len(table.titles) > 4 else None
    inner = element("table", element("thead", head), element("tbody", *rows), class_=kind)
    return element("div", inner, class_="wide", tabindex="0", role="group", aria_label="table")


def _cell(name: str, content: str, place: int, table: Table, scope: str | None) -> Markup:
    return element(name, prose(content), class_="n" if place in table.right else None, scope=scope)


def items(lines: Sequence[str]) -> Markup:
    """A list of sentences."""
    return element("ul", *(element("li", prose(line)) for line in lines)) if lines else Markup()


def paragraph(text: str, kind: str = "") -> Markup:
    """A paragraph."""
    return element("p", prose(text), class_=kind or None)


def prose(text: str) -> Markup:
    """A sentence, in which what stands between backticks is code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return said(text)
    return joined(element("code", each) if place % 2 else each for place, each in enumerate(pieces))


def heading(text: str) -> Markup:
    """A heading within a section."""
    return element("h3", text)


def together(*parts: Markup) -> Markup:
    """Parts as one."""
    return joined(parts)
