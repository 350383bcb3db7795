"""Nodes on which kube-scheduler starts no pod whatever it asks for: cordoned, not ready, or not there.

What their devices are is published all the same. A node is not there where the world has Node objects and
none of its name, as when a machine was taken away and its slices stayed; a world without any Node object
says nothing of its nodes, and they are taken to be well. The taints are those that Kubernetes' own
controllers set by the state of a node; workers tolerate none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from allotment.devices.nodes import Node
from allotment.devices.world import World

CORDONED: Final = "its node is cordoned"
NOT_READY: Final = "its node is not ready"
NOT_THERE: Final = "its node has no Node object"
NOT_TOLD: Final = (
    "no Node objects are there: each node is taken to be ready and not cordoned (`kubectl get "
    "resourceslices,nodes` tells)"
)
_BY_STATE: Final[Mapping[str, str]] = {
    "node.kubernetes.io/unschedulable": CORDONED,
    "node.kubernetes.io/not-ready": NOT_READY,
    "node.kubernetes.io/unreachable": NOT_READY,
}
_KEEPING: Final = frozenset({"NoSchedule", "NoExecute"})
_MOST_NAMED: Final = 3
_OF_NODES: Final[Mapping[str, tuple[str, str]]] = {
    CORDONED: ("which is cordoned", "which are cordoned"),
    NOT_READY: ("which is not ready", "which are not ready"),
    NOT_THERE: ("which has slices and no Node object", "which have slices and no Node objects"),
}


def closed_nodes(world: World) -> dict[str, str]:
    """The nodes that no pod starts on, each with the reason; sorted by name."""
    if not world.nodes:
        return {}
    found = {name: NOT_THERE for name in _publishing(world) if name not in world.nodes}
    for name, node in world.nodes.items():
        if reason := _reason(node):
            found[name] = reason
    return dict(sorted(found.items()))


def open_nodes(world: World, names: Iterable[str]) -> tuple[str, ...]:
    """Of these nodes those that pods start on, in the same order."""
    closed = closed_nodes(world)
    return tuple(name for name in names if name not in closed)


def as_if_well(world: World) -> World:
    """The world once every node that it has is ready and not cordoned, as what never fits is held against."""
    if not any(map(_reason, world.nodes.values())):
        return world
    return replace(world, nodes={name: _well(node) for name, node in world.nodes.items()})


def _well(node: Node) -> Node:
    taints = tuple(each for each in node.taints if str(each.get("key")) not in _BY_STATE)
    return replace(node, taints=taints, unschedulable=False, ready=True)


def _reason(node: Node) -> str:
    if node.unschedulable:
        return CORDONED
    if not node.ready:
        return NOT_READY
    taints = (each for each in node.taints if each.get("effect") in _KEEPING)
    return next((_BY_STATE[key] for each in taints if (key := str(each.get("key"))) in _BY_STATE), "")


def closed_notes(world: World) -> Iterator[str]:
    """A sentence for each reason, on nodes whose devices nobody gets."""
    publishing = _publishing(world)
    by_reason: dict[str, list[str]] = {}
    for name, reason in closed_nodes(world).items():
        if name in publishing:
            by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        yield f"no pod starts on {_named(names)}, {_OF_NODES[reason][len(names) > 1]}"


def _publishing(world: World) -> frozenset[str]:
    """The nodes of which slices, or single devices of theirs, say that they are theirs."""
    own = (each.node_name for each in world.slices)
    of_devices = (
        device.node_name for each in world.slices if each.per_device_node_selection for device in each.devices
    )
    return frozenset(name for name in (*own, *of_devices) if name)


def _named(names: list[str]) -> str:
    rest = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")
