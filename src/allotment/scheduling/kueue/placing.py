"""Places for the pods of an assignment, and what becomes of it where there are none.

A workload that fits by quota but finds no place would have to evict others; if it would find none even with
all placed workloads gone, it does not fit at all. The rules are those of the end of ``assignFlavors``, of
``WorkloadsTopologyRequests`` and of ``updateAssignmentForTAS``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from allotment.scheduling.kueue.assignment import Assignment, Attempt, Mode, PodSetChoice
from allotment.scheduling.kueue.charges import DomainUse, Info
from allotment.scheduling.kueue.decisions import Reason
from allotment.scheduling.kueue.flavors import is_placed, place_implied
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.ground import Ground
from allotment.scheduling.kueue.topology.asking import Ask
from allotment.scheduling.kueue.topology.finding import Found, find
from allotment.scheduling.kueue.tree import Node
from allotment.scheduling.state.nodes import Toleration
from allotment.scheduling.state.queues import MULTIKUEUE, PROVISIONING, ClusterQueue
from allotment.scheduling.state.workloads import Admission, Placement, PodSet, Workload

PENDING = "Pending"
READY = "Ready"

NO_CACHE = "workload requires Topology, but there is no TAS cache information"
NOT_ELASTIC = "{} topology is not supported with ElasticJobsViaWorkloadSlices"
NO_FLAVOR = "no TAS flavor assigned"

Asks = dict[str, list[Ask]]


def asks_of(ground: Ground, node: Node, info: Info, assignment: Assignment) -> Asks:
    """What is to be placed, by flavor; a pod set with a fault of its own is marked with it."""
    asks: Asks = {}
    for pods in info.workload.pod_sets:
        if not is_placed(ground, node, pods):
            continue
        choice = assignment.of(pods.name)
        if choice.error is not None or choice.count == 0:
            continue
        if choice.placement is not None and not _on_failed_node(choice, info.workload):
            continue
        fault = _not_elastic(ground, info.workload, pods)
        ask = fault or _ask(ground, node, info.workload, pods, choice)
        if isinstance(ask, str):
            choice.error = ask
            assignment.fixed = None
        elif ask is not None:
            previous = placement_of(assignment.standing, pods.name)
            asks.setdefault(ask.flavor, []).append(replace(ask, previous=previous))
    return asks


def _not_elastic(ground: Ground, workload: Workload, pods: PodSet) -> str | None:
    """Why an elastic workload cannot be placed so: its pods have to be free to stand anywhere."""
    if not workload.elastic or not ground.settings.on(Gate.ELASTIC_PLACED) or pods.topology is None:
        return None
    asked = {"required": pods.topology.required, "preferred": pods.topology.preferred}
    return next((NOT_ELASTIC.format(way) for way, level in asked.items() if level is not None), None)


def placement_of(admission: Admission | None, name: str) -> Placement | None:
    """Where the pods of a set stand."""
    given = admission.pod_sets if admission else ()
    return next((each.placement for each in given if each.name == name), None)


def _on_failed_node(choice: PodSetChoice, workload: Workload) -> bool:
    domains = choice.placement.domains if choice.placement else ()
    return any(domain.values[-1] in workload.unhealthy for domain in domains)


def _ask(
    ground: Ground, node: Node, workload: Workload, pods: PodSet, choice: PodSetChoice
) -> Ask | str | None:
    places = ground.places_of(node)
    if not places:
        return NO_CACHE
    flavors = sorted({each.flavor for each in choice.choices.values() if each.flavor in places})
    if not flavors:
        return NO_FLAVOR
    if len(flavors) > 1:
        return f"more than one TAS flavor assigned: {', '.join(flavors)}"
    flavor = flavors[0]
    if _delayed(node.queue, workload, flavor):
        choice.delayed = PENDING
        return None
    selector: dict[str, str] = {}
    tolerations: list[Toleration] = []
    for check in workload.checks:
        if check.state == READY:
            selector.update(check.node_selectors.get(pods.name, {}))
            tolerations += check.tolerations.get(pods.name, ())
    return Ask(pods, choice.count, flavor, place_implied(ground, node, pods), selector, tuple(tolerations))


def _delayed(queue: ClusterQueue | None, workload: Workload, flavor: str) -> bool:
    """Whether the place is found later: by another cluster, or when nodes are provisioned."""
    checks = queue.checks if queue else ()
    if any(check.controller == MULTIKUEUE for check in checks):
        return True
    provisioned = any(check.controller == PROVISIONING and flavor in check.flavors for check in checks)
    return provisioned and not workload.reserved


def place(ground: Ground, node: Node, info: Info, assignment: Assignment) -> None:
    """Give the pods of an assignment their places."""
    asks = asks_of(ground, node, info, assignment)
    places, settings = ground.places_of(node), ground.settings
    if assignment.mode is Mode.FIT:
        found = find(places, asks, info.workload, settings)
        if found.failure is None:
            take_places(ground, node, info, assignment, found)
        else:
            assignment.of(found.failure.pod_set).reasons.append(found.failure.message)
            assignment.set_mode(Mode.PREEMPT, [found.failure.pod_set])
    if assignment.mode is Mode.PREEMPT and not info.workload.unhealthy:
        found = find(places, asks, info.workload, settings, empty=True)
        if found.failure is not None:
            choice = assignment.of(found.failure.pod_set)
            if settings.on(Gate.OBSERVABLE) and found.failure.flavor in choice.attempts:
                choice.attempts[found.failure.flavor] = Attempt(Mode.NO_FIT, Reason.PLACEMENT)
            assignment.set_mode(Mode.NO_FIT, [found.failure.pod_set])
            return
        names = [ask.pods.name for each in asks.values() for ask in each]
        if names:
            assignment.set_mode(Mode.PREEMPT, names)


def take_places(ground: Ground, node: Node, info: Info, assignment: Assignment, found: Found) -> None:
    """Note the places that were found."""
    for name, placement in found.placements.items():
        choice = assignment.of(name)
        choice.placement = placement
        if placement is not None and choice.delayed is not None:
            choice.delayed = READY
    assignment.placed = newly_placed(ground, node, info, assignment, None)


def newly_placed(
    ground: Ground, node: Node, info: Info, assignment: Assignment, admission: Admission | None
) -> dict[str, tuple[DomainUse, ...]]:
    """What an assignment takes of places beyond what an admission holds already."""
    places = ground.places_of(node)
    taken: dict[str, tuple[DomainUse, ...]] = {}
    for choice in assignment.pod_sets:
        if choice.placement is None:
            continue
        flavors = {each.flavor for each in choice.choices.values() if each.flavor in places}
        if len(flavors) != 1:
            continue
        pods = next(each for each in info.workload.pod_sets if each.name == choice.name)
        known = _standing(admission, choice.name)
        uses: Sequence[DomainUse] = [
            DomainUse(domain.values, pods.pod, domain.count - known.get(domain.values, 0))
            for domain in choice.placement.domains
        ]
        flavor = flavors.pop()
        more = tuple(use for use in uses if use.count > 0)
        if more:
            taken[flavor] = (*taken.get(flavor, ()), *more)
    return taken


def _standing(admission: Admission | None, name: str) -> dict[tuple[str, ...], int]:
    counts: dict[tuple[str, ...], int] = {}
    for given in admission.pod_sets if admission else ():
        if given.name == name and given.placement is not None:
            for domain in given.placement.domains:
                counts[domain.values] = counts.get(domain.values, 0) + domain.count
    return counts


def place_after(
    ground: Ground, node: Node, info: Info, assignment: Assignment, targets: Sequence[Info]
) -> None:
    """Places for a workload that waits for evictions: those that are free when its victims are gone.

    Without victims the places are those of an empty cluster: they are kept from workloads behind it.
    """
    if assignment.mode is not Mode.PREEMPT or _on_failed(info.workload):
        return
    explicit = any(pods.topology is not None and pods.topology.explicit for pods in info.workload.pod_sets)
    if not explicit and not ground.only_places(node):
        return
    asks = asks_of(ground, node, info, assignment)
    places = ground.places_of(node)
    if targets:
        with ground.without_use(targets):
            found = find(places, asks, info.workload, ground.settings)
    else:
        found = find(places, asks, info.workload, ground.settings, empty=True)
    take_places(ground, node, info, assignment, found)


def _on_failed(workload: Workload) -> bool:
    if not workload.unhealthy or workload.admission is None:
        return False
    return any(
        domain.values[-1] in workload.unhealthy
        for given in workload.admission.pod_sets
        if given.placement is not None
        for domain in given.placement.domains
    )
