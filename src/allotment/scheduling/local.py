"""Which volumes start now on this machine: lanes, then order of arrival, each window filled as it fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from allotment.devices.claims import Allocation, ClaimSpec
from allotment.devices.slices import DeviceId
from allotment.devices.world import World


class Window(Protocol):
    """How many volumes of a campaign run at once."""

    @property
    def min(self) -> int:
        """A wish: nothing enforces it here."""

    @property
    def max(self) -> int:
        """Never more than this."""


class Ties(StrEnum):
    """Who goes first of two campaigns with the same lane and the same arrival."""

    NAME = "name"  # the name that sorts first
    LISTED = "listed"  # the one that the state lists first


class WaitReason(StrEnum):
    """Why a campaign with ready volumes starts none, or no more, now."""

    WINDOW = "window"  # it runs as many as it may
    DEVICES = "devices"  # what it asks for is there, but taken
    MEMORY = "memory"  # the devices are free, the memory is not
    NEVER = "never"  # this machine does not have what it asks for


@dataclass(frozen=True, slots=True)
class CampaignQueue:
    """One campaign's part of the state. ``ready`` holds the indexes that may start now, in order.

    A higher ``lane_value`` goes first, then a lower ``arrival``. ``memory_bytes`` is set aside per index.
    """

    name: str
    lane_value: int
    arrival: int
    window: Window
    running: int
    ready: Sequence[int]
    claim: ClaimSpec
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True)
class LocalState:
    """All that a decision looks at. ``free_memory`` None means that memory is not looked at."""

    campaigns: tuple[CampaignQueue, ...]
    world: World
    node: str
    taken: frozenset[DeviceId] = frozenset()
    free_memory: int | None = None


@dataclass(frozen=True, slots=True)
class LocalMemory:
    """What is remembered between decisions: since when each campaign waits, and why."""

    waiting: Mapping[str, tuple[WaitReason, float]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Start:
    """Start this index of the campaign on these devices."""

    campaign: str
    index: int
    allocation: Allocation
    reason: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Start none, or no more, of the campaign for now. ``message`` says to a person what is missing."""

    campaign: str
    reason: WaitReason
    message: str
    since: float


Decision = Start | Wait


def decide(
    state: LocalState, memory: LocalMemory, now: float, ties: Ties = Ties.NAME
) -> tuple[tuple[Decision, ...], LocalMemory]:
    """Starts in the order in which to make them, then a Wait for each campaign with ready indexes left."""
    raise NotImplementedError
