"""A value of ``--with`` read by the shape that the same value has in a file, and refused in its words.

What a file cannot say (a quota below nothing, a window of a million and one, a release that is none) no
column can have either.
"""

from __future__ import annotations

import re
from typing import Final, TypeVar

from allotment.documents import Document
from allotment.documents.checking import Check, RefusedError
from allotment.documents.shapes import Shape
from allotment.documents.source import Source

T = TypeVar("T")
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,9})?")


def plain(text: str) -> str | int | float:
    """A number in plain digits as a number; anything else as it is written."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text
    return float(text) if match[1] else int(text)


def read(shape: Shape[T], value: object, *keys: str) -> T:
    """The value by its shape; ``keys`` are those that lead to it in a file. ValueError says what is wrong.

    Of what is taken with a warning in a file too: a column would not be what its name says.
    """
    check = Check(Document(Source("--with", ""), value))
    place = check.root
    for key in keys:
        place = place / key
    try:
        found = shape.read(value, place)
    except RefusedError:
        raise ValueError(check.findings[0].message) from None
    if check.findings:
        raise ValueError(check.findings[0].message)
    return found
