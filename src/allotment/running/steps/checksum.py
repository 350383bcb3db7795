"""The step `checksum`: the SHA-256 of a page, for knowing later that a scan is still what it was.

One output, ``txt``, holds one line as ``sha256sum`` of GNU coreutils writes it: the digest, two spaces, the
page's source; a backslash in front says that the source has a backslash, line feed or carriage return in
it, written as ``\\\\``, ``\\n`` and ``\\r``. The digest is that of the file for PNG, JPEG and every other
kind that is one page, and of the page as delivered (PNG) where a TIFF or PDF holds several.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from allotment.running.steps import Page, Step, StepContext, StepSettingsError

ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r"})


def create(settings: Mapping[str, Any], _context: StepContext) -> Step:
    """The step; it has no settings."""
    read_settings(settings)
    return checksum


def read_settings(settings: Mapping[str, Any]) -> None:
    """Refuse any setting."""
    if settings:
        name = next(iter(settings))
        raise StepSettingsError(
            f"`checksum` has no setting `{name}`; it has none at all: leave `settings` out"
        )


def checksum(page: Page, _earlier: Mapping[str, bytes]) -> dict[str, bytes]:
    """The line for one page."""
    source = page.source.translate(ESCAPES)
    mark = "\\" if source != page.source else ""
    digest = hashlib.sha256(page.data).hexdigest()
    return {"txt": f"{mark}{digest}  {source}\n".encode(errors="surrogateescape")}
