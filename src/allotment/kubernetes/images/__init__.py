"""What a registry says of an image, looked at before a Job that names it is sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from allotment.kubernetes.images.facts import Absent, Fetch, ImageFacts, Looked, Untold
from allotment.kubernetes.images.reference import Reference, reference_of
from allotment.kubernetes.images.verdict import ImageVerdict, State, Use, verdict_of

PLATFORMS: Final = ("linux/amd64",)
"""What the nodes of a cluster are, where nobody says."""


def judged(image: str, use: Use, fetch: Fetch, platforms: Sequence[str] = PLATFORMS) -> ImageVerdict:
    """The verdict on an image, for what it is used for."""
    return verdict_of(fetch(reference_of(image), tuple(platforms)), platforms, use)


def check_image(
    image: str, *, injected: bool, fetch: Fetch, platforms: Sequence[str] = PLATFORMS
) -> ImageVerdict:
    """Whether workers can run in an image; ``injected``: the runner is brought along into the pod."""
    return judged(image, Use.BROUGHT if injected else Use.RUNNER, fetch, platforms)


__all__ = [
    "PLATFORMS",
    "Absent",
    "Fetch",
    "ImageFacts",
    "ImageVerdict",
    "Looked",
    "Reference",
    "State",
    "Untold",
    "Use",
    "check_image",
    "judged",
    "reference_of",
]
