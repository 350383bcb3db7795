"""One scheduling cycle: the heads of all queues are nominated, put in order, and decided one by one.

The whole of it is a pure function of the state and of what is remembered. It is ``schedule`` in
``pkg/scheduler``; what the manager does between two cycles is done first (``catching_up``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from allotment.scheduling.kueue.catching_up import caught_up
from allotment.scheduling.kueue.charges import Info, info_of
from allotment.scheduling.kueue.decisions import Decision, Kept, Requeue, Waits
from allotment.scheduling.kueue.entries import Entry, Outcome
from allotment.scheduling.kueue.fading import line_uses, line_values, with_admitted
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.ground import Ground
from allotment.scheduling.kueue.memory import Memory, SecondLook
from allotment.scheduling.kueue.nominating import Nominator, fault_of
from allotment.scheduling.kueue.ordering import in_order
from allotment.scheduling.kueue.pending import Pending, Queued, pop, requeue
from allotment.scheduling.kueue.processing import Processor
from allotment.scheduling.kueue.second_look import needs_second_look, wait_before
from allotment.scheduling.kueue.standing import is_ready
from allotment.scheduling.kueue.topology.places import places_of
from allotment.scheduling.kueue.tree import grow
from allotment.scheduling.kueue.usage import Usage
from allotment.scheduling.state.queues import BY_USAGE
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State


class Ties(StrEnum):
    """Who goes first of two that Kueue itself would take in any order."""

    LISTED = "listed"  # the one whose ClusterQueue the state lists first
    NAME = "name"  # the one whose ClusterQueue's name sorts first


def decide(
    state: State, memory: Memory, now: float, ties: Ties = Ties.LISTED
) -> tuple[tuple[Decision, ...], Memory]:
    """What is decided in this cycle, and what is to be remembered."""
    memory = caught_up(memory, state, now)
    memory = replace(memory, uses=line_uses(memory, state, now))
    cycle = _Cycle.begin(state, memory, now)
    heads = cycle.heads(sorted(state.cluster_queues) if ties is Ties.NAME else list(state.cluster_queues))
    if not heads:
        return (), cycle.result([], looked=False)
    entries, refused = cycle.nominate(heads)
    processor = Processor(
        cycle.ground, cycle.nominator, all_ready=not memory.settings.block_admission or _all_ready(memory)
    )
    for entry in in_order(cycle.ground, entries):
        processor.process(entry)
    for entry in (*entries, *refused):
        if entry.outcome not in {Outcome.ASSUMED, Outcome.EVICTED}:
            processor.decisions += cycle.return_to_line(entry)
    return tuple(processor.decisions), cycle.result(entries)


def _all_ready(memory: Memory) -> bool:
    return all(
        info.workload.pods_ready
        for infos in memory.held.values()
        for info in infos.values()
        if info.workload.admitted or info.workload.reserved
    )


def reason_to_requeue(outcome: Outcome, why: Requeue) -> Requeue:
    """Why an entry goes back: one that came further and fails for no other reason may try at once."""
    late = outcome is not Outcome.NOT_NOMINATED and why is Requeue.GENERIC
    return Requeue.AFTER_NOMINATION if late else why


@dataclass(slots=True)
class _Cycle:
    """A cycle under way: the lines change, everything else is tried on the ground."""

    state: State
    memory: Memory
    ground: Ground
    nominator: Nominator
    lines: dict[str, Pending]
    second: dict[str, SecondLook]

    @classmethod
    def begin(cls, state: State, memory: Memory, now: float) -> _Cycle:
        settings = memory.settings
        tree = memory.tree or grow(state)
        usage = memory.usage or Usage.nothing(tree)
        placed = settings.on(Gate.TOPOLOGY) and bool(memory.domains)
        everyone = (info for infos in memory.held.values() for info in infos.values())
        ground = Ground(
            tree=tree,
            usage=usage.fork(),
            held=memory.held,
            flavors=state.flavors,
            places=places_of(memory.domains, everyone, shared=settings.on(Gate.OVERLAPPING_FLAVORS))
            if placed
            else {},
            settings=settings,
            now=now,
            cycle=memory.cycle + 1,
            generations=memory.generations,
            lines=line_values(memory, state),
        )
        return cls(state, memory, ground, Nominator(ground), dict(memory.lines), dict(memory.second))

    def heads(self, order: list[str]) -> list[Entry]:
        """Who is looked at: those due for a second look, and the first of every active queue."""
        heads = [self._second(key) for key, look in list(self.second.items()) if look.at <= self.ground.now]
        for name in order:
            line = self.lines.get(name)
            if line is None or name in self.ground.tree.inactive:
                continue
            queued, self.lines[name] = pop(line, self._usage_of(name))
            if queued is not None:
                sticky = line.sticky
                preemptor = sticky is not None and sticky == replace(
                    sticky, key=queued.info.key, generation=queued.info.workload.generation
                )
                heads.append(Entry(queued, preemptor, progress=queued.progress))
        return heads

    def _second(self, key: str) -> Entry:
        look = self.second.pop(key)
        info = next(infos[key] for infos in self.memory.held.values() if key in infos)
        return Entry(
            Queued(info, (-info.priority, info.workload.created, info.workload.uid, key)), looks=look.times
        )

    def _usage_of(self, name: str) -> Callable[[Info], float] | None:
        if self.memory.settings.fading is None or self.state.cluster_queues[name].admission != BY_USAGE:
            return None
        lines = self.ground.lines
        return lambda info: lines.get(info.workload.queue_key, 0.0)

    def nominate(self, heads: list[Entry]) -> tuple[list[Entry], list[Entry]]:
        """What each would get, and those who are not looked at."""
        entries: list[Entry] = []
        refused: list[Entry] = []
        for entry in heads:
            if fault_of(self.ground, self.state, entry):
                refused.append(entry)
                continue
            assignment, targets = self.nominator.assign(entry.info, entry.progress)
            entry.record(assignment, targets)
            entries.append(entry)
        return entries, refused

    def return_to_line(self, entry: Entry) -> list[Decision]:
        """Put one back that was not admitted; what it is told."""
        key = entry.info.key
        entry.requeue = reason_to_requeue(entry.outcome, entry.requeue)
        if needs_second_look(entry.info):
            times = entry.looks + 1
            self.second[key] = SecondLook(self.ground.now + wait_before(times), times)
            return [Kept(key, entry.message)]
        if entry.info.workload.reserved:
            return []
        name = entry.info.cluster_queue
        queued = replace(entry.queued, progress=entry.progress, seen=entry.info.workload.generation)
        ready = is_ready(entry.info.workload, self.ground.now)
        if name in self.lines:
            strategy = self.state.cluster_queues[name].strategy
            self.lines[name] = requeue(
                self.lines[name], queued, strategy, entry.requeue, entry.reason, ready=ready
            )
        if entry.outcome is Outcome.NOMINATED:
            return []
        return [Waits(key, entry.reason, entry.message, entry.requeue)]

    def result(self, entries: list[Entry], *, looked: bool = True) -> Memory:
        """What is remembered: those who were admitted hold their quota already."""
        memory = replace(
            self.memory,
            cycle=self.ground.cycle if looked else self.memory.cycle,
            lines=self.lines,
            second=self.second,
        )
        admitted = [entry for entry in entries if entry.outcome is Outcome.ASSUMED]
        if not admitted:
            return memory
        held, usage = dict(memory.held), self._usage()
        assumed: dict[str, Info] = {}
        for entry in admitted:
            name = entry.info.cluster_queue
            workload = replace(
                entry.info.workload,
                admission=entry.assignment.admission(name),
                reserved=True,
                reserved_at=self.ground.now,
                waiting=None,
            )
            info = info_of(workload, name, memory.settings)
            node = self.ground.tree.queues[name]
            old = held.get(name, _EMPTY).get(info.key)
            if old is not None:
                usage.remove_all(node, old.cells)
            held[name] = held.get(name, _EMPTY).put({info.key: info})
            usage.add_all(node, info.cells)
            assumed[info.key] = info
        memory = replace(memory, held=held, usage=usage, assumed=assumed)
        return replace(memory, uses=with_admitted(memory, self.state, admitted))

    def _usage(self) -> Usage:
        return (self.memory.usage or Usage.nothing(self.ground.tree)).fork()


_EMPTY: Shelf[str, Info] = Shelf()
