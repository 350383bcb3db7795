"""The rules that findings about images can name, with their meaning in one line."""

from __future__ import annotations

from typing import Final

RULES: Final = {
    "image-unfit": "An image is not in its registry, or workers cannot run in it.",
    "image-untold": "Whether workers can run in an image could not be asked of its registry.",
}
