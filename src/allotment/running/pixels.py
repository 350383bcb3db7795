"""Decoded pixels made plain: upright, on white paper, eight bits deep; and as PNG, always the same bytes.

Sources: Pillow's handbook (image modes), EXIF 2.3 (orientation).
"""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

from allotment.running.page import PageRefused

if TYPE_CHECKING:
    from PIL.Image import Image

# What Pillow and its codecs raise for a broken file, besides an OSError that is none of the disk's.
DECODING_ERRORS = (SyntaxError, ValueError, EOFError, ArithmeticError, LookupError, TypeError, RuntimeError)


def upright(image: Image) -> Image:
    """The image as its EXIF orientation wants it seen; orientation that cannot be read is left out."""
    from PIL import ImageOps

    try:
        return ImageOps.exif_transpose(image)
    except (OSError, *DECODING_ERRORS):
        return image


def plain(image: Image) -> Image:
    """The image in one of the modes ``1``, ``L`` and ``RGB``: 16 bits scaled to 8, transparency on white."""
    if image.mode in {"1", "L", "RGB"} and "transparency" not in image.info:
        return image
    if image.mode.startswith("I") or image.mode == "F":
        return _eight_bits(image)
    if "A" in image.getbands() or "a" in image.getbands() or "transparency" in image.info:
        return _on_white(image)
    return image.convert("RGB")


def _eight_bits(image: Image) -> Image:
    """Deep grey values as 8 bits: 16-bit ones by their range, others (32 bits, fractions) by their use."""
    values = image.convert("F")
    low, high = 0.0, 65535.0
    if not image.mode.startswith("I;16"):
        extremes: Any = values.getextrema()
        low, high = extremes
        if image.mode == "I" and low >= 0 and high <= 65535:
            low, high = 0.0, 65535.0
    if not (math.isfinite(low) and math.isfinite(high)):
        raise PageRefused("its grey values are not numbers")
    scale = 255.0 / (high - low) if high > low else 0.0
    return values.point(lambda value: value * scale - low * scale).convert("L")


def _on_white(image: Image) -> Image:
    from PIL import Image as Pillow

    layer = image.convert("RGBA")
    paper = Pillow.new("RGBA", layer.size, (255, 255, 255, 255))
    return Pillow.alpha_composite(paper, layer).convert("RGB")


def as_png(image: Image) -> bytes:
    """The pixels alone as PNG: no times, no text, no profile, so that equal pages give equal bytes."""
    bare = image.copy()
    bare.info = {}
    file = io.BytesIO()
    bare.save(file, format="PNG", compress_level=1)
    return file.getvalue()
