"""A stream of YAML cut into its documents, so that what is not edited is given back byte for byte.

A line that begins with ``---`` begins a document wherever it stands, block texts included, and one that
begins with ``...`` ends one (YAML 1.2, 9.1.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from allotment.kubernetes.convert.draft import split_lines

_BEGINS: Final = re.compile(r"---(?=\s|$)")
_ENDS: Final = re.compile(r"\.\.\.(?=\s|$)")
_DIRECTIVE: Final = "%"


class Piece(NamedTuple):
    """The text of a document with the line that begins it, and the number of its first line, from 0."""

    text: str
    line: int

    @property
    def is_marked(self) -> bool:
        """Whether it begins with the sign of a document."""
        return _BEGINS.match(self.text) is not None

    @property
    def has_directives(self) -> bool:
        """Whether directives stand before it, so that nothing can be put before them."""
        return any(line.startswith(_DIRECTIVE) for line in split_lines(self.text.partition("---")[0]))


def pieces(text: str) -> Iterator[Piece]:
    """The documents of a stream; their texts together are the stream."""
    held: list[str] = []
    begins = 0
    for number, line in enumerate(split_lines(text)):
        is_end = bool(held) and _ENDS.match(held[-1]) is not None
        if held and (is_end or (_BEGINS.match(line) and not _is_preface(held))):
            yield Piece("".join(held), begins)
            held, begins = [], number
        held.append(line)
    if held:
        yield Piece("".join(held), begins)


def _is_preface(lines: list[str]) -> bool:
    """Whether these are directives, which belong to the document that the next sign begins."""
    said = [line for line in lines if line.strip() and not line.startswith("#")]
    return bool(said) and all(line.startswith(_DIRECTIVE) for line in said)
