"""What a registry says about an image: the facts, or why there are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from allotment.kubernetes.images.reference import Reference


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """An image: the platforms that it is for (``linux/amd64``), and what the first of those asked for says.

    The rest is empty where it is for none of them.
    """

    platforms: tuple[str, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Untold:
    """The registry was not to be asked, or did not say; ``remedy`` is what would let it."""

    why: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Absent:
    """The registry says that it has no such image."""

    why: str


Looked = ImageFacts | Untold | Absent
Fetch = Callable[[Reference, tuple[str, ...]], Looked]
"""Looks at the image of a reference, for these platforms, in their order."""
