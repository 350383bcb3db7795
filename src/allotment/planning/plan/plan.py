"""A plan: everything that its author, and who reviews a pull request, is told before anything is submitted.

All times are seconds from the plan's beginning, which is the Unix time ``at``. What was drawn is a
``Spread``: the tenth, the half and nine tenths of the draws, None where it lies beyond the horizon.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from allotment.planning.scenes.values import THEY_STAY, Assumption
from allotment.planning.why.trying import Change as Remedy
from allotment.planning.why.why import Alternative, State
from allotment.simulation.outcome import Outcome
from allotment.simulation.quantiles import NOTHING, Band, Spread
from allotment.simulation.setting import TeamShare

FORMAT_VERSION: Final = 1


class Becomes(StrEnum):
    """What becomes of something that a repository says."""

    NEW = "new"
    CHANGED = "changed"
    GONE = "gone"
    REFUSED = "refused"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one campaign, fleet, gang or pipeline (``campaigns/NAME``). ``words`` say how."""

    name: str
    becomes: Becomes
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything that changes, and against what it was held: a cluster, a commit, a bucket."""

    against: str
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def are_none(self) -> bool:
        """Whether there is nothing to do."""
        return all(each.becomes is Becomes.UNCHANGED for each in self.changes)


@dataclass(frozen=True, slots=True)
class Fits:
    """Which devices would do for one pod: ``would`` of ``all`` (``free`` of them now), by kind of card.

    ``sentence`` says it; ``obstacle`` is the first thing that stands in the way of others, empty where
    nothing does; ``remedies`` were tried with the allocator. ``held`` says who has what it waits for.
    """

    asks: str
    state: State
    sentence: str
    all: int = 0
    would: int = 0
    free: int = 0
    cards: tuple[tuple[str, int], ...] = ()
    obstacle: str = ""
    alternatives: tuple[Alternative, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    notes: tuple[str, ...] = ()
    held: str = ""


@dataclass(frozen=True, slots=True)
class CardUse:
    """Hours of one kind of card, and what they cost; ``price`` of an hour is None where nobody says."""

    card: str
    hours: Spread
    price: float | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A reason for which a work waits, and for how long altogether."""

    reason: str
    message: str
    seconds: Spread


@dataclass(frozen=True, slots=True)
class WorkPlan:
    """What will happen to one campaign, fleet or gang.

    ``left`` of its ``units`` are to do, with ``pages`` that are known and ``uncounted`` volumes of which
    nobody knows how many they have. ``start`` is when its first pod runs, ``end`` when it is over, which a
    fleet never is; ``finishes`` is the share of draws in which it ends within the horizon, ``late`` that in
    which it misses the deadline. ``never`` says why it does not run at all. ``basis`` says on what its run
    times rest.
    """

    name: str
    team: str
    kind: str
    units: int = 1
    left: int = 1
    pages: int = 0
    uncounted: int = 0
    least: int = 1
    most: int = 1
    fits: Fits | None = None
    start: Spread = NOTHING
    end: Spread = NOTHING
    finishes: float = 1.0
    late: float | None = None
    window: tuple[Band, ...] = ()
    cards: tuple[CardUse, ...] = ()
    gpu_hours: Spread = NOTHING
    money: Spread | None = None
    waits: tuple[Waiting, ...] = ()
    reclaimed: Spread = NOTHING
    pages_lost: Spread = NOTHING
    failed: Spread = NOTHING
    never: str = ""
    basis: str = ""

    @property
    def ends(self) -> bool:
        """Whether it is of a kind that ends."""
        return self.kind != "fleet"

    @property
    def waits_for(self) -> str:
        """Who has the devices that it waits for, where it does not begin in at least half of the draws."""
        if self.never or self.start.p50 is not None or self.fits is None:
            return ""
        return self.fits.held

    @property
    def fails_whole(self) -> bool:
        """Whether nothing of it succeeds in at least half of the draws."""
        return self.ends and self.failed.p50 is not None and 0 < self.left <= self.failed.p50


@dataclass(frozen=True, slots=True)
class Payer:
    """Somebody whose work is set back by what is planned, by name.

    ``reclaimed`` is how much oftener its pods are taken back, ``pages_lost`` how many pages more it does
    again, ``later`` by how many seconds it ends later (a fleet: of how many GPU-seconds it has less).
    ``draws`` is the share of draws in which any of it happens.
    """

    name: str
    team: str
    kind: str
    reclaimed: Spread = NOTHING
    pages_lost: Spread = NOTHING
    later: Spread = NOTHING
    draws: float = 0.0


@dataclass(frozen=True, slots=True)
class Risk:
    """What could make the plan wrong, tried: by how many seconds the end moves, at the half and nine tenths.

    None: it does not end within the horizon then. ``draws`` is how often it was tried: of one draw there are
    no nine tenths.
    """

    words: str
    work: str
    later: Spread
    draws: int


@dataclass(frozen=True, slots=True)
class Held:
    """A bound that was asked for (money, or seconds), and whether nine of ten draws keep to it.

    ``missed`` is the share of draws that do not.
    """

    words: str
    limit: float
    reached: float | None
    is_kept: bool
    missed: float = 0.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What the plan was made from, by digest: files, the platform, the world's parts, the apply's steps."""

    files: Mapping[str, str] = field(default_factory=dict)
    platform: Mapping[str, str] = field(default_factory=dict)
    world: Mapping[str, str] = field(default_factory=dict)
    steps: Mapping[str, str] = field(default_factory=dict)
    is_cluster: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """All of it. ``course`` is the draw that ends at the half, in full, for pictures of it.

    ``gpus`` is how many cards there are by kind, ``others`` how many works are there beside what is planned;
    the ``draws`` have the seeds from ``seed`` on, and ``until`` is the horizon.
    """

    world: str
    at: float
    scheduler: str
    team: str
    changes: Changes
    works: tuple[WorkPlan, ...] = ()
    draws: int = 0
    seed: int = 0
    until: float = 0.0
    end: Spread = NOTHING
    gpu_hours: Spread = NOTHING
    money: Spread | None = None
    currency: str = "EUR"
    payers: tuple[Payer, ...] = ()
    others: int = 0
    assumptions: tuple[Assumption, ...] = ()
    risks: tuple[Risk, ...] = ()
    caveats: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    held: tuple[Held, ...] = ()
    gpus: tuple[tuple[str, int], ...] = ()
    teams: Mapping[str, TeamShare] = field(default_factory=dict)
    course: Outcome | None = None
    seen: Seen = Seen()
    format_version: int = FORMAT_VERSION

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to do."""
        return self.changes.are_none

    @property
    def others_stay(self) -> Assumption | None:
        """That others have what they have to the end, where that is assumed, and of whom."""
        return next((each for each in self.assumptions if each.value == THEY_STAY), None)

    @property
    def is_kept(self) -> bool:
        """Whether all bounds are kept, nothing is refused, and everything runs at all."""
        refused = any(each.becomes is Becomes.REFUSED for each in self.changes.changes)
        return (
            not refused
            and all(each.is_kept for each in self.held)
            and not any(each.never or each.fails_whole for each in self.works)
        )
