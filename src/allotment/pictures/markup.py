"""Elements of HTML and SVG as text, in which nothing from outside can become markup.

``Markup`` is text that is markup already; every other text is escaped where it is put in, for content and
for attributes alike, and signs that XML does not allow are replaced. Attributes keep the order in which they
are given, and numbers are short and always written the same way, so that the same picture is the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Final

FORBIDDEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]"
)
"""Signs that XML does not allow, and those that would turn the direction of the text around them."""
VOID: Final = frozenset({"meta", "br", "hr"})

Attribute = str | float | bool | None


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def said(text: str) -> Markup:
    """Any text as content or as the value of an attribute."""
    if isinstance(text, Markup):
        return text
    return Markup(escape(FORBIDDEN.sub("\ufffd", text)))


def number(value: float, places: int = 2) -> str:
    """A number as short as it can be."""
    text = f"{value:.{places}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text


def percent(share: float) -> str:
    """A share of the width."""
    return number(share * 100) + "%"


def element(name: str, /, *children: str, **attributes: Attribute) -> Markup:
    """One element. ``class_`` and the like lose the last line, others become hyphens; None is left out."""
    begin = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{begin}/>")
    content = "".join(said(child) for child in children)
    return Markup(
        f"<{name}{begin}>{content}</{name}>" if content or name not in SHORT else f"<{name}{begin}/>"
    )


SHORT: Final = frozenset({"rect", "path", "line", "circle", "use"})
"""Elements of SVG that are closed where they begin."""


def joined(parts: Iterable[str], between: str = "") -> Markup:
    """Parts one after the other."""
    return Markup(said(between).join(said(part) for part in parts))


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = "viewBox" if key == "viewBox" else key.rstrip("_").replace("_", "-")
    if value is True:
        return f' {name}="{name}"'
    text = said(value) if isinstance(value, str) else number(value)
    return f' {name}="{text}"'
