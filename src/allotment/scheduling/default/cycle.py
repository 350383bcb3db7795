"""One round of the default scheduler: every pod that is due, one after the other.

Each sees what the ones before took. The order is priority, then since when a pod waits (PrioritySort). A pod
takes the best of the nodes that were looked at; the search goes on next time where it stopped. Of pods that
no filter can tell apart the later ones fail as the first did: within a round nothing is given back. The rules
are those of ``schedule_one.go`` and, for gangs, of the plugin ``gangscheduling``. Of nodes that score alike
the scheduler takes one by chance (``selectHost``): which it is comes in, as a rule or as a lot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

from allotment.devices.allocation import AllocationError
from allotment.scheduling.default.decisions import Bound, Decision, Preempted, Waits, refused
from allotment.scheduling.default.devices import named
from allotment.scheduling.default.ground import Ground
from allotment.scheduling.default.memory import Failed, Held, Memory
from allotment.scheduling.default.preempting import Rooms
from allotment.scheduling.default.scoring import Candidate, scores
from allotment.scheduling.default.settings import Gangs
from allotment.scheduling.state.copying import copied
from allotment.scheduling.state.pods import Gang, Pod
from allotment.scheduling.state.state import State

APPEARING = "waiting for minCount pods from a gang to appear in scheduling queue"
HOLDING = "waiting for minCount pods from a gang to be scheduled"


Lot = Callable[[str, int], int]
"""Draws for a pod, by name, which of so many it gets: what the scheduler itself does among equal nodes."""


class Ties(StrEnum):
    """Which of the nodes that score best is taken, where none is drawn."""

    FIRST = "first"  # the one that was looked at first
    NAME = "name"  # the one whose name sorts first
    LAST = "last"  # the one that was looked at last


def decide(
    state: State, memory: Memory, now: float, ties: Ties | Lot = Ties.FIRST
) -> tuple[tuple[Decision, ...], Memory]:
    """What is decided in this round, and what is to be remembered."""
    before, changes = memory, list(state.pods.changes(memory.seen.pods if memory.seen else None))
    memory = before.caught_up(state, changes)
    ground = Ground.of(state, before, memory, changes)
    desk = _Desk(state, memory, now, ties, ground)
    desk.give_up()
    for pod in desk.due():
        desk.take(pod)
    result = copied(
        memory,
        start=desk.start,
        failed=desk.failed,
        held=desk.held,
        bound=frozenset(desk.started),
        nominated=desk.rooms.nominated,
        ground=ground,
        turn=ground.turn,
    )
    return tuple(desk.decisions), result


def applied(state: State, decisions: Iterable[Decision]) -> State:
    """The state in which the decisions are carried out."""
    changes: dict[str, Pod | None] = {}
    for each in decisions:
        pod = state.pods.get(each.pod)
        if pod is not None and isinstance(each, Bound):
            changes[each.pod] = replace(pod, node=each.node, allocations=each.allocations)
        elif pod is not None and isinstance(each, Preempted):
            changes[each.pod] = replace(pod, leaving=True)
    return state.with_pods(changes)


@dataclass(slots=True)
class _Desk:
    """A round under way."""

    state: State
    memory: Memory
    now: float
    ties: Ties | Lot
    ground: Ground
    decisions: list[Decision] = field(default_factory=list)
    start: int = field(init=False)
    failed: dict[str, Failed] = field(init=False)
    held: dict[str, Held] = field(init=False)
    rooms: Rooms = field(init=False)
    hopeless: dict[int, Waits] = field(default_factory=dict)
    gangs: dict[str, list[Pod]] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    started: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.start, self.failed = self.memory.start, dict(self.memory.failed)
        self.held = dict(self.memory.held)
        self.rooms = Rooms(self.ground, self.state.pods, dict(self.memory.nominated))
        self.ground.nominates(self.rooms.nominated)
        if self.memory.settings.gangs is not Gangs.UNKNOWN:
            for pod in self.state.pods.values():
                if pod.gang is not None and pod.gang in self.state.gangs:
                    self.gangs.setdefault(pod.gang, []).append(pod)

    def due(self) -> list[Pod]:
        """The pods to look at, in order."""
        waiting = [
            pod
            for pod in self.ground.waiting.values()
            if pod.key not in self.held and self.memory.may_try(pod.key, self.now)
        ]
        return sorted(waiting, key=self._rank)

    def _rank(self, pod: Pod) -> tuple[int, float, float, str]:
        known = self.failed.get(pod.key)
        return -pod.priority, known.at if known else pod.created, pod.created, pod.key

    def give_up(self) -> None:
        """Those that have kept a place for too long give it back."""
        late = {
            self.state.pods[key].gang
            for key, each in self.held.items()
            if self.now >= each.since + self.memory.settings.hold
        }
        for key in [key for key in self.held if self.state.pods[key].gang in late]:
            held = self.held.pop(key)
            self.ground.remove(self.state.pods[key], held.node, held.allocations)
            self._fail(Waits(key, HOLDING))

    def take(self, pod: Pod) -> None:
        """Look at one pod, or at the gang that it belongs to."""
        if pod.key in self.done:
            return
        members = self.gangs.get(pod.gang or "")
        if members is None:
            self._alone(pod)
            return
        gang = self.state.gangs[pod.gang or ""]
        if len(members) < gang.minimum:
            self.decisions.append(Waits(pod.key, APPEARING))
        elif self.memory.settings.gangs is Gangs.HELD:
            self._hold(pod, gang, members)
        else:
            self._together(gang, members)

    def _alone(self, pod: Pod) -> None:
        """Place a pod that belongs to no gang, where room was made for it rather than elsewhere."""
        kept = self.rooms.give_up(pod)
        found = (None if kept is None else self._on(pod, kept)) or self._place(pod)
        if not isinstance(found, Waits):
            self._bind(pod, found)
            return
        self._fail(found)
        if self.memory.settings.preempts and not found.error:
            self.decisions += self.rooms.make(pod, kept, partial(self._draw, f"{pod.key} preempts"))

    def _on(self, pod: Pod, node: str) -> Candidate | None:
        """A node as the place of a pod, if it is one."""
        ground = self.ground
        number = ground.numbers.get(node)
        if number is None:
            return None
        answers = ground.answers_for(pod)
        try:
            found = answers.found.get(number) or ground.look(pod, number, answers)
        except AllocationError:
            return None
        return found and replace(found, allocations=named(pod, found.allocations, ground.shared))

    def _hold(self, pod: Pod, gang: Gang, members: list[Pod]) -> None:
        """Find a place and keep it until there are enough."""
        found = self._place(pod)
        if isinstance(found, Waits):
            self._fail(found)
            return
        self.ground.put(pod, found.node.name, found.allocations)
        self.held[pod.key] = Held(found.node.name, found.allocations, self.now)
        placed = sum(
            each.node is not None or each.key in self.held or each.key in self.started for each in members
        )
        if placed < gang.minimum:
            self.decisions.append(Waits(pod.key, HOLDING))
            return
        for each in members:
            held = self.held.pop(each.key, None)
            if held is not None:
                self._told(Bound(each.key, held.node, held.allocations))

    def _together(self, gang: Gang, members: list[Pod]) -> None:
        """Place a gang in one go, greedily: no pod gives way to another."""
        waiting = sorted((each for each in members if each.node is None), key=self._rank)
        self.done.update(each.key for each in waiting)
        places: list[tuple[Pod, Candidate]] = []
        refusals: list[Waits] = []
        for each in waiting:
            found = self._place(each)
            if isinstance(found, Waits):
                refusals.append(found)
            else:
                self.ground.put(each, found.node.name, found.allocations)
                places.append((each, found))
        standing = len(members) - len(waiting)
        if standing + len(places) >= gang.minimum:
            for each, found in places:
                self._told(Bound(each.key, found.node.name, found.allocations))
        else:
            for each, found in places:
                self.ground.remove(each, found.node.name, found.allocations)
                self._fail(Waits(each.key, HOLDING))
            if places:
                self.hopeless.clear()  # what those took that did not stay is free again
        for refusal in refusals:
            self._fail(refusal)

    def _place(self, pod: Pod) -> Candidate | Waits:
        """The best node for a pod, or why there is none."""
        kind = self.ground.kinds.of(pod)
        known = self.hopeless.get(kind)
        if known is not None:
            return Waits(pod.key, known.message, known.error)
        fault = self.ground.index.fault_of(pod) if self.ground.index and pod.claims else None
        if fault is not None:
            return Waits(pod.key, f"0/{len(self.ground.nodes)} nodes are available: {fault}.")
        try:
            found = self._best(pod)
        except AllocationError as error:
            return Waits(pod.key, str(error), error=True)
        if isinstance(found, Waits):
            self.hopeless[kind] = found
        return found

    def _best(self, pod: Pod) -> Candidate | Waits:
        """Go round the nodes from where the last search stopped until there are enough candidates."""
        ground = self.ground
        nodes = len(ground.nodes)
        enough = self.memory.settings.enough(nodes)
        answers = ground.answers_for(pod)
        while True:
            numbers = answers.in_order(self.start, enough)
            new = [number for number in numbers if number not in answers.found]
            if None not in [ground.look(pod, number, answers) for number in new]:
                break
            answers.close()
        candidates = [answers.found[number] for number in numbers]
        if numbers and len(numbers) == enough:
            self.start = (numbers[-1] + 1) % nodes
        if not candidates:
            return Waits(pod.key, refused(nodes, answers.why()))
        chosen = self._chosen(pod, candidates)
        allocations = named(pod, chosen.allocations, ground.shared)
        return chosen if allocations == chosen.allocations else replace(chosen, allocations=allocations)

    def _chosen(self, pod: Pod, candidates: list[Candidate]) -> Candidate:
        found, ties = scores(candidates), self.ties
        most = max(found)
        if ties is Ties.FIRST:
            return candidates[found.index(most)]
        best = [each for each, score in zip(candidates, found, strict=True) if score == most]
        if isinstance(ties, Ties):
            return best[-1] if ties is Ties.LAST else min(best, key=lambda each: each.node.name)
        return best[self._draw(self._tried(pod), len(best))] if len(best) > 1 else best[0]

    def _tried(self, pod: Pod) -> str:
        """What a pod draws under: a gang that found no room is to try other places the next time."""
        known = self.failed.get(pod.key) if pod.gang is not None else None
        return f"{pod.key} {known.attempts}" if known else pod.key

    def _draw(self, name: str, many: int) -> int:
        """One of so many, where nothing tells which."""
        return 0 if isinstance(self.ties, Ties) else self.ties(name, many)

    def _bind(self, pod: Pod, found: Candidate) -> None:
        self.ground.put(pod, found.node.name, found.allocations)
        self._told(Bound(pod.key, found.node.name, found.allocations))

    def _told(self, bound: Bound) -> None:
        self.failed.pop(bound.pod, None)
        self.started.add(bound.pod)
        self.decisions.append(bound)

    def _fail(self, waits: Waits) -> None:
        known = self.failed.get(waits.pod)
        attempts = known.attempts + 1 if known else 1
        self.failed[waits.pod] = Failed(attempts, self.now, woken=waits.error, erred=waits.error)
        self.decisions.append(waits)
