"""Manifests as archives publish them, and broken ones: which images they list, or what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from allotment.running.sources.iiif.image_service import image_address
from allotment.running.sources.iiif.presentation import read_manifest
from allotment.running.sources.iiif.values import ManifestError

SHAPES = Path(__file__).parent / "shapes"
ARCHIVE = "https://archive.test"
LIMIT = 200_000_000


def listed(manifest: Any, limit: int = LIMIT) -> list[tuple[str, str]]:
    """Address and label of each page."""
    data = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    return [(image_address(image, limit) or "", image.label) for image in read_manifest(data).images]


@pytest.mark.parametrize(
    ("shape", "limit", "pages"),
    [
        (
            "national-library-2",
            LIMIT,
            [
                (f"{ARCHIVE}/iiif/ark:/99/bk1/f1/full/full/0/native.jpg", "plat supérieur"),
                (f"{ARCHIVE}/iiif/ark:/99/bk1/f2/full/full/0/native.jpg", "NP"),
                (f"{ARCHIVE}/iiif/ark:/99/bk1/f3/full/full/0/native.jpg", "1r"),
            ],
        ),
        (
            "national-library-2",
            600,
            [
                (f"{ARCHIVE}/iiif/ark:/99/bk1/f1/full/20,/0/native.jpg", "plat supérieur"),
                (f"{ARCHIVE}/iiif/ark:/99/bk1/f2/full/20,/0/native.jpg", "NP"),
                (f"{ARCHIVE}/iiif/ark:/99/bk1/f3/full/20,/0/native.jpg", "1r"),
            ],
        ),
        (
            "monastery-2",
            LIMIT,
            [
                (f"http://archive.test/loris/cod-4/cod-4_00{n}r.jp2/full/full/0/default.jpg", f"{n}r")
                if n != 3
                else ("", "3r (missing)")
                for n in (1, 2, 3, 4)
            ],
        ),
        (
            "museum-3",
            LIMIT,
            [
                (f"{ARCHIVE}/image/b100_0001.JP2/full/full/0/default.jpg", "-"),
                (f"{ARCHIVE}/image/b100_0002.JP2/full/full/0/default.jpg", "2"),
            ],
        ),
        (
            "state-archive-3",
            LIMIT,
            [(f"{ARCHIVE}/lb/arkis!K000{n}_00001/full/max/0/default.jpg", f"Bild {n}") for n in (1, 2)],
        ),
        (
            "state-archive-3",
            13_500_000,
            [(f"{ARCHIVE}/lb/arkis!K000{n}_00001/full/4500,/0/default.jpg", f"Bild {n}") for n in (1, 2)],
        ),
    ],
)
def test_archives_publish_their_pages_in_these_shapes(
    shape: str, limit: int, pages: list[tuple[str, str]]
) -> None:
    assert listed((SHAPES / f"{shape}.json").read_bytes(), limit) == pages


def version_2(*resources: Any, **canvas: Any) -> Any:
    """A manifest with one canvas that has these images."""
    images = [{"motivation": "sc:painting", "resource": resource} for resource in resources]
    return {"@type": "sc:Manifest", "sequences": [{"canvases": [{"images": images, **canvas}]}]}


def version_3(*bodies: Any, motivation: Any = "painting", **canvas: Any) -> Any:
    """A manifest with one canvas that has these images."""
    annotations = [{"type": "Annotation", "motivation": motivation, "body": body} for body in bodies]
    page = {"type": "AnnotationPage", "items": annotations}
    return {"type": "Manifest", "items": [{"type": "Canvas", "items": [page], **canvas}]}


def service(level: Any, version: int = 2, **more: Any) -> Any:
    """An image service of version 2 or 3."""
    if version == 3:
        return {"id": "https://a.se/i", "type": "ImageService3", "profile": f"level{level}", **more}
    profile = f"http://iiif.io/api/image/2/level{level}.json"
    context = "http://iiif.io/api/image/2/context.json"
    return {"@context": context, "@id": "https://a.se/i/", "profile": profile, **more}


JPG = "https://a.se/1.jpg"


@pytest.mark.parametrize(
    ("manifest", "addresses"),
    [
        (version_2({"@id": JPG}), [JPG]),
        (version_2({"@id": JPG}, {"@id": "https://a.se/detail.jpg"}), [JPG, "https://a.se/detail.jpg"]),
        (version_2({"@type": "oa:Choice", "item": [{"@id": JPG}, {"@id": "x"}]}), [JPG]),
        (version_2({"@type": "oa:SpecificResource", "full": {"@id": JPG}}), [JPG]),
        (version_2({"@id": "x", "@type": "cnt:ContentAsText"}), [""]),
        (version_3({"id": JPG, "type": "Image"}), [JPG]),
        (version_3(JPG), [JPG]),
        (version_3([{"id": JPG, "type": "Image"}, {"type": "TextualBody", "value": "a"}]), [JPG]),
        (version_3({"type": "Choice", "items": [{"id": JPG, "type": "Image"}, {"id": "x"}]}), [JPG]),
        (version_3({"type": "SpecificResource", "source": {"id": JPG, "type": "Image"}}), [JPG]),
        (version_3({"type": "SpecificResource", "source": JPG}), [JPG]),
        (version_3({"id": "https://a.se/1.mp4", "type": "Video"}), [""]),
        (version_3({"id": JPG}, motivation=["painting"]), [JPG]),
        (version_3({"id": JPG}, motivation="commenting"), [""]),
        (version_3({"@id": JPG, "@type": "Image"}), [JPG]),
        (version_2({"@id": JPG, "service": service(0)}), [JPG]),
        (version_2({"@id": JPG, "service": service(1)}), ["https://a.se/i/full/full/0/default.jpg"]),
        (version_2({"@id": JPG, "service": [service(2)]}), ["https://a.se/i/full/full/0/default.jpg"]),
        (version_2({"service": service(0)}), ["https://a.se/i/full/full/0/default.jpg"]),
        (
            version_2({"@id": "https://a.se/1.jp2", "service": service(0)}),
            ["https://a.se/i/full/full/0/default.jpg"],
        ),
        (
            version_2({"@id": "https://a.se/1", "format": "image/jp2", "service": service(0)}),
            ["https://a.se/i/full/full/0/default.jpg"],
        ),
        (version_3({"id": JPG, "service": service(0, 3)}), [JPG]),
        (
            version_3({"id": "https://a.se/i/info.json", "service": service(0, 3)}),
            ["https://a.se/i/full/max/0/default.jpg"],
        ),
        (
            version_2({"@id": "https://a.se/i/info.json", "service": service(2)}),
            ["https://a.se/i/full/full/0/default.jpg"],
        ),
        (version_3({"id": JPG, "service": [service(1, 3)]}), ["https://a.se/i/full/max/0/default.jpg"]),
        (
            version_3({"id": JPG, "service": [{"id": "https://a.se/i", "profile": "level1"}]}),
            ["https://a.se/i/full/max/0/default.jpg"],
        ),
        (
            version_3({"id": JPG, "service": service(2, 3, width=400, height=200, maxWidth=100)}),
            ["https://a.se/i/full/100,/0/default.jpg"],
        ),
        (
            version_3({"id": JPG, "service": service(2, 3, width=400, height=200, maxArea=20_000)}),
            ["https://a.se/i/full/200,/0/default.jpg"],
        ),
        (
            version_2({"@id": JPG, "service": service(2), "width": "30000", "height": 30000.0}),
            ["https://a.se/i/full/14142,/0/default.jpg"],
        ),
        (
            version_2({"@id": JPG, "service": service(2), "width": 10}, width=60_000, height=15_000),
            ["https://a.se/i/full/28284,/0/default.jpg"],
        ),
        (
            version_2({"@id": JPG, "service": {"@id": "https://a.se/s", "profile": "http://a.se/search"}}),
            [JPG],
        ),
    ],
)
def test_the_whole_image_is_asked_for_or_what_the_limit_leaves(manifest: Any, addresses: list[str]) -> None:
    assert [address for address, _ in listed(manifest)] == addresses


@pytest.mark.parametrize(
    ("label", "read"),
    [
        ("12 r", "12 r"),
        (["a", "b"], "a"),
        ({"@value": "12r", "@language": "sv"}, "12r"),
        ([{"@value": "12r"}], "12r"),
        ({"sv": ["blad 12"]}, "blad 12"),
        ({"sv": [], "en": ["leaf 12"]}, "leaf 12"),
        ("a\nb\x1b[31m", "a b [31m"),
        ("x" * 999, "x" * 200),
        (12, ""),
        (None, ""),
        ([[[[["deep"]]]]], ""),
    ],
)
def test_labels_are_one_short_line(label: Any, read: str) -> None:
    assert listed(version_2({"@id": JPG}, label=label)) == [(JPG, read)]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is no JSON: Expecting value in line 1"),
        (b"<!DOCTYPE html><html>", "it is no JSON: it is a web page or XML"),
        (b'{"sequences": [', "it is no JSON"),
        (b"\xff\xfe{}", "not text in UTF-8"),
        (b"[" * 100_000, "it is no JSON that can be read"),
        (b'{"items": ' + b"9" * 5000 + b"}", "it is no JSON that can be read"),
        (b"[]", "a mapping is needed"),
        (b'"text"', "a mapping is needed"),
        (b'{"error": "not found"}', "it has neither `sequences`"),
        (b'{"type": "Collection", "items": []}', "a collection of manifests"),
        (b'{"@type": "sc:Collection", "manifests": []}', "a collection of manifests"),
        (b'{"sequences": [7]}', "`sequences[0]` is no mapping"),
        (b'{"sequences": [{"canvases": [1]}]}', "`sequences[0].canvases[0]` is no mapping"),
        (b'{"items": ["c"]}', "`items[0]` is no mapping"),
        (b'{"items": [{"items": [{"items": [1]}]}]}', "`items[0].items[0].items[0]` is no mapping"),
        (b'{"items": [{"items": [{"items": [{}]}]}]}', "`items[0].items[0].items[0]` has no `body`"),
        (json.dumps(version_3({"type": "Image"})).encode(), "`items[0]` has an image without an address"),
        (json.dumps(version_3({"id": 7})).encode(), "`items[0]` has an image without an address"),
        (json.dumps(version_3(7)).encode(), "`items[0]` has an image that cannot be read"),
        (json.dumps(version_3({"type": "Choice"})).encode(), "`items[0]` has an image that cannot be read"),
    ],
)
def test_a_broken_manifest_is_one_clear_reason(data: bytes, words: str) -> None:
    with pytest.raises(ManifestError) as broken:
        listed(data)
    assert words in str(broken.value)


@pytest.mark.parametrize(
    "manifest", [{"sequences": []}, {"sequences": None}, {"items": []}, {"sequences": [{"canvases": []}]}]
)
def test_a_manifest_may_list_nothing(manifest: Any) -> None:
    assert listed(manifest) == []


def test_a_byte_order_mark_is_no_fault() -> None:
    assert listed(b"\xef\xbb\xbf" + json.dumps(version_2({"@id": JPG})).encode()) == [(JPG, "")]


def test_a_choice_within_itself_does_not_go_on_for_ever() -> None:
    body: Any = {"id": JPG}
    for _ in range(50):
        body = {"type": "Choice", "items": [body]}
    with pytest.raises(ManifestError):
        listed(version_3(body))
