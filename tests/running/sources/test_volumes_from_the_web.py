"""Volumes with pages on the web or in an object store: opened, fetched, recorded; or one clear reason."""

from __future__ import annotations

import hashlib
import io
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from allotment.buckets.memory import MemoryBucket
from allotment.running.assignment import Network
from allotment.running.endings import EXIT_FAILED, EXIT_PERMANENT, PermanentFailureError, VolumeFailedError
from allotment.running.engine.completed import read_completed
from allotment.running.page import Page, PageRefused
from allotment.running.sources.folder import SourceChangedError
from allotment.running.sources.prefix import open_prefix, pages_of
from allotment.running.sources.source import NotNowError, Source, open_source
from allotment.running.sources.web.client import Client
from allotment.running.sources.web_pages import open_images, open_manifest
from tests.running.sources.archive import Archive, Talk, answer, cut, gzipped, in_turn, redirect, silent
from tests.running.sources.conftest import SHORT, MakeClient
from tests.running.world import World

SHAPES = Path(__file__).parent / "shapes"
LIMIT = 1_000_000
PATIENCE = 20.0


def encoded(image: Image.Image, form: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, format=form, **options)
    return file.getvalue()


PAGE = Image.new("L", (40, 60), 200)
PNG, JPEG, TIFF = (encoded(PAGE, form) for form in ("PNG", "JPEG", "TIFF"))
PDF = encoded(PAGE, "PDF")
BOOK = encoded(PAGE, "TIFF", save_all=True, append_images=[PAGE, PAGE])
BOMB = encoded(Image.new("1", (30_000, 20_000)), "PNG")


def manifest_of(archive: Archive, *paths: str, label: str = "1r") -> bytes:
    """A manifest of version 3 that lists these images."""

    def canvas(path: str) -> Any:
        body = {"id": path if "://" in path else archive.url(path), "type": "Image"}
        page = {"type": "AnnotationPage", "items": [{"motivation": "painting", "body": body}]}
        return {"type": "Canvas", "label": {"none": [label]}, "items": [page]}

    return json.dumps({"type": "Manifest", "items": [canvas(path) for path in paths]}).encode()


@pytest.fixture
def opened(archive: Archive, client_of: MakeClient) -> Callable[..., Source]:
    """Opens the manifest at `/m` of the archive."""
    return lambda: open_manifest(archive.url("/m"), client_of(), SHORT, max_pixels=LIMIT)


@pytest.mark.parametrize(
    ("shape", "count"),
    [("national-library-2", 3), ("monastery-2", 4), ("museum-3", 2), ("state-archive-3", 2)],
)
def test_a_manifest_of_a_real_shape_is_read_to_the_end(
    archive: Archive, opened: Callable[..., Source], shape: str, count: int
) -> None:
    text = (SHAPES / f"{shape}.json").read_text()
    for base in ("https://archive.test", "http://archive.test"):
        text = text.replace(base, archive.host)
    archive.answers["/m"] = gzipped(text.encode())
    source = opened()
    for page in source.pages:
        path = page.source.removeprefix(archive.host)
        archive.answers[path] = answer(JPEG, media_type="image/jpeg", etag='"v1"')
    assert [page.number for page in source.pages] == list(range(1, count + 1))
    assert all(page.label and page.size is None for page in source.pages)
    for page in source.pages:
        if page.label == "3r (missing)":
            with pytest.raises(PageRefused, match="its canvas has no image"):
                source.fetch(page)
            continue
        fetched = source.fetch(page)
        assert (fetched.data, fetched.media_type, fetched.etag) == (JPEG, "image/jpeg", '"v1"')
        assert fetched.sha256 == hashlib.sha256(JPEG).hexdigest()


@pytest.mark.parametrize(
    ("behaviour", "reason", "words"),
    [
        (answer(status="404 Not Found"), "source-missing", "it is not there"),
        (answer(status="403 Forbidden"), "source-refused", "answers 403"),
        (answer(b"<html>", media_type="text/html"), "source-unreadable", "web page or XML"),
        (answer(b"{}"), "source-unreadable", "neither `sequences`"),
        (answer(b'{"items": []}'), "source-empty", "it has no canvas with an image"),
        (answer(b'{"items": [{"type": "Canvas"}]}'), "source-empty", "it has no canvas with an image"),
        (gzipped(b" " * 60_000_000), "source-too-large", "larger than"),
        (redirect("http://10.0.0.1/m"), "source-forbidden", "leads on to http://10.0.0.1/m: the platform"),
    ],
)
def test_a_manifest_that_can_never_be_read_fails_the_volume_for_good(
    archive: Archive, opened: Callable[..., Source], behaviour: Any, reason: str, words: str
) -> None:
    archive.answers["/m"] = behaviour
    with pytest.raises(PermanentFailureError) as failure:
        opened()
    assert failure.value.reason == reason
    assert words in failure.value.message
    assert archive.url("/m") in failure.value.message


