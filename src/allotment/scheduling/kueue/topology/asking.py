"""What one pod set asks of a topology, worked out once before domains are counted.

The rules are those of the small functions beside ``findTopologyAssignment`` in Kueue: which level is meant,
how large a slice is, and what is no valid wish at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from allotment.devices.nodes import NodeSelector
from allotment.scheduling.kueue.charges import DomainUse
from allotment.scheduling.kueue.topology.domains import Domains
from allotment.scheduling.state.amounts import PODS
from allotment.scheduling.state.nodes import Toleration
from allotment.scheduling.state.workloads import Placement, PodSet, SliceLayer, TopologyRequest


@dataclass(frozen=True, slots=True)
class Ask:
    """A pod set that wants a place in a flavor; ``implied`` says that only its queue makes it so."""

    pods: PodSet
    count: int
    flavor: str
    implied: bool = False
    selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()
    previous: Placement | None = None

    @property
    def group(self) -> str | None:
        """The group of sets that stand together."""
        return self.pods.topology.group if self.pods.topology else None

    @property
    def pod(self) -> dict[str, int]:
        """What one pod takes of a node, its place among the pods too."""
        return {**self.pods.pod, PODS: self.pods.pod.get(PODS, 0) + 1}

    def uses(self, placement: Placement) -> list[DomainUse]:
        """What its pods take where they are placed."""
        return [DomainUse(each.values, self.pods.pod, each.count) for each in placement.domains]


@dataclass(frozen=True, slots=True)
class Wish:
    """The numbers that placement goes by: levels as depths, and sizes of slices by depth below the first."""

    count: int
    leaders: int
    level: int
    slice_level: int
    size: int = 1
    inner: Mapping[int, int] = field(default_factory=dict)
    layers: tuple[SliceLayer, ...] = ()
    required: bool = False
    loose: bool = False

    @property
    def slices(self) -> int:
        """How many slices that is."""
        return self.count // self.size


def is_loose(topology: TopologyRequest | None, *, implied: bool) -> bool:
    """Whether pods may stand anywhere."""
    return implied or _sliced_only(topology) or bool(topology and topology.unconstrained)


def _sliced_only(topology: TopologyRequest | None) -> bool:
    if topology is None or topology.required is not None or topology.preferred is not None:
        return False
    return bool(topology.layers)


def level_key(topology: TopologyRequest | None, levels: tuple[str, ...]) -> str | None:
    """The level at which pods are to be together; None if nothing is said."""
    if topology is None:
        return None
    if topology.required is not None:
        return topology.required
    if topology.preferred is not None:
        return topology.preferred
    if _sliced_only(topology):
        return levels[0]
    return levels[-1] if topology.unconstrained else None


def has_levels(topology: TopologyRequest | None, domains: Domains) -> bool:
    """Whether a flavor's topology has every level that is asked for."""
    key = level_key(topology, domains.levels)
    if key is None or domains.level(key) is None:
        return False
    layers = topology.layers if topology else ()
    return all(domains.level(layer.level) is not None for layer in layers)


def slice_size(topology: TopologyRequest | None) -> int | str:
    """The size of the outermost slice; a text if none was given where one is needed."""
    if topology is None or not topology.layers:
        return 1
    size = topology.layers[0].size
    return size if size > 0 else "slice topology requested, but slice size not provided"


def wish_of(ask: Ask, domains: Domains, *, leaders: int) -> Wish | str:
    """The wish of a pod set, or why there is none."""
    topology = ask.pods.topology
    size = slice_size(topology)
    if isinstance(size, str):
        return size
    levels = _levels(ask, domains)
    if isinstance(levels, str):
        return levels
    layers = topology.layers if topology else ()
    inner = _inner(layers, domains, size, levels[1])
    if isinstance(inner, str):
        return inner
    return Wish(
        count=ask.count,
        leaders=leaders,
        level=levels[0],
        slice_level=levels[1],
        size=size,
        inner=inner,
        layers=layers if inner else (),
        required=topology is not None and topology.required is not None,
        loose=is_loose(topology, implied=ask.implied),
    )


def _levels(ask: Ask, domains: Domains) -> tuple[int, int] | str:
    """How deep the level is that pods are to be together at, and that of their slices."""
    topology = ask.pods.topology
    key = level_key(topology, domains.levels) or (domains.levels[-1] if ask.implied else None)
    if key is None:
        return "topology level not specified"
    level = domains.level(key)
    if level is None:
        return f"no requested topology level: {key}"
    slice_key = topology.layers[0].level if topology and topology.layers else domains.levels[-1]
    slice_level = domains.level(slice_key)
    if slice_level is None:
        return f"no requested topology level for slices: {slice_key}"
    if level > slice_level:
        return f"podset slice topology {slice_key} is above the podset topology {key}"
    return level, slice_level


def _inner(
    layers: tuple[SliceLayer, ...], domains: Domains, size: int, slice_level: int
) -> dict[int, int] | str:
    """The size that slices have at each depth below the outermost layer."""
    sizes: dict[int, int] = {}
    for layer in layers[1:]:
        depth = domains.level(layer.level)
        if depth is None:
            return f"no requested topology level for additional slice layer: {layer.level}"
        if depth <= slice_level:
            above = domains.levels[slice_level]
            return f"additional slice layer topology {layer.level} must be at a lower level than {above}"
        if size % layer.size:
            return f"additional slice layer size {layer.size} must evenly divide parent layer size {size}"
        for between in range(slice_level + 1, depth + 1):
            sizes[between] = layer.size
        size, slice_level = layer.size, depth
    return sizes


@dataclass(frozen=True, slots=True)
class NodeNeeds:
    """What a node must offer beside room."""

    tolerations: tuple[Toleration, ...]
    selector: tuple[tuple[str, str], ...]
    affinity: NodeSelector | None
