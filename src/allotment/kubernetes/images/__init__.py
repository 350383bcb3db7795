"""What a registry says of an image, looked at before a Job that names it is sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from allotment.kubernetes.images.facts import Absent, Fetch, ImageFacts, Looked, Untold
from allotment.kubernetes.images.reference import Reference, reference_of
from allotment.kubernetes.images.verdict import INJECT_LABEL, RUNNER_LABEL, ImageVerdict, State, verdict_of

PLATFORMS: Final = ("linux/amd64",)
"""What the nodes of a cluster are, where nobody says."""


def check_image(
    image: str, *, injected: bool, fetch: Fetch, platforms: Sequence[str] = PLATFORMS
) -> ImageVerdict:
    """Whether workers can run in an image; ``injected``: the runner is brought along into the pod."""
    label = None if injected else RUNNER_LABEL
    return verdict_of(fetch(reference_of(image), tuple(platforms)), platforms, label=label)


def check_runner_image(image: str, *, fetch: Fetch, platforms: Sequence[str] = PLATFORMS) -> ImageVerdict:
    """Whether an image brings the runner along, as the platform's ``runner.image`` must."""
    return verdict_of(fetch(reference_of(image), tuple(platforms)), platforms, label=INJECT_LABEL)


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
    "check_image",
    "check_runner_image",
    "reference_of",
]