@pytest.mark.parametrize("behaviour", [answer(status="502 Bad Gateway"), cut(b""), silent()])
def test_a_manifest_that_is_out_of_reach_fails_the_attempt(
    archive: Archive, opened: Callable[..., Source], behaviour: Any
) -> None:
    archive.answers["/m"] = behaviour
    with pytest.raises(VolumeFailedError) as failure:
        opened()
    assert not isinstance(failure.value, PermanentFailureError)
    assert failure.value.reason == "source-unreachable"


def test_pages_on_a_host_that_is_not_named_are_found_out_before_any_is_fetched(
    archive: Archive, opened: Callable[..., Source]
) -> None:
    forbidden = ["https://evil.example.org/1.jpg", "http://169.254.169.254/2"]
    archive.answers["/m"] = answer(manifest_of(archive, *forbidden))
    with pytest.raises(PermanentFailureError) as failure:
        opened()
    assert failure.value.reason == "source-forbidden"
    assert "pages come from `evil.example.org` (and 1 more)" in failure.value.message
    assert archive.paths() == ["/m"]


@pytest.mark.parametrize(
    ("data", "media_type", "kind"),
    [
        (PNG, "image/png", "image/png"),
        (JPEG, "text/html", "image/jpeg"),
        (TIFF, "image/tiff", "image/png"),
        (PDF, "application/pdf", "image/png"),
        (b"GIF89a...", "image/gif", "application/octet-stream"),
        (b"RIFF....WEBP", "image/webp", "application/octet-stream"),
    ],
)
def test_a_page_is_what_its_bytes_are(
    archive: Archive, client_of: MakeClient, data: bytes, media_type: str, kind: str
) -> None:
    archive.answers["/1"] = answer(data, media_type=media_type)
    source = open_images([archive.url("/1")], client_of(), SHORT, max_pixels=10 * LIMIT)
    fetched = source.fetch(source.pages[0])
    assert (fetched.media_type, fetched.size) == (kind, len(data))
    assert (fetched.data == data) is (kind == media_type or data in {JPEG} or kind.endswith("stream"))


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (answer(status="404 Not Found"), "it is not there"),
        (answer(b"<!DOCTYPE html>", media_type="image/jpeg"), "it is no image: a web page"),
        (
            answer(b"Please log in", media_type="text/plain"),
            "it is no image: the server calls it `text/plain`",
        ),
        (answer(b'{"error": 1}', media_type="application/json"), "the server calls it `application/json`"),
        (answer(b""), "it is empty"),
        (answer(PNG[:20]), "its image data is damaged"),
        (answer(BOMB), "it has 30000 x 20000 = 600 megapixels"),
        (answer(BOOK), "it is image/tiff of 3 pages"),
        (answer(b"x" * 20_001), "it is larger than 20000 bytes"),
        (redirect("http://10.0.0.1/1"), "the platform does not let pages come from"),
    ],
)
def test_a_page_that_can_never_be_one_is_refused(
    archive: Archive, client_of: MakeClient, behaviour: Any, words: str
) -> None:
    archive.answers["/1"] = behaviour
    network = replace(SHORT, image_bytes=200_000 if "pixels" in words else 20_000)
    source = open_images([archive.url("/1")], client_of(), network, max_pixels=LIMIT)
    digests = set()
    for _ in range(2):
        with pytest.raises(PageRefused) as refused:
            source.fetch(source.pages[0])
        assert words in refused.value.reason
        assert refused.value.reason.startswith(archive.url("/1"))
        digests.add(source.digest(source.pages[0]))
    assert len(digests) == 1, "the same refusal is known again"


@pytest.mark.parametrize("behaviour", [answer(status="503 Busy"), silent(), cut(b"")])
def test_a_page_that_is_out_of_reach_is_for_the_next_attempt(
    archive: Archive, client_of: MakeClient, behaviour: Any
) -> None:
    archive.answers["/1"] = behaviour
    source = open_images([archive.url("/1")], client_of(), SHORT, max_pixels=LIMIT)
    with pytest.raises(NotNowError) as error:
        source.fetch(source.pages[0])
    assert str(error.value).startswith(archive.url("/1"))


# ---- whole volumes -----------------------------------------------------------------------------------------


class WebWorld(World):
    """A world whose volumes come from the archive."""

    def at(self, archive: Archive, client: Client) -> WebWorld:
        self.archive, self.client = archive, client
        return self

    def around(self, **options: Any) -> Any:
        def opened(_source: Any) -> Source:
            return open_manifest(self.archive.url("/m"), self.client, SHORT, max_pixels=LIMIT)

        return replace(super().around(**options), open_source=opened)


