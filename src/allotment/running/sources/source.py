"""What a source of pages is: a list that is known at once, and bytes that are fetched when wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from allotment.buckets.opening import NO_OPTIONS, Options
from allotment.running.assignment import Network
from allotment.running.endings import PermanentFailureError

NO_NETWORK = Network()


@dataclass(frozen=True, slots=True)
class PageRef:
    """One page before it is fetched: its place in the volume, the name of its source, the file's size.

    The size is None where only fetching tells it. ``label`` is what the archive calls the page, if anything,
    and ``canvas`` the address under which it shows it.
    """

    number: int
    name: str
    source: str
    size: int | None
    label: str = ""
    canvas: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page's bytes, what they are, and their digest.

    ``size`` is the source's, where the page's own bytes were made of it, and ``etag`` the name that a server
    has for this version of it.
    """

    data: bytes = field(repr=False)
    media_type: str
    sha256: str
    size: int | None = None
    etag: str = ""


class Source(Protocol):
    """The pages of one volume. `fetch` may be called from several threads at once."""

    @property
    def pages(self) -> Sequence[PageRef]:
        """Every page, in order, numbered from 1."""

    @property
    def at_once(self) -> int:
        """How many pages it is worth to fetch at once."""

    def fetch(self, page: PageRef) -> Fetched:
        """The page's bytes; raises `PageRefused` for good, anything else for now."""

    def digest(self, page: PageRef) -> str:
        """The digest of what the page was to be made of, when it could not be fetched."""


class NotNowError(Exception):
    """A page cannot be fetched now, for a reason that is no fault of ours; the message is for a person."""


def open_source(
    source: Mapping[str, Any],
    root: Path,
    *,
    max_pixels: int,
    network: Network = NO_NETWORK,
    bucket_options: Options = NO_OPTIONS,
) -> Source:
    """The source that an assignment names as ``{kind: where}``.

    Raises `PermanentFailureError` when it can never be opened, `VolumeFailedError` when it cannot be now.
    """
    where = source.get(next(iter(source), ""))
    kind = next(iter(source)) if len(source) == 1 else ""
    if kind == "folder" and isinstance(where, str):
        from allotment.running.sources.folder import open_folder

        return open_folder(root, where, max_pixels=max_pixels)
    if kind == "prefix" and isinstance(where, str):
        from allotment.running.sources.prefix import open_prefix

        return open_prefix(where, root, network, max_pixels=max_pixels, options=bucket_options)
    if kind == "manifest" and isinstance(where, str):
        from allotment.running.sources.web_pages import client_for, open_manifest

        return open_manifest(where, client_for(network), network, max_pixels=max_pixels)
    if kind == "images" and isinstance(where, list | tuple) and where and all(map(_is_text, where)):
        from allotment.running.sources.web_pages import client_for, open_images

        return open_images(where, client_for(network), network, max_pixels=max_pixels)
    kinds = ", ".join(sorted(source)) or "nothing"
    raise PermanentFailureError(
        "source-unknown",
        f"pages come from one `folder`, `prefix`, `manifest` or `images`, and the volume names {kinds}",
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str)
