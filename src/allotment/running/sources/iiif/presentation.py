"""A manifest into the images of its pages, in the order in which the archive shows them.

Both versions say the same in other words: a manifest has canvases, a canvas has images painted on it. Version
2: ``sequences`` (the first counts), ``canvases``, ``images``, ``resource``. Version 3: ``items`` three deep,
and ``body``. Each painted image is a page; of a choice the first counts; a canvas without an image is a page
that cannot be read, so that pages keep the numbers of their canvases.
Everything else (ranges, annotations, thumbnails, sound) is for viewers and left out. Archives differ from the
text of the standard in many small ways, so what is not needed is not looked at.
Sources: IIIF Presentation API 2.1.1 and 3.0, Web Annotation Data Model (bodies, choices).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from allotment.running.sources.iiif.image_service import PublishedImage, image_service
from allotment.running.sources.iiif.values import (
    ManifestError,
    each,
    first_of,
    id_of,
    label_of,
    number_of,
    types_of,
)

MOST_PAGES = 100_000
MOST_NESTED = 4
PAINTING = "painting"

_NO_IMAGES = frozenset(
    {"Sound", "Video", "Text", "TextualBody", "ContentAsText", "Dataset", "Model", "Canvas"}
)


@dataclass(frozen=True, slots=True)
class Listing:
    """The images of a manifest's pages, those that are missing among them."""

    images: tuple[PublishedImage, ...]


def read_manifest(data: bytes) -> Listing:
    """The images that a manifest lists; raises `ManifestError`."""
    manifest = _json(data)
    if not isinstance(manifest, dict):
        raise ManifestError("it is JSON, and no manifest: a mapping is needed")
    if "Collection" in types_of(manifest):
        raise ManifestError(
            "it is a collection of manifests; name one of those that it lists for each volume"
        )
    images: list[PublishedImage] = []
    for canvas, where, bodies in _canvases(manifest):
        before = len(images)
        for body in bodies:
            images += _images(body, canvas, where)
            if len(images) > MOST_PAGES:
                raise ManifestError(f"it lists more than {MOST_PAGES:,} images")
        if len(images) == before:
            images.append(_nothing(canvas))
    return Listing(tuple(images))


Canvas = tuple[Mapping[str, Any], str, Iterator[object]]
"""A canvas, where it stands, and what is painted on it."""


def _json(data: bytes) -> object:
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ManifestError("it is no manifest: it is not text in UTF-8") from None
    except json.JSONDecodeError as error:
        page = data.lstrip()[:1] == b"<"
        what = "it is a web page or XML" if page else f"{error.msg} in line {error.lineno}"
        raise ManifestError(f"it is no JSON: {what}") from None
    except (ValueError, RecursionError):
        raise ManifestError("it is no JSON that can be read: too deep, or a number too long") from None


def _canvases(manifest: Mapping[str, Any]) -> Iterator[Canvas]:
    if "sequences" in manifest:
        return _canvases_of_2(manifest)
    if "items" in manifest:
        return _canvases_of_3(manifest)
    raise ManifestError(
        "it is no manifest: it has neither `sequences` (IIIF Presentation 2) nor `items` (version 3)"
    )


def _canvases_of_2(manifest: Mapping[str, Any]) -> Iterator[Canvas]:
    sequence = next(iter(each(manifest["sequences"])), None)
    canvases = _mapping(sequence or {}, "sequences[0]").get("canvases")
    for canvas, where in _mappings(canvases, "sequences[0].canvases"):
        yield canvas, where, _painted(_mappings(canvas.get("images"), f"{where}.images"), "resource")


def _canvases_of_3(manifest: Mapping[str, Any]) -> Iterator[Canvas]:
    for canvas, where in _mappings(manifest["items"], "items"):
        if types_of(canvas) <= {"Canvas"}:
            pages = _mappings(canvas.get("items"), f"{where}.items")
            annotations = (
                annotation
                for page, place in pages
                for annotation in _mappings(page.get("items"), f"{place}.items")
            )
            yield canvas, where, _painted(annotations, "body")


def _painted(annotations: Iterator[tuple[Mapping[str, Any], str]], key: str) -> Iterator[object]:
    """What is painted by annotations, and not said about the canvas in another way."""
    for annotation, where in annotations:
        motivations = [word for word in each(annotation.get("motivation")) if isinstance(word, str)]
        if not motivations or any(word.rpartition(":")[2] == PAINTING for word in motivations):
            if annotation.get(key) is None:
                raise ManifestError(f"`{where}` has no `{key}`")
            yield from each(annotation[key])


def _images(
    body: object, canvas: Mapping[str, Any], where: str, nested: int = MOST_NESTED
) -> Iterator[PublishedImage]:
    """The image that a body is, or stands for."""
    if isinstance(body, str):
        body = {"id": body}
    if not isinstance(body, Mapping) or not nested:
        raise ManifestError(f"`{where}` has an image that cannot be read")
    kinds = types_of(body)
    if "Choice" in kinds:
        chosen = next(iter(each(first_of(body, "default", "items", "item"))), None)
        yield from _images(chosen, canvas, where, nested - 1)
    elif "SpecificResource" in kinds:
        yield from _images(first_of(body, "source", "full"), canvas, where, nested - 1)
    elif kinds.isdisjoint(_NO_IMAGES):
        yield _image(body, canvas, where)


def _image(body: Mapping[str, Any], canvas: Mapping[str, Any], where: str) -> PublishedImage:
    address, service = id_of(body), image_service(body.get("service"))
    if address is None and service is None:
        raise ManifestError(f"`{where}` has an image without an address")
    width, height = _size(body, canvas)
    media_type = body.get("format")
    return PublishedImage(
        address,
        media_type.lower() if isinstance(media_type, str) else "",
        width,
        height,
        service,
        label_of(canvas.get("label")),
        id_of(canvas) or "",
    )


def _nothing(canvas: Mapping[str, Any]) -> PublishedImage:
    """The page that a canvas without an image stands for."""
    label, name = label_of(canvas.get("label")), id_of(canvas) or ""
    return PublishedImage(None, label=label, canvas=name, missing="its canvas has no image")


def _size(body: Mapping[str, Any], canvas: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """The larger of an image's size and its canvas's: an image may be published smaller than it is."""
    sizes = [(number_of(one.get("width")), number_of(one.get("height"))) for one in (body, canvas)]
    return max(sizes, key=lambda size: (size[0] or 0) * (size[1] or 0))


def _mappings(value: object, where: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    for place, item in enumerate(each(value)):
        yield _mapping(item, f"{where}[{place}]"), f"{where}[{place}]"


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ManifestError(f"`{where}` is no mapping")
    return value