@pytest.fixture
def world(archive: Archive, client_of: MakeClient) -> WebWorld:
    archive.answers["/m"] = answer(manifest_of(archive, "/1?token=hush", "/2", "/3"))
    for path in ("/1", "/2", "/3"):
        archive.answers[path] = answer(encoded(Image.new("L", (4, int(path[1:]))), "PNG"), etag=f'"{path}"')
    return WebWorld().at(archive, client_of())


def test_a_volume_from_a_manifest_is_recorded_with_what_it_was_made_of(
    archive: Archive, world: WebWorld
) -> None:
    assert world.run().code == 0
    first = json.loads(world.bucket.objects[world.keys().record("0001")])
    assert first["source"] == {
        "name": archive.url("/1?token=…"),
        "size": len(encoded(Image.new("L", (4, 1)), "PNG")),
        "sha256": hashlib.sha256(encoded(Image.new("L", (4, 1)), "PNG")).hexdigest(),
        "label": "1r",
    }
    assert first["measured"]["etag"] == '"/1"'
    assert "hush" not in json.dumps([data.decode("latin-1") for data in world.bucket.objects.values()])


def test_pages_keep_the_numbers_of_their_canvases_and_one_that_cannot_be_had_is_a_hole(
    archive: Archive, world: WebWorld
) -> None:
    manifest = json.loads(manifest_of(archive, "/1", "/2", "https://evil.example.org/3", "/3"))
    for number, canvas in enumerate(manifest["items"], 1):
        canvas["id"] = archive.url(f"/canvas/{number}?token=hush")
    del manifest["items"][1]["items"]
    archive.answers["/m"] = answer(json.dumps(manifest).encode())
    assert world.run().code == 0
    pages = world.manifest()["pages"]
    assert [page["page"] for page in pages if "failed" in page] == ["0002", "0003"]
    assert pages[3]["source"]["name"] == archive.url("/3")
    assert [page["source"]["canvas"] for page in pages] == [
        archive.url(f"/canvas/{number}?token=…") for number in (1, 2, 3, 4)
    ]
    record = json.loads(world.bucket.objects[world.keys().record("0004")])
    assert record["source"]["canvas"] == archive.url("/canvas/4?token=…")
    faults = read_completed(world.bucket, world.keys(), Path(), None).faults
    assert [(fault.page, fault.source) for fault in faults] == [
        ("0002", archive.url("/canvas/2?token=…")),
        ("0003", "https://evil.example.org/3"),
    ]
    assert faults[0].message == "its canvas has no image"
    assert "the platform does not let pages come from `evil.example.org`" in faults[1].message
    assert not any(path.startswith("/2") for path in archive.paths())


def test_what_is_done_is_not_fetched_again_and_bad_pages_do_not_hold_up_a_volume(
    archive: Archive, world: WebWorld
) -> None:
    good = archive.answers["/2"]
    archive.answers["/2"] = in_turn(*[answer(status="503 Busy")] * 2, good)
    archive.answers["/3"] = answer(status="410 Gone")
    world.limited(retries=3)
    assert world.run().code == EXIT_FAILED
    assert world.run().code == 0
    assert archive.paths().count("/1?token=hush") == 1
    manifest = world.manifest()
    assert manifest["counts"] == {"pages": 3, "done": 2, "failed": 1}
    assert manifest["pages"][2] == {
        "page": "0003",
        "source": {"name": archive.url("/3"), "label": "1r"},
        "failed": "refused",
    }


