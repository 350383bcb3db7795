"""A place for every pod set of a workload that wants one, or the first reason why there is none.

Sets that belong together (a leader and its workers) are placed as one; each set sees what the ones before it
took. A workload that stands on a node that failed keeps the rest of its places. The rules are those of
``FindTopologyAssignmentsForFlavor`` and ``FindTopologyAssignmentsForWorkload``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.settings import Settings
from allotment.scheduling.kueue.topology.asking import Ask, NodeNeeds, wish_of
from allotment.scheduling.kueue.topology.balancing import balance
from allotment.scheduling.kueue.topology.choosing import choose
from allotment.scheduling.kueue.topology.counting import Counts, Room
from allotment.scheduling.kueue.topology.domains import domain_id
from allotment.scheduling.kueue.topology.growing import Growth
from allotment.scheduling.kueue.topology.places import Places, Taken, take
from allotment.scheduling.kueue.topology.replacing import Repair, repaired
from allotment.scheduling.kueue.topology.spreading import Spread, spread
from allotment.scheduling.state.workloads import Placement, Workload

Asks = Mapping[str, Sequence[Ask]]


@dataclass(frozen=True, slots=True)
class Failure:
    """The pod set that finds no place, the flavor, and why."""

    pod_set: str
    flavor: str
    message: str


@dataclass(slots=True)
class Found:
    """The places by pod set, up to the first failure."""

    placements: dict[str, Placement | None] = field(default_factory=dict)
    failure: Failure | None = None


def find(
    places: Mapping[str, Places],
    asks: Asks,
    workload: Workload,
    settings: Settings,
    *,
    empty: bool = False,
) -> Found:
    """Places for the sets; ``empty`` looks as if no placed workload were there."""
    found = Found()
    joint: Taken = {}
    for flavor in sorted(asks):
        here = places[flavor]
        shared = settings.on(Gate.OVERLAPPING_FLAVORS) and here.domains.by_node
        finder = Finder(here, workload, settings, joint if shared else {}, empty=empty)
        for pod_set, placement, message in finder.find(asks[flavor]):
            found.placements[pod_set] = placement
            if message and found.failure is None:
                found.failure = Failure(pod_set, flavor, message)
    return found


@dataclass(slots=True)
class Finder:
    """The search in one flavor; ``assumed`` is what sets found so far take."""

    places: Places
    workload: Workload
    settings: Settings
    assumed: Taken
    empty: bool = False

    def find(self, asks: Sequence[Ask]) -> list[tuple[str, Placement | None, str]]:
        """Name, placement and message of each set, ending with the first that finds none."""
        answers: list[tuple[str, Placement | None, str]] = []
        for together in _grouped(asks):
            new = self._repair(together) if self.workload.unhealthy else self._place(together)
            answers += new
            if any(message for _name, _placement, message in new):
                break
        return answers

    def _repair(self, together: Sequence[Ask]) -> list[tuple[str, Placement | None, str]]:
        answers: list[tuple[str, Placement | None, str]] = []
        given = self.workload.admission.pod_sets if self.workload.admission else ()
        for ask in together:
            existing = next((each.placement for each in given if each.name == ask.pods.name), None)
            if existing is None:
                continue
            if self.settings.on(Gate.KEEP_PODS) and self.workload.owned_by_pod:
                answers.append((ask.pods.name, existing, ""))
                continue
            result = repaired(self.places.domains, ask, existing, self.workload.unhealthy[0], self._search)
            if isinstance(result, str):
                answers.append((ask.pods.name, None, result))
                break
            answers.append((ask.pods.name, result.whole, ""))
            self._assume(ask, result.new)
        return answers

    def _search(self, repair: Repair) -> Placement | str:
        result = self.search(repair.ask, None, within=repair.within)
        return result if isinstance(result, str) else result.workers

    def _place(self, together: Sequence[Ask]) -> list[tuple[str, Placement | None, str]]:
        leader, workers = _leader_and_workers(together)
        if self.settings.on(Gate.ELASTIC_PLACED):
            kept = Growth(self.places.domains, self.search, self._assume).place(workers, leader)
            if kept is not None:
                return kept
        result = self.search(workers, leader)
        if isinstance(result, str):
            return [(ask.pods.name, None, result) for ask in together]
        for ask in together:
            self._assume(ask, result.leader if ask is leader else result.workers)
        return [(ask.pods.name, result.leader if ask is leader else result.workers, "") for ask in together]

    def _assume(self, ask: Ask, placement: Placement | None) -> None:
        for use in ask.uses(placement) if placement else ():
            take(self.assumed, domain_id(use.values), use)

    def search(self, workers: Ask, leader: Ask | None, *, within: str = "") -> Spread | str:
        """One placement, or why there is none."""
        wish = wish_of(workers, self.places.domains, leaders=1 if leader else 0)
        if isinstance(wish, str):
            return wish
        counts = Counts(self.places, self._room(workers, leader, within), wish)
        if self.settings.on(Gate.BALANCED) and not wish.required and not wish.loose:
            balanced = balance(counts, wish)
            if balanced is not None:
                return spread(balanced[1], wish, balanced[0], mixed=self._mixed, by_parent=True)
        chosen = choose(counts, wish, wish.level, mixed=self._mixed)
        if isinstance(chosen, str):
            return chosen
        return spread(counts, wish, chosen, mixed=self._mixed)

    @property
    def _mixed(self) -> bool:
        return self.settings.on(Gate.MIXED)

    def _room(self, workers: Ask, leader: Ask | None, within: str) -> Room:
        selector = {**workers.pods.node_selector, **workers.selector}
        needs = NodeNeeds(
            (*workers.pods.tolerations, *workers.tolerations, *self.places.flavor.tolerations),
            tuple(sorted(selector.items())),
            workers.pods.affinity,
        )
        preferred = workers.pods.preferred if self.settings.on(Gate.PREFERRED_NODES) else ()
        leading = leader.pod if leader else None
        return Room(workers.pod, leading, needs, self.assumed, preferred, within, self.empty)


def _grouped(asks: Sequence[Ask]) -> list[list[Ask]]:
    groups: dict[str, list[Ask]] = {}
    for index, ask in enumerate(asks):
        groups.setdefault(ask.group if ask.group is not None else str(index), []).append(ask)
    return list(groups.values())


def _leader_and_workers(together: Sequence[Ask]) -> tuple[Ask | None, Ask]:
    """Of two sets the smaller is the leader, of two equal ones the second."""
    if len(together) < 2:
        return None, together[0]
    first, second = together[0], together[1]
    return (first, second) if second.count > first.count else (second, first)
