"""Page images: what kinds of file hold them, how many, and one page as bytes or as pixels.

A volume's files come from anybody: scanners, phones, the web. Every fault of a file ends as one
`PageRefused` in words for a person; trouble that is not the file's own (a disk that fails, too little
memory) keeps its own exception, because another attempt may succeed. Limits are checked against what a file
declares, before anything is decoded, so that a small file cannot ask for a large amount of memory.

PNG and JPEG files are handed on as they are; the pages of TIFF and PDF files become PNG. A file of another
kind is handed on untouched too (a step may know what to do with it) and refused when somebody wants its
pixels.

Sources: Pillow's handbook (`ImageFile`, decompression bombs), TIFF 6.0 (what frames are for), PDFium's
`fpdfview.h` (error codes, and that the library is not safe to use from several threads).
"""

from __future__ import annotations

import errno
import io
import itertools
import math
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from allotment.running.page import PageRefused
from allotment.running.pixels import DECODING_ERRORS, as_png, plain, upright

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 200_000_000
MAX_PAGES_OF_A_FILE = 20_000
PDF_DPI = 200
POINTS_PER_INCH = 72

NEW_SUBFILE_TYPE, SMALLER_COPY, MASK = 254, 1, 4  # TIFF 6.0

PNG = "image/png"
JPEG = "image/jpeg"
TIFF = "image/tiff"
PDF = "application/pdf"
UNKNOWN = "application/octet-stream"

BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": PNG,
    b"\xff\xd8\xff": JPEG,
    b"II*\x00": TIFF,
    b"MM\x00*": TIFF,
    b"II+\x00": TIFF,
    b"MM\x00+": TIFF,
    b"%PDF-": PDF,
}
OTHER_KINDS = {
    b"GIF8": "a GIF image",
    b"BM": "a BMP image",
    b"<!DO": "a web page",
    b"<htm": "a web page",
    b"<HTM": "a web page",
    b"<?xm": "an XML file",
    b"PK\x03\x04": "a ZIP file",
    b"\x1f\x8b": "a gzip file",
    b"\x00\x00\x00\x0cjP": "a JPEG 2000 image",
    b"8BPS": "a Photoshop file",
}
READABLE = "PNG, JPEG, TIFF and PDF are read"
DECODERS = ("PNG", "JPEG", "TIFF")
SNIFFED_BYTES = 1024

PDF_FAULTS = {  # by PDFium's error code
    4: "the PDF is locked with a password; save a copy without one",
    5: "the PDF is locked in a way that is not understood here; save a copy that is not",
}

DISK_ERRORS = {
    errno.EIO,
    errno.ENOMEM,
    errno.ESTALE,
    errno.ENOENT,
    errno.EACCES,
    errno.ETIMEDOUT,
    errno.EBADF,
}

_pdfium = threading.Lock()


def media_type(beginning: bytes) -> str:
    """What a file is, from its first bytes; a file's name says nothing."""
    for mark, kind in BEGINNINGS.items():
        if beginning.startswith(mark):
            return kind
    return PDF if b"%PDF-" in beginning[:SNIFFED_BYTES] else UNKNOWN


def count_pages(path: Path) -> int:
    """How many pages a file holds: frames of a TIFF, pages of a PDF, else 1.

    A file that cannot be counted is one page, which is refused with words when it is read.
    """
    with path.open("rb") as file:
        kind = media_type(file.read(SNIFFED_BYTES))
        if kind not in {TIFF, PDF}:
            return 1
        try:
            pages = _count_frames(file) if kind == TIFF else _count_pdf_pages(path)
        except PageRefused:
            return 1
    return pages if 0 < pages <= MAX_PAGES_OF_A_FILE else 1


def read_page(path: Path, index: int, max_pixels: int = MAX_PIXELS) -> tuple[bytes, str]:
    """Page ``index`` (from 0) of a file as bytes with their media type.

    Raises `PageRefused` when the file itself is at fault, `OSError` when it cannot be read.
    """
    with path.open("rb") as file:
        kind = media_type(file.read(SNIFFED_BYTES))
        file.seek(0)
        if kind == PDF:
            return _pdf_page(path, index, max_pixels), PNG
        if kind == TIFF:
            return _tiff_frame(file, index, max_pixels), PNG
        return file.read(), kind


def open_image(data: bytes, max_pixels: int = MAX_PIXELS) -> Image:
    """The pixels of a page as an upright RGB image; transparency becomes white paper."""
    with _decoding(data[:SNIFFED_BYTES]) as pillow:
        image = pillow.open(io.BytesIO(data), formats=DECODERS)
        _check_size(image.size, max_pixels)
        image.load()
        return plain(upright(image)).convert("RGB")


def check_pixels(data: bytes, max_pixels: int = MAX_PIXELS) -> None:
    """Refuse an image by its beginning: one that is damaged there, or says that it has too many pixels."""
    with _decoding(data[:SNIFFED_BYTES]) as pillow:
        _check_size(pillow.open(io.BytesIO(data), formats=DECODERS).size, max_pixels)


