"""Asking an image service for a whole page: the largest image that there is within the limit of pixels.

A manifest gives an image's own address, and often a service that makes other sizes of it. The service is
asked where it can (compliance level 1 and above) for everything it has, or, where that is more pixels than
are allowed, for a width that keeps within. Level 0 promises fixed files only: there the published address
holds.
Sources: IIIF Image API 1.1, 2.1 and 3.0 (canonical form of requests, compliance levels, ``maxWidth``,
``maxHeight``, ``maxArea``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from allotment.running.sources.iiif.values import each, first_of, id_of, number_of, types_of

_LEVEL = re.compile(r"level([0-2])\b")
_VERSION = re.compile(r"(?:ImageService|image/|image-api/)([1-3])")
_WHOLE = re.compile(r"/full/(?:full|max)/0/\w+\.(?:jpe?g|png|tiff?)$", re.IGNORECASE)
_UNREAD = re.compile(r"\.(?:jp2|j2k|jpx|jpf|jpm|djvu?)$", re.IGNORECASE)
_UNREAD_FORMATS = frozenset({"image/jp2", "image/jpx", "image/jpm", "image/j2k", "image/vnd.djvu"})


@dataclass(frozen=True, slots=True)
class ImageService:
    """A service: its address, version and level, and the sizes that it knows; None where nothing is said."""

    address: str
    version: int
    level: int | None
    width: int | None = None
    height: int | None = None
    most_width: int | None = None
    most_height: int | None = None
    most_area: int | None = None

    def whole(self) -> str:
        """The address of everything that it has of the image."""
        return f"{self._base}/full/{'max' if self.version == 3 else 'full'}/0/{self._quality}.jpg"

    def wide(self, width: int) -> str:
        """The address of the whole image, so many pixels wide."""
        return f"{self._base}/full/{width},/0/{self._quality}.jpg"

    @property
    def _base(self) -> str:
        return self.address.rstrip("/")

    @property
    def _quality(self) -> str:
        return "native" if self.version == 1 else "default"


INFO = "/info.json"
"""The end of the address of a service's own description, which some manifests give for the image."""


@dataclass(frozen=True, slots=True)
class PublishedImage:
    """One image of a page as a manifest gives it; sizes are those of the image, or else of its canvas.

    ``canvas`` is the canvas's own address; ``missing`` says why there is nothing to ask for, if so.
    """

    address: str | None
    media_type: str = ""
    width: int | None = None
    height: int | None = None
    service: ImageService | None = None
    label: str = ""
    canvas: str = ""
    missing: str = ""


def image_address(image: PublishedImage, max_pixels: int) -> str | None:
    """The address to ask for the page; None when the image has none."""
    service, published = image.service, image.address
    if service is None:
        return published
    described = published is not None and published.endswith(INFO)
    readable = published is not None and not described and not _is_unread(image)
    if not service.level and readable:
        return published
    width = _width_within(image, service, max_pixels)
    if width is not None:
        return service.wide(width)
    return published if published is not None and readable and _WHOLE.search(published) else service.whole()


def image_service(value: object) -> ImageService | None:
    """The first image service among the services of an image, of which there may be others."""
    return next(_services(value), None)


def _services(value: object) -> Iterator[ImageService]:
    for service in each(value):
        if not isinstance(service, Mapping) or (address := id_of(service)) is None:
            continue
        profile = tuple(each(service.get("profile")))
        words = [word for word in (*each(service.get("@context")), *profile) if isinstance(word, str)]
        version = _version([*types_of(service), *words])
        if version is None:
            continue
        levels = [int(found[1]) for word in words if (found := _LEVEL.search(word))]
        limits = next((part for part in profile if isinstance(part, Mapping)), service)
        yield ImageService(
            address,
            version,
            max(levels, default=None),
            number_of(service.get("width")),
            number_of(service.get("height")),
            number_of(limits.get("maxWidth")),
            number_of(first_of(limits, "maxHeight", "maxWidth")),
            number_of(limits.get("maxArea")),
        )


def _version(words: list[Any]) -> int | None:
    """The version of an image service by its type, context and profile; None for another service."""
    for word in words:
        if (found := _VERSION.search(word)) is not None:
            return int(found[1])
    return 3 if any(word in {"level0", "level1", "level2"} for word in words) else None


def _is_unread(image: PublishedImage) -> bool:
    return image.media_type in _UNREAD_FORMATS or bool(_UNREAD.search(image.address or ""))


def _width_within(image: PublishedImage, service: ImageService, max_pixels: int) -> int | None:
    """The width to ask for where the whole image would be too large; else, or where nobody knows, None."""
    width, height = service.width or image.width, service.height or image.height
    if width is None or height is None:
        return None
    scale = min(
        1.0,
        math.sqrt(max_pixels / (width * height)),
        math.sqrt(service.most_area / (width * height)) if service.most_area else 1.0,
        service.most_width / width if service.most_width else 1.0,
        service.most_height / height if service.most_height else 1.0,
    )
    return None if scale >= 1.0 else max(1, math.floor(width * scale))
