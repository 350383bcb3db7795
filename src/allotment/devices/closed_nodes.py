"""Nodes on which kube-scheduler starts no pod of ours: cordoned, not ready, not there, or tainted.

What their devices are is published all the same. A node is not there where the world has Node objects and
none of its name, as when a machine was taken away and its slices stayed; a world without any Node object
says nothing of its nodes, and they are taken to be well. Some taints Kubernetes' own controllers set by the
state of a node; workers tolerate none of them, and of all others only what the world says: a flavor of
Kueue's may put tolerations into pods (``core/v1``: ``Toleration``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from allotment.devices.nodes import Node
from allotment.devices.world import World

CORDONED: Final = "its node is cordoned"
NOT_READY: Final = "its node is not ready"
NOT_THERE: Final = "its node has no Node object"
TAINTED: Final = "its node has the taint "
"""The beginning of a reason; the taint follows, which holds for pods of ours and not for everybody's."""
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
        if reason := _reason(node) or _tainted(node, world.tolerations):
            found[name] = reason
    return dict(sorted(found.items()))


def closed_to_all(world: World) -> frozenset[str]:
    """The nodes that nobody's pod starts on, whatever it tolerates."""
    return frozenset(name for name, why in closed_nodes(world).items() if not why.startswith(TAINTED))


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


def _tainted(node: Node, tolerations: Sequence[Mapping[str, Any]]) -> str:
    for taint in node.taints:
        if taint.get("effect") in _KEEPING and not any(_tolerates(each, taint) for each in tolerations):
            value = f"={taint['value']}" if taint.get("value") else ""
            return f"{TAINTED}{taint.get('key')}{value}:{taint['effect']}"
    return ""


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Whether it is of this key, value and effect; without a key or an effect it is of each."""
    if (toleration.get("effect") or taint["effect"]) != taint["effect"]:
        return False
    key = toleration.get("key") or ""
    if toleration.get("operator") == "Exists":
        return key in {"", taint.get("key")}
    return bool(key == taint.get("key") and (toleration.get("value") or "") == (taint.get("value") or ""))


def closed_notes(world: World, *, to_all: bool = False) -> Iterator[str]:
    """A sentence for each reason, on nodes whose devices nobody gets; ``to_all``: whatever pods tolerate."""
    publishing = _publishing(world)
    by_reason: dict[str, list[str]] = {}
    for name, reason in closed_nodes(world).items():
        if name in publishing and not (to_all and reason.startswith(TAINTED)):
            by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        yield f"no pod starts on {_named(names)}, {_which(reason, len(names) > 1)}"


def _which(reason: str, are_many: bool) -> str:  # noqa: FBT001 - private
    if not reason.startswith(TAINTED):
        return _OF_NODES[reason][are_many]
    taint = reason.removeprefix(TAINTED)
    has = f"which {'have' if are_many else 'has'} the taint {taint}"
    return f"{has}; pods of ours tolerate it only where a ResourceFlavor of Kueue's says so"


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