# ---- Pillow ------------------------------------------------------------------------------------------------


@contextmanager
def _decoding(beginning: bytes) -> Iterator[Any]:
    """Pillow, with what it raises for a broken file turned into a refusal."""
    from PIL import Image, UnidentifiedImageError

    # Our own limit is checked before decoding; Pillow's is one for the whole process, lower, and a warning.
    Image.MAX_IMAGE_PIXELS = None
    warnings.filterwarnings("ignore", module=r"PIL\.")
    try:
        yield Image
    except TimeoutError:
        raise
    except UnidentifiedImageError as error:
        raise PageRefused(_not_an_image(beginning)) from error
    except OSError as error:
        if error.errno in DISK_ERRORS:
            raise
        raise PageRefused(f"its image data is damaged: {error}") from error
    except DECODING_ERRORS as error:
        raise PageRefused(f"its image data is damaged: {str(error) or type(error).__name__}") from error


def _not_an_image(beginning: bytes) -> str:
    if not beginning:
        return f"the file is empty; {READABLE}"
    kind = media_type(beginning)
    if kind != UNKNOWN:
        return f"it begins like {kind} but cannot be read as that: it may be cut short or damaged"
    for mark, name in OTHER_KINDS.items():
        if beginning.startswith(mark):
            return f"it is {name}, whatever its name says; {READABLE}"
    return f"it is not an image of a kind that is read here; {READABLE}"


def _check_size(size: tuple[int, int], max_pixels: int) -> None:
    width, height = size
    if width < 1 or height < 1:
        raise PageRefused(f"it says that it is {width} x {height} pixels, which is no image")
    if width * height > max_pixels:
        raise PageRefused(
            f"it has {width} x {height} = {width * height / 1e6:,.0f} megapixels; "
            f"at most {max_pixels / 1e6:,.0f} are read"
        )


# ---- TIFF --------------------------------------------------------------------------------------------------


def _count_frames(file: BinaryIO) -> int:
    file.seek(0)
    with _decoding(b"II*\x00") as pillow:
        image = pillow.open(file, formats=("TIFF",))
        return sum(1 for _ in itertools.islice(_pages(image), MAX_PAGES_OF_A_FILE + 1))


def _tiff_frame(file: BinaryIO, index: int, max_pixels: int) -> bytes:
    with _decoding(b"II*\x00") as pillow:
        image = pillow.open(file, formats=("TIFF",))
        if next(itertools.islice(_pages(image), index, None), None) is None:
            raise PageRefused(f"the file has no page {index + 1}: it may be cut short or damaged")
        _check_size(image.size, max_pixels)
        image.load()
        return as_png(plain(upright(image)))


def _pages(image: Any) -> Iterator[int]:
    """Go through the frames that are pages: not what is a smaller copy or the mask of another one."""
    for frame in itertools.count():
        try:
            image.seek(frame)
        except EOFError:
            return
        if frame == 0 or not image.tag_v2.get(NEW_SUBFILE_TYPE, 0) & (SMALLER_COPY | MASK):
            yield frame


# ---- PDF ---------------------------------------------------------------------------------------------------


@contextmanager
def _pdf(path: Path) -> Iterator[Any]:
    """An open PDF, under the lock that PDFium needs."""
    import pypdfium2

    with _pdfium:
        try:
            document = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError as error:
            raise PageRefused(_why_no_pdf(error)) from error
        try:
            yield document
        except pypdfium2.PdfiumError as error:
            raise PageRefused(f"this page of the PDF is damaged: {error}") from error
        finally:
            document.close()


def _why_no_pdf(error: Any) -> str:
    return PDF_FAULTS.get(
        error.err_code, "the PDF cannot be opened: it is damaged, cut short or without any page"
    )


def _count_pdf_pages(path: Path) -> int:
    with _pdf(path) as document:
        return len(document)


def _pdf_page(path: Path, index: int, max_pixels: int) -> bytes:
    """One page of a PDF at 200 dots per inch, or at as many as the limit on pixels leaves."""
    with _pdf(path) as document:
        pages = len(document)
        if pages > MAX_PAGES_OF_A_FILE:
            raise PageRefused(
                f"the PDF says that it has {pages:,} pages; at most {MAX_PAGES_OF_A_FILE:,} are read"
            )
        if index >= pages:
            raise PageRefused(f"the PDF has {pages} pages, and this would be page {index + 1}")
        page = document[index]
        width, height = page.get_size()
        if not (0 < width < math.inf and 0 < height < math.inf):
            raise PageRefused(
                f"this page of the PDF says that it is {width} x {height} points, which is no page"
            )
        scale = PDF_DPI / POINTS_PER_INCH
        limit = math.sqrt(max_pixels / (width * height)) * 0.999
        scale = min(scale, limit)
        _check_size((math.ceil(width * scale), math.ceil(height * scale)), max_pixels)
        image = page.render(scale=scale, rev_byteorder=True).to_pil()
        return as_png(plain(image))
