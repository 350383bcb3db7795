"""What is handed on of a page file, and the one refusal that each fault of a file gets."""

from __future__ import annotations

import contextlib
import io
import re
import struct
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from allotment.running.images import (
    JPEG,
    PNG,
    UNKNOWN,
    count_pages,
    media_type,
    open_image,
    read_page,
)
from allotment.running.page import PageRefused


def encoded(image: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, format=form, **options)
    return file.getvalue()


def page_with_text(size: tuple[int, int] = (60, 40)) -> Image.Image:
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).rectangle((0, 0, size[0] // 2, size[1] // 2), fill="black")
    return image


def pdf_of(*sizes: tuple[float, float]) -> bytes:
    document = pypdfium2.PdfDocument.new()
    for width, height in sizes:
        document.new_page(width, height)
    file = io.BytesIO()
    document.save(file)
    document.close()
    return file.getvalue()


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png_that_says(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


def refusal_of(data: bytes, max_pixels: int = 1_000_000) -> str:
    with pytest.raises(PageRefused) as refused:
        open_image(data, max_pixels)
    return refused.value.reason


# ---- files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "kind"), [("PNG", PNG), ("JPEG", JPEG)])
def test_a_file_of_one_page_is_handed_on_as_it_is(tmp_path: Path, form: str, kind: str) -> None:
    data = encoded(page_with_text(), form)
    path = tmp_path / "misleading-name.tif"
    path.write_bytes(data)
    assert count_pages(path) == 1
    assert read_page(path, 0) == (data, kind)


def test_frames_of_a_tiff_are_pages(tmp_path: Path) -> None:
    path = tmp_path / "book.tif"
    first, second, third = (Image.new("L", (10 + n, 20), 40 * n) for n in range(3))
    first.save(path, save_all=True, append_images=[second, third])
    assert count_pages(path) == 3
    pages = [read_page(path, index) for index in range(3)]
    assert {kind for _, kind in pages} == {PNG}
    assert [open_image(data).size for data, _ in pages] == [(10, 20), (11, 20), (12, 20)]
    assert [open_image(data).getpixel((0, 0)) for data, _ in pages] == [(0, 0, 0), (40, 40, 40), (80, 80, 80)]


def test_a_smaller_copy_or_a_mask_in_a_tiff_is_no_page(tmp_path: Path) -> None:
    path = tmp_path / "scanner.tif"
    frames = []
    for size, kind in (((20, 20), 0), ((5, 5), 1), ((21, 20), 2), ((20, 20), 4), ((22, 20), 0)):
        frame = Image.new("L", size, 200)
        frame.encoderinfo = {"tiffinfo": {254: kind}}
        frames.append(frame)
    frames[0].save(path, save_all=True, append_images=frames[1:], tiffinfo={254: 0})
    assert count_pages(path) == 3
    assert [open_image(read_page(path, index)[0]).size for index in range(3)] == [
        (20, 20),
        (21, 20),
        (22, 20),
    ]


def test_a_photograph_of_several_pictures_is_its_first(tmp_path: Path) -> None:
    data = encoded(page_with_text(), "MPO", save_all=True, append_images=[page_with_text((30, 20))])
    path = tmp_path / "phone.jpg"
    path.write_bytes(data)
    assert count_pages(path) == 1
    assert open_image(read_page(path, 0)[0]).size == (60, 40)


def test_pages_of_a_pdf_are_rendered_at_200_dots_per_inch(tmp_path: Path) -> None:
    path = tmp_path / "book.pdf"
    path.write_bytes(pdf_of((72, 144), (144, 72)))
    assert count_pages(path) == 2
    assert [open_image(read_page(path, index)[0]).size for index in range(2)] == [(200, 400), (400, 200)]


def test_a_large_pdf_page_is_rendered_within_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "map.pdf"
    path.write_bytes(pdf_of((7200, 3600)))
    width, height = open_image(read_page(path, 0, max_pixels=20_000)[0], 20_000).size
    assert 15_000 < width * height <= 20_000
    assert abs(width / height - 2) < 0.05


def test_an_equal_page_gives_equal_bytes(tmp_path: Path) -> None:
    path = tmp_path / "page.tif"
    page_with_text().save(path, software="a program", date_time="2020:01:01 00:00:00")
    again = tmp_path / "again.tif"
    page_with_text().save(again, software="another", date_time="2021:01:01 00:00:00")
    assert read_page(path, 0) == read_page(again, 0)


def test_a_file_of_another_kind_is_handed_on_untouched(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"no image at all")
    assert count_pages(path) == 1
    assert read_page(path, 0) == (b"no image at all", UNKNOWN)


def test_a_missing_file_is_the_disks_matter_and_not_the_pages(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        count_pages(tmp_path / "gone.tif")
    with pytest.raises(FileNotFoundError):
        read_page(tmp_path / "gone.pdf", 0)


def test_a_pdf_with_junk_before_its_beginning_is_a_pdf() -> None:
    assert media_type(b"\n\n  %PDF-1.4") == "application/pdf"


def test_pdfs_may_be_read_from_several_threads(tmp_path: Path) -> None:
    paths = []
    for number in range(4):
        path = tmp_path / f"{number}.pdf"
        path.write_bytes(pdf_of(*[(36 + number, 36)] * 5))
        paths.append(path)
    sizes: list[tuple[int, tuple[int, int]]] = []

    def read(number: int) -> None:
        for index in range(count_pages(paths[number])):
            sizes.append((number, open_image(read_page(paths[number], index)[0]).size))

    threads = [threading.Thread(target=read, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(sizes) == 20
    assert {size for number, size in sizes if number == 0} == {(100, 100)}


# ---- faults of files ---------------------------------------------------------------------------------------


FAULTY_FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "a TIFF cut short": (
        lambda: encoded(Image.new("L", (50, 50)), "TIFF")[:60],
        "cut short or damaged|damaged",
    ),
    "a TIFF that is only a beginning": (lambda: b"II*\x00", "damaged"),
    "a TIFF with too many pixels": (
        lambda: encoded(Image.new("1", (2000, 1000)), "TIFF", compression="group4"),
        r"2000 x 1000 = 2 megapixels; at most 1 are read",
    ),
    "a PDF cut short": (lambda: pdf_of((72, 72))[:20], "the PDF cannot be opened"),
    "a PDF without pages": (pdf_of, "without any page"),
    "a PDF that is a text": (lambda: b"%PDF-1.7 or so he says", "the PDF cannot be opened"),
}


@pytest.mark.parametrize("fault", FAULTY_FILES)
def test_a_faulty_file_is_one_page_and_refused_in_words(tmp_path: Path, fault: str) -> None:
    make, words = FAULTY_FILES[fault]
    path = tmp_path / "page"
    path.write_bytes(make())
    assert count_pages(path) == 1
    with pytest.raises(PageRefused, match=words):
        read_page(path, 0, max_pixels=1_000_000)


def test_a_pdf_with_a_password_says_so(tmp_path: Path) -> None:
    path = tmp_path / "locked.pdf"
    path.write_bytes(locked_pdf())
    assert count_pages(path) == 1
    with pytest.raises(PageRefused, match="locked with a password"):
        read_page(path, 0)


def test_a_pdf_with_an_absurd_number_of_pages_is_one_refused_page(tmp_path: Path) -> None:
    path = tmp_path / "endless.pdf"
    path.write_bytes(pdf_of((72, 72)).replace(b"/Count 1", b"/Count 9999999"))
    assert count_pages(path) == 1


def test_a_page_that_the_file_does_not_have_is_refused(tmp_path: Path) -> None:
    tiff, pdf = tmp_path / "a.tif", tmp_path / "a.pdf"
    tiff.write_bytes(encoded(page_with_text(), "TIFF"))
    pdf.write_bytes(pdf_of((72, 72)))
    for path in (tiff, pdf):
        with pytest.raises(PageRefused, match="page 8"):
            read_page(path, 7)


def locked_pdf() -> bytes:
    """The smallest PDF with an encryption dictionary that an empty password does not open."""
    body = [
        b"1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n",
        b"2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n",
        b"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>\nendobj\n",
        b"4 0 obj\n<</Filter/Standard/V 1/R 2/Length 40/P -4/O<"
        + b"41" * 32
        + b">/U<"
        + b"42" * 32
        + b">>>\nendobj\n",
    ]
    data, offsets = b"%PDF-1.4\n", []
    for item in body:
        offsets.append(len(data))
        data += item
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(data)
    data += b"xref\n0 5\n0000000000 65535 f \n" + table
    data += b"trailer\n<</Size 5/Root 1 0 R/Encrypt 4 0 R/ID[<00><00>]>>\nstartxref\n%d\n%%%%EOF\n" % start
    return data


# ---- pixels ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "colour", "expected"),
    [
        ("1", 0, (0, 0, 0)),
        ("1", 1, (255, 255, 255)),
        ("L", 100, (100, 100, 100)),
        ("LA", (100, 0), (255, 255, 255)),
        ("LA", (100, 255), (100, 100, 100)),
        ("RGB", (10, 20, 30), (10, 20, 30)),
        ("RGBA", (10, 20, 30, 0), (255, 255, 255)),
        ("RGBA", (10, 20, 30, 255), (10, 20, 30)),
        ("I;16", 0xFFFF, (255, 255, 255)),
        ("I;16", 0x8000, (128, 128, 128)),
    ],
)
def test_every_mode_of_a_png_becomes_rgb_on_white_paper(
    mode: str, colour: Any, expected: tuple[int, int, int]
) -> None:
    image = open_image(encoded(Image.new(mode, (4, 3), colour)))
    assert (image.mode, image.size) == ("RGB", (4, 3))
    assert image.getpixel((1, 1)) == pytest.approx(expected, abs=1)


def test_a_palette_with_transparency_lies_on_white_paper() -> None:
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 200, 100, 50])
    image.putdata([0, 1])
    opened = open_image(encoded(image, transparency=0))
    assert [opened.getpixel((x, 0)) for x in range(2)] == [(255, 255, 255), (200, 100, 50)]


@pytest.mark.parametrize(
    ("mode", "colour", "expected"),
    [
        ("CMYK", (0, 0, 0, 0), (255, 255, 255)),
        ("CMYK", (0, 0, 0, 255), (0, 0, 0)),
        ("I;16", 0x4000, (64, 64, 64)),
        ("1", 1, (255, 255, 255)),
        ("RGBA", (0, 0, 0, 0), (255, 255, 255)),
        ("LAB", (255, 128, 128), (255, 255, 255)),
    ],
)
def test_every_mode_of_a_tiff_becomes_rgb(
    tmp_path: Path, mode: str, colour: Any, expected: tuple[int, int, int]
) -> None:
    path = tmp_path / "page.tif"
    path.write_bytes(encoded(Image.new(mode, (4, 3), colour), "TIFF"))
    assert open_image(read_page(path, 0)[0]).getpixel((1, 1)) == pytest.approx(expected, abs=1)


def test_grey_values_as_fractions_are_spread_over_what_they_use(tmp_path: Path) -> None:
    image = Image.new("F", (2, 1))
    image.putdata([0.25, 0.75])
    path = tmp_path / "page.tif"
    path.write_bytes(encoded(image, "TIFF"))
    opened = open_image(read_page(path, 0)[0])
    assert [opened.getpixel((x, 0)) for x in range(2)] == [(0, 0, 0), (255, 255, 255)]


def test_grey_values_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "page.tif"
    path.write_bytes(encoded(Image.new("F", (2, 1), float("nan")), "TIFF"))
    with pytest.raises(PageRefused, match="not numbers"):
        read_page(path, 0)


def test_a_cmyk_jpeg_has_the_colours_of_its_paper() -> None:
    data = encoded(Image.new("CMYK", (16, 16), (0, 0, 0, 0)), "JPEG")
    assert open_image(data).getpixel((8, 8)) == (255, 255, 255)


@pytest.mark.parametrize("form", ["JPEG", "PNG", "TIFF"])
@pytest.mark.parametrize(
    ("orientation", "size"), [(1, (60, 40)), (3, (60, 40)), (6, (40, 60)), (8, (40, 60))]
)
def test_a_page_is_turned_as_its_orientation_says(
    tmp_path: Path, form: str, orientation: int, size: tuple[int, int]
) -> None:
    black_corner = {1: (2, 2), 3: (57, 37), 6: (37, 2), 8: (2, 57)}[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "page"
    path.write_bytes(encoded(page_with_text(), form, exif=exif))
    image = open_image(read_page(path, 0)[0])
    assert image.size == size
    red, _, _ = image.getpixel(black_corner)  # type: ignore[misc]
    assert red < 60


def test_broken_exif_is_left_out() -> None:
    data = encoded(page_with_text(), "JPEG", exif=b"Exif\x00\x00MM\x00*\xff\xff\xff\xff")
    assert open_image(data).size == (60, 40)


REFUSED_PIXELS: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "the file is empty"),
    "a text": (lambda: b"Dear sister", "not an image of a kind that is read here; PNG, JPEG, TIFF and PDF"),
    "a web page": (lambda: b"<!DOCTYPE html><p>404", "it is a web page, whatever its name says"),
    "a GIF": (lambda: encoded(Image.new("L", (3, 3)), "GIF"), "it is a GIF image"),
    "a PNG cut in its header": (lambda: encoded(page_with_text())[:20], "damaged"),
    "a PNG cut in its pixels": (lambda: encoded(Image.effect_noise((99, 99), 50))[:900], "damaged"),
    "a JPEG cut in its pixels": (lambda: encoded(page_with_text((400, 400)), "JPEG")[:900], "damaged"),
    "a JPEG cut in its header": (lambda: b"\xff\xd8\xff\xe0\x00", "cut short or damaged"),
    "a PNG with a wrong sum": (
        lambda: encoded(page_with_text()).replace(b"IHDR\x00\x00\x00\x3c", b"IHDR\x00\x00\x00\x3d"),
        "damaged",
    ),
    "a PNG without width": (lambda: png_that_says(0, 10), "damaged|no image"),
    "a PNG too large to be true": (lambda: png_that_says(2**31 - 1, 2**31 - 1), "megapixels; at most 1 are"),
    "a PNG over the limit": (lambda: png_that_says(1001, 1000), "1001 x 1000 = 1 megapixels; at most 1 are"),
    "pixels that inflate": (
        lambda: (
            b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", 10, 10, 8, 0, 0, 0, 0))
            + chunk(b"zTXt", b"Comment\x00\x00" + zlib.compress(b"\0" * 80_000_000))
            + chunk(b"IDAT", b"")
        ),
        "damaged",
    ),
}


@pytest.mark.parametrize("fault", REFUSED_PIXELS)
def test_what_is_no_readable_image_gets_one_refusal(fault: str) -> None:
    make, words = REFUSED_PIXELS[fault]
    reason = refusal_of(make())
    assert re.search(words, reason), reason
    assert "\n" not in reason


def test_the_limit_holds_at_its_edge() -> None:
    data = encoded(Image.new("1", (100, 50)))
    assert open_image(data, 5000).size == (100, 50)
    with pytest.raises(PageRefused):
        open_image(data, 4999)


def test_a_page_of_many_pixels_is_read_when_the_limit_allows_it() -> None:
    assert open_image(encoded(Image.new("1", (10_000, 9_100), 1)), 100_000_000).size == (10_000, 9_100)


def test_time_that_is_up_is_not_the_files_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    class OutOfTime(TimeoutError):
        pass

    def late(*_: object, **__: object) -> None:
        raise OutOfTime

    data = encoded(page_with_text())
    monkeypatch.setattr(Image.Image, "load", late)
    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", late)
    with pytest.raises(OutOfTime):
        open_image(data)


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_damage_anywhere_gives_pixels_or_one_refusal(data: st.DataObject, tmp_path_factory: Any) -> None:
    whole = data.draw(st.sampled_from(SAMPLES))
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 6))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(1, len(damaged)))
    path = tmp_path_factory.mktemp("damaged") / "page"
    path.write_bytes(bytes(damaged[:cut]))
    pages = count_pages(path)
    assert pages >= 1
    with contextlib.suppress(PageRefused):
        page, _ = read_page(path, pages - 1, max_pixels=100_000)
        assert open_image(page, 100_000).mode == "RGB"


SAMPLES = [
    encoded(page_with_text()),
    encoded(page_with_text().quantize(16), "PNG"),
    encoded(page_with_text(), "JPEG"),
    encoded(page_with_text(), "TIFF"),
    encoded(page_with_text(), "TIFF", compression="tiff_lzw"),
    encoded(page_with_text().convert("1"), "TIFF", compression="group4"),
    pdf_of((36, 36), (36, 36)),
]
