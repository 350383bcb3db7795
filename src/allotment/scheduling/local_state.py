"""What a decision on this machine looks at and says, as frozen values.

Three kinds of work share the devices: campaigns (volumes, up to a window), fleets (replicas of a program
that does not end, between a least and a most number) and gangs (workers that start together or not at all).
"""

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
    """Who goes first of two with the same lane and the same arrival."""

    NAME = "name"  # the name that sorts first
    LISTED = "listed"  # the one that the state lists first


class WaitReason(StrEnum):
    """Why a campaign with ready volumes (or a fleet, or a gang) starts none, or no more, now."""

    WINDOW = "window"  # it runs as many as it may
    DEVICES = "devices"  # what it asks for is there, but taken
    MEMORY = "memory"  # the devices are free, the memory is not
    NEVER = "never"  # this machine does not have what it asks for
    SHARE = "share"  # devices are free, and are for another team or for something that needs several
    LIMIT = "limit"  # its team has as much as it may ever have
    QUOTA = "quota"  # it is never taken back, and what its team is guaranteed is in use
    PREPARING = "preparing"  # its `prepare` has to come first


@dataclass(frozen=True, slots=True)
class CampaignQueue:
    """One campaign's part of the state. ``ready`` holds the indexes that may start now, in order.

    A higher ``lane_value`` goes first, then a lower ``arrival``. ``memory_bytes`` is set aside per index.
    ``shared`` says that the claim is for parts of cards, ``lends`` that its volumes may be taken back.
    """

    name: str
    lane_value: int
    arrival: int
    window: Window
    running: int
    ready: Sequence[int]
    claim: ClaimSpec
    memory_bytes: int = 0
    shared: bool = False
    lends: bool = True


@dataclass(frozen=True, slots=True)
class Replica:
    """A replica that is up, on its devices; ``ending`` when it has been told to end."""

    number: int
    devices: tuple[DeviceId, ...]
    ending: bool = False


@dataclass(frozen=True, slots=True)
class FleetQueue:
    """One fleet's part of the state: ``up`` are its replicas, ``ready`` the numbers that may start now.

    ``paused`` replicas wait before they are started again, and count as if they were up. Replicas above
    ``min`` are given back for others only when the fleet is ``preemptible``.
    """

    name: str
    lane_value: int
    arrival: int
    min: int
    max: int
    up: tuple[Replica, ...]
    ready: Sequence[int]
    claim: ClaimSpec
    memory_bytes: int = 0
    paused: int = 0
    preemptible: bool = False

    @property
    def standing(self) -> int:
        """How many replicas are up or will be without a decision."""
        return sum(not replica.ending for replica in self.up) + self.paused


@dataclass(frozen=True, slots=True)
class GangQueue:
    """A gang that is to start: at least ``min`` of its ``workers`` at once, or none; each has the claim."""

    name: str
    lane_value: int
    arrival: int
    workers: int
    min: int
    claim: ClaimSpec
    memory_bytes: int = 0


Queue = CampaignQueue | FleetQueue | GangQueue


@dataclass(frozen=True, slots=True)
class TeamQueue:
    """A team's part of the machine: guaranteed, weight in what is idle, ceiling (None: no limit).

    A quota of None states none: nothing is guaranteed, and nothing is held to it.
    """

    name: str
    quota: float | None = None
    weight: float = 1.0
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """What an engine of this machine asks for: one of its queues, with as much ready as it wants now."""

    engine: str
    team: str
    queue: Queue


@dataclass(frozen=True, slots=True)
class Holding:
    """One volume, replica or worker on its devices, of whichever engine.

    ``shares`` are the bytes that it has of devices that it does not hold whole. ``lends`` says that it may be
    taken back from a team that has more than its share, from ``keeps_until`` on, and for a higher lane of its
    own team when it is a replica; ``passes`` that it ends by itself before long; ``deaf`` that its engine
    says nothing now, and so ends nothing for others either.
    """

    engine: str
    team: str
    name: str
    number: int
    devices: tuple[DeviceId, ...] = ()
    shares: tuple[tuple[DeviceId, int], ...] = ()
    memory_bytes: int = 0
    since: float = 0.0
    keeps_until: float = 0.0
    ending: bool = False
    lends: bool = True
    passes: bool = True
    lane_value: int = 0
    replica: bool = False
    deaf: bool = False


@dataclass(frozen=True, slots=True)
class Sharing:
    """Who shares the machine: this ``engine`` and its ``team``, all teams, what others ask, what all hold."""

    engine: str
    team: str
    teams: tuple[TeamQueue, ...]
    others: tuple[Ask, ...] = ()
    held: tuple[Holding, ...] = ()


@dataclass(frozen=True, slots=True)
class LocalState:
    """All that a decision looks at. ``free_memory`` None means that memory is not looked at.

    ``taken`` are devices that are held whole, ``shares`` what is held of others: so many bytes each.
    ``passing`` are devices that are taken by what ends by itself before long: volumes of these campaigns.
    ``sharing`` is there where teams share the machine by their queues.
    """

    campaigns: tuple[CampaignQueue, ...]
    world: World
    taken: frozenset[DeviceId] = frozenset()
    free_memory: int | None = None
    fleets: tuple[FleetQueue, ...] = ()
    gangs: tuple[GangQueue, ...] = ()
    passing: frozenset[DeviceId] = frozenset()
    shares: tuple[tuple[DeviceId, int], ...] = ()
    sharing: Sharing | None = None


@dataclass(frozen=True, slots=True)
class LocalMemory:
    """What is remembered between decisions: since when each campaign, fleet or gang waits, and why."""

    waiting: Mapping[str, tuple[WaitReason, float]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Start:
    """Start this index of the campaign on these devices."""

    campaign: str
    index: int
    allocation: Allocation
    reason: str


@dataclass(frozen=True, slots=True)
class StartReplica:
    """Start this replica of the fleet on these devices."""

    fleet: str
    number: int
    allocation: Allocation
    reason: str


@dataclass(frozen=True, slots=True)
class StartGang:
    """Start all of these workers of the gang at once, the first with rank 0."""

    gang: str
    allocations: tuple[Allocation, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class GiveBack:
    """Tell this replica of the fleet to end, for somebody whom its devices would help."""

    fleet: str
    number: int
    whom: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reclaim:
    """Tell the volume at this index to end after its page, for the team ``whom``, whose share it is."""

    campaign: str
    index: int
    whom: str
    reason: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Start none, or no more, of the campaign, fleet or gang for now. ``message`` says what is missing."""

    campaign: str
    reason: WaitReason
    message: str
    since: float


Decision = Start | StartReplica | StartGang | GiveBack | Reclaim | Wait
