"""Pages from the web: the images of a IIIF manifest, or of a list of addresses.

What a volume's pages are is known when it is opened, and so is which of them may be asked for: a page on a
host that the platform does not name is refused, and a volume that has no other is refused as a whole. The
bytes are fetched when they are wanted. A page is known by its address, without what could be a secret in it,
so that an archive that lists other pages than before is noticed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from allotment.devices.ledger import default_folder
from allotment.running.assignment import Network
from allotment.running.endings import UNREACHABLE, PermanentFailureError, VolumeFailedError
from allotment.running.page import PageRefused, page_name
from allotment.running.sources.iiif.image_service import PublishedImage, image_address
from allotment.running.sources.iiif.presentation import read_manifest
from allotment.running.sources.iiif.values import ManifestError
from allotment.running.sources.received import received_page
from allotment.running.sources.source import Fetched, PageRef
from allotment.running.sources.web.addresses import Address, masked, shown
from allotment.running.sources.web.client import Client, Found, World
from allotment.running.sources.web.errors import MISSING, UNREADABLE, UnreachableError, WebRefusedError

MOST_FETCHERS: Final = 16
LONGEST_CANVAS: Final = 1000
FOR_MANIFESTS: Final = {
    "Accept": "application/ld+json, application/json;q=0.9, */*;q=0.1",
    "Accept-Encoding": "gzip",
}
FOR_IMAGES: Final = {"Accept": "image/*, */*;q=0.5", "Accept-Encoding": "identity"}


@dataclass(frozen=True)
class WebSource:
    """The pages of a volume that are on the web."""

    pages: Sequence[PageRef]
    max_pixels: int
    network: Network
    _client: Client = field(repr=False)
    _addresses: Sequence[Address | PageRefused] = field(repr=False)
    _refused: dict[int, str] = field(repr=False, default_factory=dict)
    at_once: int = MOST_FETCHERS

    def fetch(self, page: PageRef) -> Fetched:
        """The page's bytes; a page of a TIFF or a PDF comes as PNG."""
        address = self._addresses[page.number - 1]
        if isinstance(address, PageRefused):
            self._refused[page.number] = address.reason
            raise PageRefused(address.reason)
        try:
            found = self._client.get(address.url, most_bytes=self.network.image_bytes, headers=FOR_IMAGES)
        except WebRefusedError as error:
            self._refused[page.number] = error.message
            raise PageRefused(error.message) from None
        try:
            data, media_type = received_page(found.data, found.media_type, self.max_pixels)
        except PageRefused as refused:
            self._refused[page.number] = hashlib.sha256(found.data).hexdigest()
            raise PageRefused(f"{shown(address.url)}: {refused.reason}") from refused
        digest = hashlib.sha256(data).hexdigest()
        return Fetched(data, media_type, digest, size=len(found.data), etag=found.etag)

    def digest(self, page: PageRef) -> str:
        """The digest of what came instead of the page, or of the words in which it was refused."""
        return hashlib.sha256(self._refused.get(page.number, "").encode()).hexdigest()


@cache
def client_for(network: Network) -> Client:
    """This process's client, so that a pack of volumes shares its connections, and all of this machine's
    workers its manners."""
    return Client(network, World(shared=default_folder(os.environ)))


def open_images(addresses: Sequence[str], client: Client, network: Network, *, max_pixels: int) -> WebSource:
    """The pages of a list of addresses; raises `PermanentFailureError` when they may not be asked for."""
    listed = [PublishedImage(address) for address in addresses]
    return _source(listed, None, client, network, max_pixels)


def open_manifest(url: str, client: Client, network: Network, *, max_pixels: int) -> WebSource:
    """The pages of a manifest; raises `PermanentFailureError` for good, `VolumeFailedError` for now."""
    found = _manifest(url, client, network)
    try:
        listing = read_manifest(found.data)
    except ManifestError as error:
        raise PermanentFailureError(
            UNREADABLE, f"the manifest {shown(url)} cannot be read: {error}"
        ) from None
    if all(image.missing for image in listing.images):
        message = f"the manifest {shown(url)} has no pages: it has no canvas with an image"
        raise PermanentFailureError("source-empty", message)
    return _source(listing.images, found.address, client, network, max_pixels)


def _manifest(url: str, client: Client, network: Network) -> Found:
    try:
        return client.get(url, most_bytes=network.manifest_bytes, headers=FOR_MANIFESTS)
    except WebRefusedError as error:
        raise PermanentFailureError(
            error.reason, f"the manifest cannot be fetched: {error.message}"
        ) from None
    except UnreachableError as error:
        raise VolumeFailedError(UNREACHABLE, f"the manifest cannot be fetched now: {error.message}") from None


def _source(
    images: Sequence[PublishedImage], base: str | None, client: Client, network: Network, max_pixels: int
) -> WebSource:
    """The pages that these images are; those that may not be asked for are refused when their turn comes."""
    refs: list[PageRef] = []
    addresses: list[Address | PageRefused] = []
    refused: list[WebRefusedError] = []
    for number, image in enumerate(images, 1):
        url = image_address(image, max_pixels) or ""
        canvas = masked(image.canvas)[:LONGEST_CANVAS]
        try:
            address = _admitted(image, url, base, client)
            shown_as = masked(address.url)
            addresses.append(address)
        except WebRefusedError as error:
            refused.append(error)
            shown_as = shown(url) if url else canvas or f"canvas {number}"
            addresses.append(PageRefused(error.message))
        refs.append(PageRef(number, page_name(number), shown_as, None, image.label, canvas))
    forbidden = [error for error in refused if error.reason != MISSING]
    if len(refused) == len(images):
        others = f" (and {len(refused) - 1:,} more)" if len(refused) > 1 else ""
        raise PermanentFailureError(forbidden[0].reason, f"{forbidden[0].message}{others}")
    return WebSource(tuple(refs), max_pixels, network, client, tuple(addresses))


def _admitted(image: PublishedImage, url: str, base: str | None, client: Client) -> Address:
    if image.missing:
        raise WebRefusedError(MISSING, image.missing)
    return client.admitted(url, base)
