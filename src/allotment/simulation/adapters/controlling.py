"""When the window controller looks, and at what: the rules themselves are in ``windows``.

It looks every so often, and soon after something happened to a Workload. A look at which nothing can have
changed is left out: the next one is then when a pause, a patience or a time to settle is over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from allotment.scheduling.kueue import Memory
from allotment.scheduling.kueue.tree import Tree
from allotment.scheduling.state.state import State
from allotment.simulation.adapters.kueue_jobs import Job
from allotment.simulation.adapters.quotas import Costs, Quotas, costs_of
from allotment.simulation.adapters.room import Room
from allotment.simulation.adapters.windows import Look, Move, Standing
from allotment.simulation.setting import Pace, WindowPace

Kind = tuple[object, ...]
"""A queue, and what a pod is charged there."""


class Books(Protocol):
    """What the controller reads."""

    state: State
    memory: Memory
    room: Room
    pace: Pace
    moved: dict[str, float]
    movable: int

    @property
    def jobs(self) -> Mapping[str, Job]:
        """The Jobs that are there."""

    def queue_of(self, job: Job) -> str:
        """The ClusterQueue of a Job."""


class Controller:
    """One that looks at the books of an adapter."""

    def __init__(self, books: Books, pace: WindowPace) -> None:
        self.books, self.pace = books, pace
        self.last = float("-inf")
        self.next: float | None = None
        self.tree: Tree | None = None
        self.most: dict[Kind, int] = {}

    def hears(self) -> None:
        """Something happened: it looks soon."""
        soon = self.last + max(self.pace.listens, self.books.pace.coarse)
        self.next = soon if self.next is None else min(self.next, soon)

    def is_due(self, now: float) -> bool:
        """Whether it looks now."""
        return self.next is not None and self.next <= now

    def look(self, now: float) -> list[Move]:
        """One look; it says when the next is worth it."""
        self.last, self.next = now, None
        quotas = Quotas.of(self.books.memory)
        if quotas is None or not self.books.movable:
            return []
        standings = list(self._standings(quotas))
        look = Look(standings, quotas, self.books.room.pods, self.pace, now, self.books.moved)
        moves = look.moves()
        self.next = min(self._times(look, moves, now), default=None)
        return moves

    def _standings(self, quotas: Quotas) -> Iterator[Standing]:
        """Jobs that may be moved, and of those that only wait one of each kind."""
        workloads = self.books.state.workloads
        kinds: dict[Kind, Costs] = {}
        seen: set[tuple[Kind, int]] = set()
        for job in self.books.jobs.values():
            if not (job.may_move or job.waits):
                continue
            queue = self.books.queue_of(job)
            if queue not in quotas.tree.queues:
                continue
            kind = (queue, *sorted(job.work.ask.charges.items()))
            if not job.may_move:
                if (kind, job.width) in seen:
                    continue
                seen.add((kind, job.width))
            granted = workloads.get(job.granted) if job.granted is not None else None
            if granted is not None and granted.admission is not None:
                costs = costs_of(granted.admission.pod_sets[0])
            else:
                costs = kinds.get(kind) or kinds.setdefault(kind, quotas.best(queue, job.work.ask.charges))
            yield Standing(job, queue, costs, self._possible(quotas, kind, job))

    def _possible(self, quotas: Quotas, kind: Kind, job: Job) -> int:
        """How many pods of a kind there could ever be."""
        if self.tree is not quotas.tree:
            self.tree, self.most = quotas.tree, {}
        known = self.most.get(kind)
        if known is None:
            queue = str(kind[0])
            best = quotas.best(queue, job.work.ask.charges, empty=True)
            known = self.most[kind] = quotas.most(queue, best)
        return known

    def _times(self, look: Look, moves: list[Move], now: float) -> Iterator[float]:
        """When something may be over that keeps a Job from being moved."""
        if moves:
            yield now + max(self.pace.listens, self.books.pace.coarse)
        waiting = any(each.job.waits for each in look.standings)
        for each in look.standings:
            job = each.job
            if job.waits and job.width > each.least and look.in_flux(each.queue):
                yield now + max(self.pace.interval, self.books.pace.coarse)
            if job.grows:
                yield max(now, job.stepped) + self.pace.patience
            elif job.granted is not None and job.width < each.most and self.pace.grows:
                settled = max(job.paused, job.stepped + self.pace.settle)
                if settled > now:
                    yield settled
                elif job.unplaced or look.may_grow(each):
                    yield now + max(self.pace.interval, self.books.pace.coarse)
            if waiting and job.granted is not None and job.stepped + self.pace.minimum_runtime > now:
                yield job.stepped + self.pace.minimum_runtime
