"""Images by digest, the repositories that they come from, and which of those a platform lets be named."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from allotment.documents.checking import Place, shown
from allotment.documents.shapes import Text

IMAGE_REPOSITORY: Final = re.compile(
    r"[a-z0-9][a-z0-9._-]*(?::[0-9]{1,5})?(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*"
)
IMAGE: Final = re.compile(rf"(?:{IMAGE_REPOSITORY.pattern})@sha256:[0-9a-f]{{64}}")


def look_image_repository(text: str, place: Place) -> None:
    """Refuse what is no repository of images."""
    if not IMAGE_REPOSITORY.fullmatch(text):
        hint = "write it without tag and digest: registry.example.org/htr"
        place.refuse("bad-image", f"`{shown(text)}` is no repository of images", hint)


def look_image(text: str, place: Place) -> None:
    """Refuse what is no image by digest."""
    if IMAGE.fullmatch(text):
        return
    hint = "write registry/name@sha256: and the 64 digits of the digest"
    if "@" not in text:
        message = f"`{shown(text)}` names an image without its digest, so it can change under the same name"
        place.refuse("image-not-pinned", message, hint)
    place.refuse("bad-image", f"`{shown(text)}` is no image by digest", hint)


IMAGE_BY_DIGEST: Final = Text(look_image)


def repository_of(image: str) -> str:
    """The repository that an image by digest comes from."""
    return image.partition("@")[0]


def may_come(image: str, allowed: Iterable[str]) -> bool:
    """Whether an image is of one of these repositories, or of one below them."""
    repository = repository_of(image)
    return any(repository == each or repository.startswith(f"{each}/") for each in allowed)
