"""One page: the unit of progress, of resume, and of what a reclaim costs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Page:
    """One page as a step gets it: its bytes, and where they come from.

    ``number`` counts from 1 within the volume and ``name`` is that number with at least four digits.
    ``source`` is the file's name, with ``#n`` for the n-th page of a file that holds several.
    """

    volume: str
    number: int
    name: str
    source: str
    data: bytes = field(repr=False)
    media_type: str = "application/octet-stream"


def page_name(number: int) -> str:
    """The name of a page by its number from 1: at least four digits, so that names sort as pages do."""
    return f"{number:04d}"


class PageRefused(Exception):  # noqa: N818 - a verdict on the page, not a fault of the program
    """This page cannot be done, however often it is tried: it cannot be decoded, it has too many pixels.

    Raised by a step or while the page is read. ``reason`` is one sentence for a person.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