def test_a_slow_page_does_not_hold_up_the_others(
    archive: Archive, world: WebWorld, client_of: MakeClient
) -> None:
    others = threading.Event()

    def wait_for_others(talk: Talk) -> None:
        assert others.wait(PATIENCE)
        answer(PNG)(talk)

    def step(page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
        outputs = world.copy(page, earlier)
        if len(world.done) == 2:
            others.set()
        return outputs

    archive.answers["/1"] = wait_for_others
    world.client = client_of(read_seconds=PATIENCE, whole_seconds=PATIENCE)
    world.limited(look_ahead=3)
    assert world.run(step=step).code == 0
    assert (sorted(world.done[:2]), world.done[2]) == (["0002", "0003"], "0001")


def test_an_archive_that_lists_other_pages_than_before_is_noticed(archive: Archive, world: WebWorld) -> None:
    archive.answers["/3"] = answer(status="503 Busy")
    assert world.run().code == EXIT_FAILED
    archive.answers["/m"] = answer(manifest_of(archive, "/2", "/1", "/3"))
    outcome = world.run()
    assert (outcome.code, outcome.reason) == (EXIT_PERMANENT, "source-changed")


def test_an_output_that_was_lost_is_not_made_again_of_another_image(
    archive: Archive, world: WebWorld
) -> None:
    archive.answers["/3"] = answer(status="503 Busy")
    assert world.run().code == EXIT_FAILED
    lost = next(key for key in world.outputs() if "/0001." in key)
    del world.bucket.objects[lost]
    archive.answers["/1"] = answer(encoded(Image.new("L", (9, 9)), "PNG"))
    archive.answers["/3"] = archive.answers["/2"]
    outcome = world.run()
    assert (outcome.code, outcome.reason) == (EXIT_PERMANENT, "source-changed")
    assert "is not what it was made of any more" in outcome.message


def test_a_volume_whose_every_page_is_gone_fails_with_the_reason(archive: Archive, world: WebWorld) -> None:
    for path in ("/1", "/2", "/3"):
        archive.answers[path] = answer(status="404 Not Found")
    outcome = world.run()
    assert (outcome.code, outcome.reason) == (EXIT_PERMANENT, "all-pages-failed")
    assert "it is not there" in outcome.message


# ---- object stores -----------------------------------------------------------------------------------------


def store(**objects: bytes) -> MemoryBucket:
    return MemoryBucket({name.replace("__", "/"): data for name, data in objects.items()})


def test_the_objects_of_a_folder_are_pages_in_the_order_in_which_people_count() -> None:
    bucket = store(p10=PNG, p9=JPEG, other__p1=PNG)
    bucket.objects |= {".hidden": b"", "Thumbs.db": b"", "p11.tif": TIFF}
    source = pages_of(bucket, "s3://scans/a", SHORT, max_pixels=LIMIT)
    assert [(page.source, page.size) for page in source.pages] == [
        ("p9", len(JPEG)),
        ("p10", len(PNG)),
        ("p11.tif", len(TIFF)),
    ]
    assert [source.fetch(page).media_type for page in source.pages] == [
        "image/jpeg",
        "image/png",
        "image/png",
    ]


def test_an_object_that_is_no_page_is_refused() -> None:
    bucket = store(a=b"x" * 20_001, b=BOOK, c=b"<html>")
    source = pages_of(bucket, "s3://scans/a", SHORT, max_pixels=LIMIT)
    for page, words in zip(source.pages, ("larger than", "of 3 pages", "a web page"), strict=True):
        with pytest.raises(PageRefused, match=words):
            source.fetch(page)
        assert source.digest(page) == source.digest(page)


@pytest.mark.parametrize("now", [None, b"other"])
def test_an_object_that_was_changed_meanwhile_is_noticed(now: bytes | None) -> None:
    bucket = store(a=PNG)
    source = pages_of(bucket, "s3://scans/a", SHORT, max_pixels=LIMIT)
    bucket.objects = {} if now is None else {"a": now}
    with pytest.raises(SourceChangedError):
        source.fetch(source.pages[0])


def test_an_empty_folder_of_an_object_store_has_no_pages() -> None:
    with pytest.raises(PermanentFailureError, match="s3://scans/a has no object that could be a page"):
        pages_of(store(), "s3://scans/a", SHORT, max_pixels=LIMIT)


def test_only_folders_that_the_platform_names_are_read(tmp_path: Path) -> None:
    for folder in ("in", "inner"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1.png").write_bytes(PNG)
    network = replace(SHORT, buckets=(f"file://{tmp_path}/in",))
    source = open_source({"prefix": f"file://{tmp_path}/in"}, tmp_path, max_pixels=LIMIT, network=network)
    assert source.fetch(source.pages[0]).data == PNG
    with pytest.raises(PermanentFailureError) as failure:
        open_prefix(f"file://{tmp_path}/inner", tmp_path, network, max_pixels=LIMIT)
    assert failure.value.reason == "source-forbidden"


# ---- assignments -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"images": []},
        {"images": [1]},
        {"images": "https://a.se/1"},
        {"manifest": 7},
        {"folder": "a", "manifest": "https://a.se/m"},
        {"video": "https://a.se/v"},
    ],
)
def test_a_source_that_does_not_hold_together_is_refused(source: Any, tmp_path: Path) -> None:
    with pytest.raises(PermanentFailureError) as failure:
        open_source(source, tmp_path, max_pixels=LIMIT)
    assert failure.value.reason == "source-unknown"


@pytest.mark.parametrize("source", [{"manifest": "https://a.se/m"}, {"images": ["https://a.se/1"]}])
def test_a_worker_that_was_told_of_no_hosts_asks_none(source: Any, tmp_path: Path) -> None:
    with pytest.raises(PermanentFailureError) as failure:
        open_source(source, tmp_path, max_pixels=LIMIT, network=Network())
    assert failure.value.reason == "source-forbidden"
