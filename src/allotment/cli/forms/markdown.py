"""Text from outside in Markdown: shown as it is, and never read as marks, links, mentions or HTML.

What goes to a pull request is read by GitHub-flavoured Markdown (its specification, 0.29), in which every
character of ASCII punctuation may be escaped by a backslash; an entity keeps a mention from calling somebody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from allotment.cli.shared import safe

_MARKS: Final = re.compile(r"[\\`*_{}\[\]#!|~>$]|^[-+]")
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", "@": "&#64;", "://": "&#58;//", "www.": "www&#46;"}


def plain(text: str) -> str:
    """The text on one line, as it is."""
    marked = _MARKS.sub(lambda match: "\\" + match.group(0), safe(text))
    for what, entity in _ENTITIES.items():
        marked = marked.replace(what, entity)
    return marked


def rows(titles: Sequence[str], lines: Iterable[Sequence[str]], *, right: bool = True) -> list[str]:
    """A table, whose cells are escaped; all but the first column stand to the right."""
    rule = "|" + " --- |" + (" ---: |" if right else " --- |") * (len(titles) - 1)
    return [_row(titles), rule, *(_row(line) for line in lines)]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(plain(cell) for cell in cells) + " |"
