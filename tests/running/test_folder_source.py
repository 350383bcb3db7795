from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from allotment.running.endings import PermanentFailureError
from allotment.running.page import PageRefused
from allotment.running.sources.folder import FolderSource, SourceChangedError, natural_order, open_folder
from allotment.running.sources.source import open_source

LIMIT = 1_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "scans" / "v1"
    folder.mkdir(parents=True)
    return folder


def opened(folder: Path) -> FolderSource:
    return open_folder(folder.parent.parent, "scans/v1", max_pixels=LIMIT)


def image(kind: str, frames: int = 1) -> bytes:
    """An image file of so many frames."""
    file = io.BytesIO()
    pictures = [Image.new("L", (8, 8), 10 * number) for number in range(frames)]
    more = {"save_all": True, "append_images": pictures[1:]} if frames > 1 else {}
    pictures[0].save(file, kind, **more)
    return file.getvalue()


def test_pages_come_as_people_count_them(folder: Path) -> None:
    for name in ("p10.png", "p2.png", "P1.png", "a 3.png"):
        (folder / name).write_bytes(name.encode())
    pages = opened(folder).pages
    assert [(page.number, page.name, page.source) for page in pages] == [
        (1, "0001", "a 3.png"),
        (2, "0002", "P1.png"),
        (3, "0003", "p2.png"),
        (4, "0004", "p10.png"),
    ]
    assert pages[3].size == len("p10.png")


@given(st.lists(st.text(min_size=1, max_size=8), unique=True))
def test_the_order_is_one_order_whatever_comes_first(names: list[str]) -> None:
    backwards = names[::-1]
    assert sorted(names, key=natural_order) == sorted(backwards, key=natural_order)


@pytest.mark.parametrize("name", [".hidden", ".DS_Store", "Thumbs.db", "THUMBS.DB", "desktop.ini"])
def test_what_is_no_page_is_left_out(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"x")
    (folder / "below").mkdir()
    with pytest.raises(PermanentFailureError) as caught:
        opened(folder)
    assert caught.value.reason == "source-empty"
    (folder / "p1.png").write_bytes(b"x")
    assert [page.source for page in opened(folder).pages] == ["p1.png"]


def test_what_is_no_file_is_not_opened(folder: Path) -> None:
    os.mkfifo(folder / "p1.png")
    (folder / "p2.png").write_bytes(b"x")
    (folder / "p3.png").symlink_to(folder / "p1.png")
    assert [page.source for page in opened(folder).pages] == ["p2.png"]


def test_a_file_is_given_as_it_is(folder: Path) -> None:
    (folder / "p1.png").write_bytes(image("PNG"))
    (folder / "notes.txt").write_bytes(b"words")
    source = opened(folder)
    notes, page = (source.fetch(page) for page in source.pages)
    assert (page.data, page.media_type) == (image("PNG"), "image/png")
    assert notes.data == b"words"
    assert page.sha256 == hashlib.sha256(page.data).hexdigest()


def test_each_page_of_a_file_of_several_is_a_page(folder: Path) -> None:
    (folder / "a.tif").write_bytes(image("TIFF", 3))
    (folder / "b.tif").write_bytes(image("TIFF"))
    (folder / "c.jpg").write_bytes(image("TIFF", 2))
    source = opened(folder)
    assert [page.source for page in source.pages] == [
        "a.tif#1",
        "a.tif#2",
        "a.tif#3",
        "b.tif",
        "c.jpg#1",
        "c.jpg#2",
    ]
    third = source.fetch(source.pages[2])
    assert third.media_type == "image/png"
    with Image.open(io.BytesIO(third.data)) as read:
        assert read.getpixel((0, 0)) == 20


def test_a_file_of_several_that_is_damaged_is_one_page_that_is_refused(folder: Path) -> None:
    (folder / "book.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    source = opened(folder)
    assert [page.source for page in source.pages] == ["book.pdf#1"]
    with pytest.raises(PageRefused):
        source.fetch(source.pages[0])
    digest = hashlib.sha256(b"%PDF-1.7 and nothing else").hexdigest()
    assert source.digest(source.pages[0]) == digest


@pytest.mark.parametrize("becomes", ["longer", "a pipe", "a link"])
def test_a_file_that_became_another_is_not_read(folder: Path, becomes: str) -> None:
    path = folder / "p1.png"
    path.write_bytes(b"x")
    source = opened(folder)
    path.unlink()
    if becomes == "longer":
        path.write_bytes(b"xx")
    elif becomes == "a pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/etc/hostname")
    with pytest.raises(SourceChangedError, match=r"p1\.png"):
        source.fetch(source.pages[0])


def test_a_link_within_the_folder_is_a_page(folder: Path) -> None:
    (folder / "originals").mkdir()
    (folder / "originals" / "x.png").write_bytes(b"words")
    (folder / "p1.png").symlink_to("originals/x.png")
    source = opened(folder)
    assert source.fetch(source.pages[0]).data == b"words"


@pytest.mark.parametrize(
    ("target", "reason"),
    [("../outside.png", "source-outside"), ("/etc/hostname", "source-outside"), ("p1.png", "source-missing"),
     ("nothing", "source-missing")],
)  # fmt: skip
def test_a_link_that_leads_elsewhere_is_refused(folder: Path, target: str, reason: str) -> None:
    (folder.parent / "outside.png").write_bytes(b"secret")
    (folder / "p1.png").symlink_to(target)
    with pytest.raises(PermanentFailureError) as caught:
        opened(folder)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("scans/none", "source-missing"),
        ("scans/v1/p1.png", "source-missing"),
        ("..", "source-outside"),
        ("scans/../..", "source-outside"),
        ("link", "source-outside"),
        ("{absolute}", "source-outside"),
        ("scans/\0", "source-missing"),
    ],
)
def test_a_folder_that_leads_elsewhere_is_refused(folder: Path, name: str, reason: str) -> None:
    root = folder.parent.parent
    (folder / "p1.png").write_bytes(b"x")
    (root / "link").symlink_to("/etc")
    with pytest.raises(PermanentFailureError) as caught:
        open_folder(root, name.format(absolute=folder), max_pixels=LIMIT)
    assert caught.value.reason == reason


def test_a_name_that_is_no_text_is_shown_and_read(folder: Path) -> None:
    path = os.path.join(os.fsencode(folder), b"p\xff1.png")
    with open(path, "wb") as file:
        file.write(b"words")
    source = opened(folder)
    assert source.pages[0].source == "p\\xff1.png"
    assert source.fetch(source.pages[0]).data == b"words"


@pytest.mark.parametrize("source", [{}, {"folder": 3}, {"film": "x"}, {"folder": "a", "images": []}])
def test_sources_of_other_kinds_are_refused_in_words(tmp_path: Path, source: dict[str, object]) -> None:
    with pytest.raises(
        PermanentFailureError, match="pages come from one `folder`, `prefix`, `manifest` or `images`"
    ):
        open_source(source, tmp_path, max_pixels=LIMIT)
