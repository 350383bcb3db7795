"""Whether a flavor is at all for a pod set: taints, node labels, and whether either is about topology.

A pod set that asks for a place gets one only from flavors with a topology that has its levels; one that does
not, never from those. A selector counts only as far as it speaks of labels that the flavor has. The rules are
those of ``checkFlavorForPodSets``, ``flavorSelector`` and ``checkPodSetAndFlavorMatchForTAS``.
"""

from __future__ import annotations

from collections.abc import Mapping

from allotment.devices.nodes import Node, NodeSelector, NodeSelectorTerm
from allotment.quantities.quoting import quoted
from allotment.scheduling.kueue.ground import Ground
from allotment.scheduling.kueue.topology.asking import has_levels
from allotment.scheduling.kueue.topology.places import Places
from allotment.scheduling.kueue.tree import Node as Queue
from allotment.scheduling.state.nodes import Flavor, Taint, untolerated
from allotment.scheduling.state.queues import ResourceGroup
from allotment.scheduling.state.workloads import PodSet


def wants_place(pods: PodSet) -> bool:
    """Whether a pod set itself asks for a place."""
    return pods.topology is not None and pods.topology.explicit


def place_implied(ground: Ground, queue: Queue, pods: PodSet) -> bool:
    """Whether it gets one only since its queue has nothing else."""
    return not wants_place(pods) and ground.only_places(queue)


def is_placed(ground: Ground, queue: Queue, pods: PodSet) -> bool:
    """Whether it gets a place."""
    return wants_place(pods) or ground.only_places(queue)


def unsuited(
    ground: Ground,
    queue: Queue,
    group: ResourceGroup,
    flavor_name: str,
    pod_sets: list[PodSet],
    *,
    placing: bool,
) -> str | None:
    """Why the flavor is not for these pod sets; None if it is."""
    flavor = ground.flavors.get(flavor_name)
    if flavor is None:
        return f"flavor {flavor_name} not found"
    for pods in pod_sets:
        why = _misplaced(ground, queue, group, flavor, pods) if placing else None
        if why is None:
            why = _tainted(flavor, pods) or _unselected(flavor, pods)
        if why is not None:
            return why
    return None


def _misplaced(
    ground: Ground, queue: Queue, group: ResourceGroup, flavor: Flavor, pods: PodSet
) -> str | None:
    name = quoted(flavor.name)
    if not is_placed(ground, queue, pods):
        return None if flavor.topology is None else f"Flavor {name} supports only TopologyAwareScheduling"
    if not wants_place(pods):
        return None
    if flavor.topology is None:
        if not any(resource in group.resources for resource in pods.pod):
            return None
        return f"Flavor {name} does not support TopologyAwareScheduling"
    return _levels_lacking(ground.places_of(queue).get(flavor.name), name, pods)


def _levels_lacking(places: Places | None, name: str, pods: PodSet) -> str | None:
    if places is None:
        return f"Flavor {name} information missing in TAS cache"
    if has_levels(pods.topology, places.domains):
        return None
    return f"Flavor {name} does not contain the requested level"


def _tainted(flavor: Flavor, pods: PodSet) -> str | None:
    taint = untolerated(flavor.taints, (*pods.tolerations, *flavor.tolerations))
    return None if taint is None else f"untolerated taint {_as_go_prints(taint)} in flavor {flavor.name}"


def _as_go_prints(taint: Taint) -> str:
    return f"{{{taint.key} {taint.value} {taint.effect} <nil>}}"


def _unselected(flavor: Flavor, pods: PodSet) -> str | None:
    if _selected(pods.node_selector, flavor.labels) and _accepted(pods.affinity, flavor.labels):
        return None
    return f"flavor {flavor.name} doesn't match node affinity"


def _selected(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    return all(labels[key] == value for key, value in selector.items() if key in labels)


def _accepted(affinity: NodeSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether required affinity holds; a term without a word of the flavor's labels holds for any."""
    if affinity is None:
        return True
    terms = []
    for term in affinity.terms:
        said = tuple(need for need in term.match_expressions if need.key in labels)
        if not said:
            return True
        terms.append(NodeSelectorTerm(said))
    return not terms or NodeSelector(tuple(terms)).matches(Node("", labels))
