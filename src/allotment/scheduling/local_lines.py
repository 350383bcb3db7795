"""What stands in line on a machine that teams share: one queue of one engine, and how far it has got.

Every engine takes the same decision over all lines, those of other engines among them, and carries out its
own part. What another engine is to start is kept for it meanwhile.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from allotment.devices.claims import Allocation
from allotment.devices.slices import DeviceId
from allotment.scheduling.local_accounts import is_shared
from allotment.scheduling.local_amounts import Amount, Measure
from allotment.scheduling.local_desk import Desk
from allotment.scheduling.local_state import (
    Ask,
    CampaignQueue,
    FleetQueue,
    GangQueue,
    Holding,
    LocalState,
    Queue,
    WaitReason,
)

Gained = tuple["Line", tuple[Allocation, ...]]


@dataclass(slots=True, eq=False)
class Line:
    """One queue in a decision. ``left`` is how many more of it may start, ``kept`` what is kept for it.

    ``below`` is the line of the fleet's least number, for replicas above it; ``most`` is how many of a gang
    its team may have.
    """

    ask: Ask
    own: bool
    left: int
    started: int = 0
    reason: WaitReason | None = None
    message: str = ""
    kept: frozenset[DeviceId] = frozenset()
    below: Line | None = None
    most: int = sys.maxsize

    @property
    def is_extra(self) -> bool:
        """Whether it is of replicas above a fleet's least number."""
        return self.below is not None

    @property
    def may_start(self) -> bool:
        """Whether it is worth trying to start more of it."""
        return bool(self.left) and self.reason is None and (self.below is None or not self.below.left)

    @property
    def queue(self) -> Queue:
        """What it is of."""
        return self.ask.queue

    @property
    def team(self) -> str:
        """Whose it is."""
        return self.ask.team

    @property
    def together(self) -> int:
        """How many have to start at once."""
        return self.queue.min if isinstance(self.queue, GangQueue) else 1

    @property
    def lends(self) -> bool:
        """Whether what it starts next may be taken back."""
        queue = self.queue
        if isinstance(queue, CampaignQueue):
            return queue.lends
        return isinstance(queue, FleetQueue) and self.is_extra and queue.preemptible

    @property
    def order(self) -> tuple[bool, int, int, int, str, str]:
        """Within its team the smaller goes first: by lane, then whoever has least, then by arrival; replicas
        above a least number come last."""
        queue = self.queue
        has = queue.running + self.started if isinstance(queue, CampaignQueue) else 0
        return self.is_extra, -queue.lane_value, has, queue.arrival, self.ask.engine, queue.name

    @property
    def claimed(self) -> tuple[Any, ...]:
        """What its next start asks for: lines of which this is the same get the same answer."""
        queue = self.queue
        return type(queue), queue.claim, queue.memory_bytes, self.together, is_shared(queue)

    def one(self, measure: Measure) -> Amount:
        """How much one of it takes."""
        return measure.typical(self.queue.claim, shared=is_shared(self.queue))

    def amount(self, measure: Measure) -> Amount:
        """How much its next start takes."""
        return Amount().plus(self.one(measure), self.together)

    def is_several(self, measure: Measure) -> bool:
        """Whether its next start takes several devices at once."""
        return self.together > 1 or measure.count(self.queue.claim, shared=is_shared(self.queue)) > 1

    def give(self, desk: Desk) -> tuple[Allocation, ...]:
        """Devices for its next start, of a gang no more than ``most``, or nothing."""
        if isinstance(self.queue, GangQueue):
            return desk.give_together(self.queue, self.queue.min, min(self.queue.workers, self.most))
        found = desk.give(self.queue)
        return () if found is None else (found,)

    def least(self, desk: Desk) -> tuple[Allocation, ...]:
        """Devices for no more than has to start at once, or nothing."""
        if isinstance(self.queue, GangQueue):
            return desk.give_together(self.queue, self.queue.min, self.queue.min)
        return self.give(desk)

    def block(self, reason: WaitReason, message: str) -> None:
        """It starts nothing more in this decision."""
        self.reason, self.message = reason, message


def lines_of(asks: Iterable[Ask], engine: str) -> Iterator[Line]:
    """The lines of what is asked; replicas above a fleet's least number stand in one of their own."""
    for ask in asks:
        queue, own = ask.queue, ask.engine == engine
        line = Line(ask, own, _left(queue))
        if line.left or (isinstance(queue, CampaignQueue) and queue.ready):
            yield line
        if isinstance(queue, FleetQueue):
            above = min(queue.max - max(queue.standing, queue.min), len(queue.ready) - line.left)
            if above > 0:
                yield Line(ask, own, above, below=line)


def _left(queue: Queue) -> int:
    if isinstance(queue, GangQueue):
        return 1
    if isinstance(queue, FleetQueue):
        return max(0, min(queue.min - queue.standing, len(queue.ready)))
    return max(0, min(len(queue.ready), queue.window.max - queue.running))


@dataclass(slots=True)
class Counter:
    """The desk, and all that was given at it, so that another can be laid out alike."""

    state: LocalState
    desk: Desk = field(init=False)
    given: list[Gained] = field(default_factory=list)
    kept: list[tuple[Line, frozenset[DeviceId], int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.desk = Desk(self.state)

    def give(self, line: Line) -> tuple[Allocation, ...]:
        """Devices for the next start of a line; they are noted."""
        found = line.give(self.desk)
        if found:
            self.given.append((line, found))
        return found

    def undo(self) -> None:
        """Take back what was given last."""
        self.given.pop()
        self.desk = self.laid_out(self.state)

    def keep(self, line: Line, ids: frozenset[DeviceId], memory: int) -> None:
        """Keep free devices for a line from all that come later."""
        self.kept.append((line, ids, memory))
        self.desk.keep(ids, memory)

    def laid_out(self, state: LocalState, *, without: Line | None = None) -> Desk:
        """A desk over another state, with all that was given and kept, but for what is kept for one line."""
        desk = Desk(state)
        for line, allocations in self.given:
            for allocation in allocations:
                desk.hold(line.queue, allocation)
        for line, ids, memory in self.kept:
            if line is not without:
                desk.keep(ids, memory)
        return desk


def freed(state: LocalState, held: Iterable[Holding]) -> LocalState:
    """The state once these have ended."""
    ended = list(held)
    left = list(state.shares)
    for share in (share for each in ended for share in each.shares):
        if share in left:
            left.remove(share)
    memory = sum(each.memory_bytes for each in ended)
    free = None if state.free_memory is None else state.free_memory + memory
    devices = {device for each in ended for device in each.devices}
    return replace(state, taken=state.taken - devices, shares=tuple(left), free_memory=free)
