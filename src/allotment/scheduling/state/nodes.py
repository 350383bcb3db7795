"""Nodes, flavors and topologies, and whether a pod tolerates and selects what it would get.

Taints and tolerations are those of ``core/v1``; of the effects only the two that keep a pod from being placed
matter here (``FindMatchingUntoleratedTaint`` of component-helpers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

HOSTNAME = "kubernetes.io/hostname"
_KEEPING = frozenset({"NoSchedule", "NoExecute"})


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a node or a flavor."""

    key: str
    value: str = ""
    effect: str = ""

    @property
    def label(self) -> str:
        """As the API writes it: ``key=value:effect``."""
        name = f"{self.key}={self.value}" if self.value else self.key
        return f"{name}:{self.effect}" if self.effect else name


@dataclass(frozen=True, slots=True)
class Toleration:
    """A toleration of a pod."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def tolerates(self, taint: Taint) -> bool:
        """Whether it puts up with the taint."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        return _MATCHES.get(self.operator, _never)(self.value, taint.value)


def _never(_wanted: str, _value: str) -> bool:
    return False


def _above(wanted: str, value: str) -> bool:
    try:
        return int(value) > int(wanted)
    except ValueError:
        return False


def _below(wanted: str, value: str) -> bool:
    try:
        return int(value) < int(wanted)
    except ValueError:
        return False


_MATCHES: Mapping[str, Callable[[str, str], bool]] = {
    "": lambda wanted, value: wanted == value,
    "Equal": lambda wanted, value: wanted == value,
    "Exists": lambda _wanted, _value: True,
    "Gt": _above,
    "Lt": _below,
}


def untolerated(taints: Iterable[Taint], tolerations: Sequence[Toleration]) -> Taint | None:
    """The first taint that keeps a pod with these tolerations away."""
    for taint in taints:
        if taint.effect in _KEEPING and not any(each.tolerates(taint) for each in tolerations):
            return taint
    return None


@dataclass(frozen=True, slots=True)
class Flavor:
    """A ResourceFlavor: a kind of node that quota is given for."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: str | None = None


@dataclass(frozen=True, slots=True)
class Topology:
    """A Topology: the node labels that say where a node stands, from the widest to the narrowest."""

    name: str
    levels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A node that pods are placed on; ``taken`` is what pods use that no workload here accounts for.

    ``stays`` is the part of that which belongs to the node itself, as DaemonSets do, and never comes free.
    """

    name: str
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    allocatable: Mapping[str, int] = field(default_factory=dict, hash=False)
    taken: Mapping[str, int] = field(default_factory=dict, hash=False)
    taints: tuple[Taint, ...] = ()
    ready: bool = True
    schedulable: bool = True
    stays: Mapping[str, int] = field(default_factory=dict, hash=False)
