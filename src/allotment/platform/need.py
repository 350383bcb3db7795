"""What one pod of a pipeline must have, as values: the words of ``gpu:`` and ``resources:``, nothing decided.

A need is described, not counted: how much memory one card has, how many of them, what they share. Sizes of
the platform and pipelines of a team write it in the same words, so it lives here, to the left of both.
Turning it into a claim is the room of needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

WHOLE = "whole"
SHARING = (WHOLE, "mig", "fraction", "time-slicing", "mps", "consumable")
SAME = ("card", "card-model", "pcie-root")
ISOLATION = ("hardware",)


@dataclass(frozen=True, slots=True)
class MemoryRange:
    """How much memory one card must have, in bytes; a bound that is not asked for is None."""

    at_least: int | None = None
    more_than: int | None = None
    at_most: int | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """The need of one pod; ``fallback`` holds further needs in the order in which they are tried.

    ``cpu`` asks for a device of that many processor cores instead of a card. ``share`` is a part of one card:
    a number below 1, or an amount of memory as it was written.
    """

    memory: MemoryRange | None = None
    count: int = 1
    card: tuple[str, ...] = ()
    select: str | None = None
    same: str | None = None
    sharing: tuple[str, ...] = (WHOLE,)
    share: str | float | None = None
    isolation: str | None = None
    config: Mapping[str, Any] | None = field(default=None, hash=False)
    cpu: int | None = None
    fallback: tuple[Need, ...] = ()


@dataclass(frozen=True, slots=True)
class Resources:
    """What the pod itself needs: processor cores, bytes of memory, bytes of work folder."""

    cpu: float | None = None
    memory: int | None = None
    workdir: int | None = None


NO_RESOURCES = Resources()
