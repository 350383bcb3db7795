"""A page that came from elsewhere: an image, of a kind and a size that are read, and one page.

A server may send anything under an image's address: a page that says that there is none, a book, a small file
that stands for a huge image. That is found out here, before a step gets it, by what the bytes are.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from allotment.running.images import (
    JPEG,
    OTHER_KINDS,
    PDF,
    PNG,
    SNIFFED_BYTES,
    TIFF,
    UNKNOWN,
    check_pixels,
    count_pages,
    media_type,
    read_page,
)
from allotment.running.page import PageRefused

TEXTS = ("a web page", "an XML file")


def received_page(data: bytes, called: str, max_pixels: int) -> tuple[bytes, str]:
    """The page's bytes and what they are; ``called`` is what the sender calls them. Raises `PageRefused`."""
    kind = media_type(data[:SNIFFED_BYTES])
    if kind in {TIFF, PDF}:
        return _single_page(data, kind, max_pixels)
    if kind in {PNG, JPEG}:
        check_pixels(data, max_pixels)
    elif not data:
        raise PageRefused("it is empty")
    else:
        _check_could_be_an_image(data, called)
    return data, kind


def _check_could_be_an_image(data: bytes, called: str) -> None:
    """Refuse what is no image; one of a kind that is not read here may be known to a step of the team's."""
    other = next((name for mark, name in OTHER_KINDS.items() if data.startswith(mark)), None)
    if other in TEXTS or (other is None and not called.lower().startswith(("image/", "application/octet"))):
        plain = "".join(character if character.isprintable() else "…" for character in called[:80])
        raise PageRefused(f"it is no image: {other or f'the server calls it `{plain or UNKNOWN}`'}")


def _single_page(data: bytes, kind: str, max_pixels: int) -> tuple[bytes, str]:
    with tempfile.NamedTemporaryFile(prefix="page-") as file:
        file.write(data)
        file.flush()
        path = Path(file.name)
        pages = count_pages(path)
        if pages > 1:
            raise PageRefused(f"it is {kind} of {pages} pages, and an address stands for one page")
        return read_page(path, 0, max_pixels)
