"""In which order the heads of a cycle are admitted.

Without fair sharing: who has quota already, who stays within quota, the important, the earliest. With it a
tournament is held in each tree again after every admission: of each cohort's children the one wins whose
share would be least with its workload, and its workload goes on to the next round. The rules are those of
``makeClassicalIterator`` and ``fairSharingIterator`` in ``pkg/scheduler``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from allotment.scheduling.kueue.entries import Entry, Take
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.ground import Ground
from allotment.scheduling.kueue.settings import Settings
from allotment.scheduling.kueue.shares import Share, share_of
from allotment.scheduling.kueue.tree import Cell, Node

Precedence = tuple[bool, bool, tuple[int, float], int, float]


def in_order(ground: Ground, entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries one by one; what is done with each is seen before the next is chosen."""
    if ground.settings.fair is not None:
        return _fairly(ground, entries)
    settings = ground.settings
    preemptors, priorities = settings.on(Gate.PREEMPTORS_FIRST), settings.on(Gate.PRIORITIES)

    def rank(entry: Entry) -> tuple[bool, bool, int, int, float]:
        return (
            not entry.info.workload.reserved,
            preemptors and not entry.preemptor,
            entry.assignment.borrowing,
            -entry.info.priority if priorities else 0,
            entry.time,
        )

    return iter(sorted(entries, key=rank))


def _fairly(ground: Ground, entries: Iterable[Entry]) -> Iterator[Entry]:
    left: dict[Node, Entry] = {}
    for entry in entries:
        left[ground.node(entry.info)] = entry
    while left:
        node = next(iter(left))
        if node.parent is not None:
            node = Tournament(ground, left).winner(node.root)
        yield left.pop(node)


@dataclass(slots=True)
class Tournament:
    """One tournament among the workloads that are left in a tree."""

    ground: Ground
    left: dict[Node, Entry]
    _shares: dict[tuple[Node, Node], Share] = field(default_factory=dict)
    _takes: dict[Node, Take] = field(default_factory=dict)

    def winner(self, root: Node) -> Node:
        """The queue whose workload is the next."""
        for queue in root.leaves():
            if queue in self.left:
                self._measure(queue)
        return self._best(root) or root

    def _measure(self, queue: Node) -> None:
        """The shares on the way from a queue to the root, with its workload admitted."""
        take = self.left[queue].takes(self.ground)
        self._takes[queue] = take
        usage = self.ground.usage
        with self.ground.with_use(queue, take.cells, take.placed):
            share = share_of(usage, queue)
            for cohort in queue.above():
                self._shares[queue, cohort] = share
                share = share_of(usage, cohort)

    def _best(self, cohort: Node) -> Node | None:
        found = [winner for child in cohort.cohorts if (winner := self._best(child)) is not None]
        found += [queue for queue in cohort.queues if queue in self.left]
        best: Node | None = None
        for queue in found:
            if best is None or self._before(queue, best, cohort):
                best = queue
        return best

    def _before(self, left: Node, right: Node, cohort: Node) -> bool:
        return self._rank(left, cohort) < self._rank(right, cohort)

    def _rank(self, queue: Node, cohort: Node) -> Precedence:
        cells = self._takes[queue].cells
        return precedence(self.left[queue], self._shares[queue, cohort], cells, self.ground.settings)


def precedence(entry: Entry, share: Share, cells: Mapping[Cell, int], settings: Settings) -> Precedence:
    """What decides a round between two entries: the smaller one wins (``entryComparer``)."""
    return (
        settings.on(Gate.PREEMPTORS_FIRST) and not entry.preemptor,
        settings.on(Gate.NON_BORROWING_FIRST) and share.borrows_any(cells),
        share.rank,
        -entry.info.priority if settings.on(Gate.PRIORITIES) else 0,
        entry.time,
    )
