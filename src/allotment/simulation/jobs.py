"""What the Job controller knows of a work: which of its pods are to be made, and what became of its units.

An index is a pod's worth of units (``pack`` of them); the lowest that are not over are made first, at most as
many at once as may exist, and one whose pod is still on its way out counts. Of a fleet and of a gang the
indexes are replicas and workers. Facts: Indexed Jobs with ``backoffLimitPerIndex`` and a pod failure policy,
under which a pod is replaced when it is gone, and not before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from allotment.simulation.adapters.adapter import PodId
from allotment.simulation.work import Kind, Work

if TYPE_CHECKING:
    from allotment.simulation.runs import GangRun, Run

_OPEN, _COMPLETE, _FAILED = 0, 1, 2


@dataclass(slots=True)
class Job:
    """A work that has arrived, and how far it is; ``looks`` is when its controller looks at it next."""

    work: Work
    allowed: int = 0
    next: int = 0
    again: list[int] = field(default_factory=list)
    states: bytearray = field(default_factory=bytearray)
    done: dict[int, int] = field(default_factory=dict)
    failures: dict[int, int] = field(default_factory=dict)
    fruitless: dict[int, int] = field(default_factory=dict)
    attempts: dict[int, int] = field(default_factory=dict)
    existing: int = 0
    pending: dict[PodId, None] = field(default_factory=dict)
    runs: dict[PodId, Run] = field(default_factory=dict)
    gang: GangRun | None = None
    open_indexes: int = 0
    complete: int = 0
    failed: int = 0
    started: float | None = None
    finished: float | None = None
    looks: float = 0.0
    never: str = ""

    def __post_init__(self) -> None:
        work = self.work
        self.states = bytearray(len(work.units))
        for number, unit in enumerate(work.units):
            if unit.done >= unit.pages:
                self.states[number] = _COMPLETE
                self.complete += 1
            elif unit.done:
                self.done[number] = unit.done
        if work.kind is Kind.CAMPAIGN:
            self.open_indexes = sum(self.is_open(index) for index in range(self.indexes))
        else:
            self.open_indexes = self.indexes

    @property
    def indexes(self) -> int:
        """How many pods there can ever be beside each other."""
        if self.work.kind is Kind.CAMPAIGN:
            return -(-len(self.work.units) // self.work.pack)
        return self.work.most

    @property
    def left(self) -> int:
        """How many units are not over."""
        return len(self.work.units) - self.complete - self.failed

    @property
    def over(self) -> bool:
        """Whether nothing is left to do; of a fleet there always is."""
        return self.finished is not None or (self.work.kind is not Kind.FLEET and not self.left)

    @property
    def waiting(self) -> int:
        """How many pods it would have beside those that have a node."""
        if self.pending:
            return len(self.pending)
        return max(0, min(self.work.most, self.open_indexes) - self.existing)

    def units_of(self, index: int) -> range:
        """The units of an index."""
        first = index * self.work.pack
        return range(first, min(first + self.work.pack, len(self.work.units)))

    def open_units(self, index: int) -> list[int]:
        """Those of them that are not over."""
        return [unit for unit in self.units_of(index) if self.states[unit] == _OPEN]

    def is_open(self, index: int) -> bool:
        """Whether there is something left to do for a pod of this index."""
        if self.work.kind is not Kind.CAMPAIGN:
            return True
        return _OPEN in self.states[index * self.work.pack : (index + 1) * self.work.pack]

    def has_all_pages(self, index: int) -> bool:
        """Whether all pages of an index are done, though nobody took notice when the last was."""
        if self.work.kind is not Kind.CAMPAIGN or not self.done:
            return False
        return all(self.done.get(unit, 0) >= self.work.units[unit].pages for unit in self.open_units(index))

    def make(self) -> list[PodId]:
        """The pods that are to be made now, which count as made."""
        made: list[PodId] = []
        while self.existing < min(self.allowed, self.work.most) and (index := self._lowest()) is not None:
            attempt = self.attempts.get(index, 0)
            self.attempts[index] = attempt + 1
            pod = PodId(self.work.name, index, attempt)
            self.pending[pod] = None
            self.existing += 1
            made.append(pod)
        return made

    def _lowest(self) -> int | None:
        while self.again:
            index = heappop(self.again)
            if self.is_open(index):
                return index
        while self.next < self.indexes:
            self.next += 1
            if self.is_open(self.next - 1) and not self.attempts.get(self.next - 1):
                return self.next - 1
        return None

    def surplus(self) -> list[PodId]:
        """The pods without a node that are one too many, which are gone; the highest numbers first."""
        many = min(self.existing - self.allowed, len(self.pending))
        if many <= 0:
            return []
        gone = sorted(self.pending, reverse=True)[:many]
        for pod in gone:
            del self.pending[pod]
            self.existing -= 1
            heappush(self.again, pod.number)
        return gone

    def stands(self, index: int) -> PodId:
        """The pod of an index that runs already."""
        self.attempts[index] = 1
        self.existing += 1
        return PodId(self.work.name, index, 0)

    def progress(self, unit: int, done: int) -> int:
        """So many pages of a unit are done now; how many of them are new."""
        new = done - self.done.get(unit, 0)
        self.done[unit] = done
        return new

    def completes(self, unit: int) -> None:
        """A unit is complete."""
        self._ends(unit, _COMPLETE)
        self.complete += 1

    def fails(self, unit: int) -> None:
        """A unit has failed for good."""
        self._ends(unit, _FAILED)
        self.failed += 1

    def _ends(self, unit: int, state: int) -> None:
        index = unit // self.work.pack
        self.states[unit] = state
        self.done.pop(unit, None)
        self.failures.pop(unit, None)
        if self.work.kind is Kind.CAMPAIGN and not self.is_open(index):
            self.open_indexes -= 1
            self.fruitless.pop(index, None)

    def stumbles(self, unit: int) -> int:
        """A unit has failed once more, and perhaps once too often; how often that was."""
        number = self.failures.get(unit, 0) + 1
        self.failures[unit] = number
        if number > self.work.retries:
            self.fails(unit)
        return number

    def reclaimed(self, index: int, pages: int) -> None:
        """A pod was taken away after so many new pages; too many in a row without one are the end of it."""
        if pages:
            self.fruitless.pop(index, None)
            return
        self.fruitless[index] = self.fruitless.get(index, 0) + 1
        if self.fruitless[index] >= self.work.reclaims and self.work.kind is Kind.CAMPAIGN:
            for unit in self.open_units(index):
                self.fails(unit)

    def replace(self, index: int) -> None:
        """The pod of an index is gone for good, and another may be made."""
        if self.is_open(index):
            heappush(self.again, index)
