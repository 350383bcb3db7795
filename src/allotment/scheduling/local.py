"""Which volumes start now on this machine: lanes, then order of arrival, each window filled as it fits.

Campaigns go by the value of their lane, the highest first, then by arrival. Each starts as many of its ready
indexes as its window, the devices and the memory allow; what it leaves goes to the next, so that no device is
idle while a ready volume that fits it waits, and a campaign that fits nothing holds nobody up. A window's
minimum is a wish, and nothing is taken back from what runs. Which devices an index gets is the allocator's
answer. A decision costs what it starts and not what is ready: it stops when nothing more fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Protocol

from allotment.devices.claims import Allocation, ClaimSpec
from allotment.devices.fleet import Fleet
from allotment.devices.funnel import NoFit
from allotment.devices.slices import DeviceId
from allotment.devices.world import World
from allotment.quantities import format_gi


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
    desk = _Desk(state)
    starts: list[Decision] = []
    waits: list[Decision] = []
    waiting: dict[str, tuple[WaitReason, float]] = {}
    for queue in _in_order(state.campaigns, ties):
        started = list(desk.fill(queue))
        starts += started
        if len(started) == len(queue.ready):
            continue
        reason, message = desk.why_no_more(queue, len(started))
        before, since = memory.waiting.get(queue.name, (reason, now))
        waiting[queue.name] = reason, since if before is reason else now
        waits.append(Wait(queue.name, reason, message, waiting[queue.name][1]))
    return (*starts, *waits), LocalMemory(waiting)


def _in_order(campaigns: Sequence[CampaignQueue], ties: Ties) -> Iterable[CampaignQueue]:
    tie = _TIES[ties]
    places = sorted(
        range(len(campaigns)),
        key=lambda place: (
            -campaigns[place].lane_value,
            campaigns[place].arrival,
            *tie(campaigns[place]),
            place,
        ),
    )
    return (campaigns[place] for place in places)


_TIES: Mapping[Ties, Callable[[CampaignQueue], tuple[str, ...]]] = {
    Ties.NAME: lambda queue: (queue.name,),
    Ties.LISTED: lambda _: (),
}


class _Desk:
    """Devices and memory while they are given out, one campaign after the other."""

    def __init__(self, state: LocalState) -> None:
        self._fleet = Fleet(state.world, taken=state.taken)
        self._total_memory = None if state.free_memory is None else state.world.memory_bytes
        self._free_memory = state.free_memory
        self._refused: dict[ClaimSpec, NoFit] = {}  # devices only become fewer: what did not fit does not fit

    def fill(self, queue: CampaignQueue) -> Iterator[Start]:
        """Give devices to the campaign's next indexes until something is missing."""
        room = max(0, queue.window.max - queue.running)
        for place, index in enumerate(islice(queue.ready, room), start=1):
            if self._memory_missing(queue):
                return
            answer = self._place(queue.claim)
            if isinstance(answer, NoFit):
                return
            if self._free_memory is not None:
                self._free_memory -= queue.memory_bytes
            yield Start(queue.name, index, answer, _why_started(queue, place, answer))

    def why_no_more(self, queue: CampaignQueue, started: int) -> tuple[WaitReason, str]:
        """What keeps the campaign's next index from starting, and in words."""
        answer = self._place(queue.claim)
        if isinstance(answer, Allocation):
            self._fleet.give_back(answer.ids)
        if isinstance(answer, NoFit) and not answer.waiting:
            return WaitReason.NEVER, str(answer)
        if self._total_memory is not None and queue.memory_bytes > self._total_memory:
            total = format_gi(self._total_memory)
            return (
                WaitReason.NEVER,
                f"{format_gi(queue.memory_bytes)} of memory needed, the machine has {total}",
            )
        if queue.running + started >= queue.window.max:
            return WaitReason.WINDOW, f"{queue.running + started} run, and its window is {queue.window.max}"
        if isinstance(answer, NoFit):
            return WaitReason.DEVICES, str(answer)
        free = format_gi(max(0, self._free_memory or 0))
        return WaitReason.MEMORY, f"{format_gi(queue.memory_bytes)} of memory needed, {free} free"

    def _memory_missing(self, queue: CampaignQueue) -> bool:
        return self._free_memory is not None and queue.memory_bytes > max(0, self._free_memory)

    def _place(self, claim: ClaimSpec) -> Allocation | NoFit:
        known = self._refused.get(claim)
        if known is not None:
            return known
        answer = self._fleet.place(claim)
        if isinstance(answer, NoFit):
            self._refused[claim] = answer
            return answer
        return answer.allocation


def _why_started(queue: CampaignQueue, place: int, allocation: Allocation) -> str:
    running = queue.running + place
    instead = sorted({result.request for result in allocation.results} & _later_alternatives(queue.claim))
    fallback = f", with the fallback {', '.join(instead)}" if instead else ""
    return f"it fits, {running} of at most {queue.window.max} at once{fallback}"


def _later_alternatives(claim: ClaimSpec) -> set[str]:
    return {f"{request.name}/{sub.name}" for request in claim.requests for sub in request.first_available[1:]}
