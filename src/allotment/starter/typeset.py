"""Page images made from text: set in a book face, laid askew and speckled, as a scanner gives them.

The same text and seed give the same bytes: all chance comes from a generator with that seed. The face is
Source Serif Pro, from the package `font-source-serif-pro`; it has å, ä and ö.
"""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont

WIDTH, HEIGHT = 800, 820
MARGIN = 92
LETTER_SIZE = 31
LINE = 46
PARAGRAPH = 26
INK, PAPER = 34, 236
MOST_SKEW = 1.4  # degrees, to either side
LEAST_SKEW = 0.4
SPECKS = 200
GREYS = 0xF0  # sixteen of them, so that files stay small
FACE = "SourceSerifPro-Regular.ttf"


def typeset(text: str, seed: int) -> bytes:
    """The text as a scanned page, a PNG in grey; empty lines stand between paragraphs."""
    chance = random.Random(seed)  # noqa: S311 - the look of a page is no secret
    page = _set(text)
    skew = chance.uniform(LEAST_SKEW, MOST_SKEW) * chance.choice((-1, 1))
    return _png(_scanned(page, skew, chance))


def _set(text: str) -> Image:
    """The text on straight, clean paper."""
    from PIL import Image, ImageDraw, ImageFont

    page = Image.new("L", (WIDTH, HEIGHT), PAPER)
    draw = ImageDraw.Draw(page)
    with as_file(files("font_source_serif_pro").joinpath("files", FACE)) as path:
        # The simple layout engine is in every build of Pillow: the same page everywhere.
        face = ImageFont.truetype(str(path), LETTER_SIZE, layout_engine=ImageFont.Layout.BASIC)
    top = MARGIN
    for paragraph in text.strip().split("\n\n"):
        for line in _lines(paragraph, face):
            draw.text((MARGIN, top), line, font=face, fill=INK)
            top += LINE
        top += PARAGRAPH
    if top > HEIGHT - MARGIN + PARAGRAPH:
        raise ValueError("the text is too long for one page")
    return page


def _lines(paragraph: str, face: FreeTypeFont) -> Iterator[str]:
    """The paragraph in lines that fit between the margins; words are never broken."""
    line = ""
    for word in paragraph.split():
        longer = f"{line} {word}".strip()
        if line and face.getlength(longer) > WIDTH - 2 * MARGIN:
            yield line
            longer = word
        line = longer
    yield line


def _scanned(page: Image, skew: float, chance: random.Random) -> Image:
    """The page as it comes off the glass: askew, a little soft, with specks of dust and of bare paper."""
    from PIL import Image, ImageFilter

    page = page.rotate(skew, resample=Image.Resampling.BICUBIC, fillcolor=PAPER)
    page = page.filter(ImageFilter.GaussianBlur(0.5))
    for _ in range(SPECKS):
        left, top = chance.randrange(WIDTH - 2), chance.randrange(HEIGHT - 2)
        grey = chance.randrange(90, 256)
        page.paste(grey, (left, top, left + chance.choice((1, 1, 2)), top + chance.choice((1, 1, 2))))
    return page.point([value & GREYS for value in range(256)])


def _png(page: Image) -> bytes:
    file = io.BytesIO()
    page.save(file, format="PNG", compress_level=9)
    return file.getvalue()
