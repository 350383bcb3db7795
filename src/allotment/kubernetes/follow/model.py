"""What there is to say of a campaign, a fleet or a gang on a cluster, as values.

A cause has a sentence, what to do, and the evidence: no cause is told without an object and a field that say
it. The first cause is the root; the others are what else is not as it should be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from allotment.kubernetes.cluster.capacity import Capacity
from allotment.kubernetes.follow import fields
from allotment.kubernetes.kinds import Object


class State(StrEnum):
    """How it stands as a whole. ``never`` waits for what cannot come unless somebody changes something."""

    ABSENT = "absent"
    WAITING = "waiting"
    NEVER = "never"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    FAILED = "failed"


class IndexState(StrEnum):
    """How an index of a Job stands, that is a volume or a pack of them."""

    WAITING = "waiting"
    PENDING = "pending"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    LOST = "lost"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was seen: in which object, in which field, and what stands there."""

    about: str
    field: str
    text: str


@dataclass(frozen=True, slots=True)
class Cause:
    """Why it is not running, or not all of it; ``kind`` is for programs and stays what it is.

    ``brief`` is the sentence without how many it is about, where it has one.
    """

    kind: str
    state: State
    sentence: str
    remedy: str
    evidence: tuple[Evidence, ...]
    indexes: tuple[int, ...] = ()
    brief: str = ""


@dataclass(frozen=True, slots=True)
class Position:
    """A place among those that wait in a queue, from 1."""

    place: int
    of: int
    queue: str


@dataclass(frozen=True, slots=True)
class Sum:
    """What it asks of a resource at once, against what its queue may use of it."""

    asked: Fraction
    capacity: Capacity

    @property
    def words(self) -> str:
        """The arithmetic."""
        return self.capacity.arithmetic(self.asked)


@dataclass(frozen=True, slots=True)
class Slice:
    """A Workload of Kueue's: the one that has quota (``is_live``), or the one that is wished for."""

    name: str
    pods: int
    is_live: bool
    reason: str = ""
    message: str = ""
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class Index:
    """An index that is under way or has failed: its volumes, and where it runs."""

    number: int
    volumes: tuple[str, ...]
    state: IndexState
    pod: str = ""
    node: str = ""
    devices: tuple[str, ...] = ()
    since: float | None = None
    failures: int = 0
    message: str = ""
    part: int = 1


@dataclass(frozen=True, slots=True)
class Window:
    """How many run at once: now, as asked for at present, and between which bounds (None: not known)."""

    now: int
    asked: int
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """Indexes by how they stand; packs of volumes count as one."""

    total: int = 0
    done: int = 0
    failed: int = 0
    running: int = 0
    starting: int = 0
    pending: int = 0
    stopping: int = 0

    @property
    def waiting(self) -> int:
        """Those that have no pod yet."""
        begun = self.done + self.failed + self.running + self.starting + self.pending
        return max(0, self.total - begun)

    def plus(self, other: Counts) -> Counts:
        """Both together."""
        return Counts(*(getattr(self, key) + getattr(other, key) for key in self.__slots__))


@dataclass(frozen=True, slots=True)
class Followed:
    """A campaign, a fleet or a gang as it stands on the cluster. Times are Unix seconds."""

    name: str
    kind: str
    namespace: str
    state: State
    sentence: str
    causes: tuple[Cause, ...] = ()
    team: str = ""
    pipeline: str = ""
    counts: Counts = field(default_factory=Counts)
    window: Window | None = None
    indexes: tuple[Index, ...] = ()
    slices: tuple[Slice, ...] = ()
    sums: tuple[Sum, ...] = ()
    jobs: tuple[str, ...] = ()
    started: float | None = None
    ended: float | None = None
    notes: tuple[str, ...] = ()
    is_packed: bool = False

    @property
    def root(self) -> Cause | None:
        """The cause that is told first."""
        return self.causes[0] if self.causes else None


@dataclass(frozen=True, slots=True)
class Expected:
    """What a repository says of something that should be on the cluster."""

    kind: str
    least: int | None = None
    most: int | None = None
    volumes: int | None = None
    suspended: bool = False


NOTHING_EXPECTED: Mapping[str, Expected] = {}


def evidence(about: Object, place: str, words: str) -> Evidence:
    """What an object says in a field."""
    return Evidence(fields.shown(about), place, " ".join(words.split()))


def by_condition(about: Object, kind: str) -> tuple[Evidence, ...]:
    """What an object says in a condition, where it has it."""
    found = fields.condition(about, kind)
    return () if found is None else (evidence(about, f"status.conditions[{kind}]", found.words),)
