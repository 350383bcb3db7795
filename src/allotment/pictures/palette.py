"""Colours that stay apart for every kind of sight, in light and in dark, and a pattern beside each.

Eight colours were searched for near familiar ones such that, under normal sight and as people with protan,
deutan and tritan sight see them (Machado, Oliveira and Fernandes, 2009), no two of them are near, and such
that each stands out from the page by 3 to 1 at least (WCAG 2.2, 1.4.11). A colour never speaks alone: each
has a pattern of its own, and lines have a dash of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from allotment.pictures.markup import Markup, element, joined

LIGHT: Final = ("#4559ae", "#c6831d", "#5f8b66", "#ac266b", "#906902", "#431983", "#0194fd", "#682e1e")
DARK: Final = ("#6199de", "#e1a132", "#14d4b4", "#ef4e91", "#f0dc73", "#8064d5", "#b6efe3", "#ac763c")
MANY: Final = len(LIGHT)
REST: Final = MANY
"""The paint of everything that has none of its own."""

_SIZE: Final = 8
_HATCHES: Final = (
    "",
    "M-2 2L2 -2M0 8L8 0M6 10L10 6",
    "M2 1.5v1.6M6 5.5v1.6",
    "M0 2H8M0 6H8",
    "M-2 6L2 10M0 0L8 8M6 -2L10 2",
    "M2 0V8M6 0V8",
    "M0 8L8 0M0 0L8 8",
    "M0 4H8M4 0V8",
    "",
)

THEMES: Final[dict[str, dict[str, str]]] = {
    "light": {
        "page": "#f6f7f9",
        "surface": "#ffffff",
        "ink": "#161a20",
        "soft": "#545d6b",
        "line": "#d5dae1",
        "accent": "#3246a8",
        "tint": "#e6eaf7",
        "alarm": "#b3261e",
        "good": "#1b6b42",
        "rest": "#8a93a1",
    },
    "dark": {
        "page": "#0e1116",
        "surface": "#161b22",
        "ink": "#e8ebf0",
        "soft": "#a3adba",
        "line": "#303844",
        "accent": "#8fb4f5",
        "tint": "#1e2a40",
        "alarm": "#ff8a7e",
        "good": "#6fd39b",
        "rest": "#6f7988",
    },
}


def variables(theme: str) -> str:
    """The colours of a theme as CSS variables."""
    marks = {"light": LIGHT, "dark": DARK}[theme]
    numbered = {f"w{place}": colour for place, colour in enumerate((*marks, THEMES[theme]["rest"]))}
    return "".join(f"--{name}:{colour};" for name, colour in {**THEMES[theme], **numbered}.items())


def paint(place: int) -> int:
    """The paint of the ``place``-th thing: its own while there are some, then that of the rest."""
    return place if 0 <= place < MANY else REST


@dataclass(frozen=True, slots=True)
class Paints:
    """What each thing is painted with in the picture ``name``, by its place among them."""

    name: str
    places: Mapping[str, int]

    def of(self, thing: str) -> int:
        """The paint of a thing."""
        return paint(self.places.get(thing, REST))

    def fill(self, thing: str) -> str:
        """What the element of a thing is filled with."""
        return fill(self.name, self.of(thing))


def fill(name: str, place: int) -> str:
    """What an element is filled with, in the picture of that name."""
    return f"url(#{name}-p{paint(place)})"


def patterns(name: str, places: set[int]) -> Markup:
    """The definitions that ``fill`` refers to, of a picture's name."""
    return element(
        "defs", joined(_pattern(name, place) for place in sorted({paint(each) for each in places}))
    )


def _pattern(name: str, place: int) -> Markup:
    ground = element("rect", class_=f"f{place}", width=_SIZE, height=_SIZE)
    hatch = element("path", class_="hatch", d=_HATCHES[place]) if _HATCHES[place] else Markup()
    return element(
        "pattern",
        ground,
        hatch,
        id=f"{name}-p{place}",
        width=_SIZE,
        height=_SIZE,
        patternUnits="userSpaceOnUse",
    )
