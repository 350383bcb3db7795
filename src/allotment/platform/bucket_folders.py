"""Folders of object stores that pages may lie in, by their text: ``s3://bucket/prefix``.

A team's volumes are read with the platform's credentials, so a volume may only lie in, or below, a folder
that the platform names under ``sources.buckets``. Nothing in such an address is ever interpreted: what is not
plain is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from allotment.documents.checking import Place, shown

ADDRESS: Final = re.compile(r"(?:s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]|file://)((?:/[^/]+)*)/?")
HINT: Final = "write s3://bucket/prefix"


def is_bucket_folder(text: str) -> bool:
    """Whether a text is meant for a folder of an object store."""
    return text.startswith(("s3://", "file://"))


def look_bucket_folder(text: str, place: Place) -> None:
    """Refuse what is no plain folder of an object store."""
    found = ADDRESS.fullmatch(text)
    if found is None or not text.isprintable() or not set("\\?#%@").isdisjoint(text) or text == "file://":
        place.refuse("bad-folder", f"`{shown(text)}` is no folder of an object store", HINT)
    if any(part.startswith(".") for part in found[1].split("/")):
        message = f"`{shown(text)}` has a part that begins with a dot"
        place.refuse("folder-escapes", message, HINT)


def is_allowed(address: str, folders: Iterable[str]) -> bool:
    """Whether an address that `look_bucket_folder` let pass is one of these folders, or lies in one."""
    below = f"{address.rstrip('/')}/"
    return any(below.startswith(f"{folder.rstrip('/')}/") for folder in folders)
