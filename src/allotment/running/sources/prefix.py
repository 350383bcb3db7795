"""Pages from a folder of an object store: every object in it is a page, in the order of the folder of a disk.

It is read through the port that results are written through, with the same options and the worker's own
credentials; therefore only what lies in or below a folder that the platform names is read at all. An object
stands for one page: to learn how many pages a file holds it would have to be fetched before it is wanted.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from allotment.buckets.bucket import Bucket, KeyMissing
from allotment.buckets.once import PatientBucket
from allotment.buckets.opening import NO_OPTIONS, Options, open_bucket
from allotment.platform.bucket_folders import is_allowed
from allotment.running.assignment import Network
from allotment.running.endings import PermanentFailureError
from allotment.running.page import PageRefused, page_name
from allotment.running.sources.folder import SourceChangedError, could_be_a_page, natural_order
from allotment.running.sources.received import received_page
from allotment.running.sources.source import Fetched, PageRef
from allotment.running.sources.web.bodies import too_large
from allotment.running.sources.web.errors import FORBIDDEN

MOST_FETCHERS = 16


@dataclass(frozen=True)
class PrefixSource:
    """The pages of a folder of an object store, as they were when it was opened."""

    pages: Sequence[PageRef]
    max_pixels: int
    most_bytes: int
    _bucket: PatientBucket = field(repr=False)
    at_once: int = MOST_FETCHERS

    def fetch(self, page: PageRef) -> Fetched:
        """The page's bytes; a page of a TIFF or a PDF comes as PNG."""
        if page.size is not None and page.size > self.most_bytes:
            raise PageRefused(too_large(self.most_bytes).message)
        try:
            data = self._bucket.read(page.source)
        except KeyMissing:
            data = b""
        if len(data) != page.size:
            message = f"the object {page.source} was changed while the volume was being read"
            raise SourceChangedError(message) from None
        read, media_type = received_page(data, "image/*", self.max_pixels)
        return Fetched(read, media_type, hashlib.sha256(read).hexdigest())

    def digest(self, page: PageRef) -> str:
        """The digest of the object, or of its size where that is why it is not read."""
        if page.size is not None and page.size > self.most_bytes:
            return hashlib.sha256(f"{page.size} bytes".encode()).hexdigest()
        return hashlib.sha256(self._bucket.read(page.source)).hexdigest()


def open_prefix(
    prefix: str, root: Path, network: Network, *, max_pixels: int, options: Options = NO_OPTIONS
) -> PrefixSource:
    """The pages of a folder of an object store; raises `PermanentFailureError` when there can be none."""
    if not is_allowed(prefix, network.buckets):
        raise PermanentFailureError(
            FORBIDDEN, f"the platform does not let pages come from {prefix} (`sources.buckets`)"
        )
    return pages_of(
        open_bucket(prefix, root, create=False, options=options), prefix, network, max_pixels=max_pixels
    )


def pages_of(bucket: Bucket, shown: str, network: Network, *, max_pixels: int) -> PrefixSource:
    """The pages of a bucket's own objects, not of those in its folders."""
    patient = PatientBucket(bucket, sleep=time.sleep)
    sizes = {
        entry.key: entry.size
        for entry in patient.list("")
        if "/" not in entry.key and could_be_a_page(entry.key)
    }
    if not sizes:
        raise PermanentFailureError("source-empty", f"{shown} has no object that could be a page")
    pages = tuple(
        PageRef(number, page_name(number), key, sizes[key])
        for number, key in enumerate(sorted(sizes, key=natural_order), 1)
    )
    return PrefixSource(pages, max_pixels, network.image_bytes, patient)
