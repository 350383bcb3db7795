"""A new place for the pods of a node that failed, where the rest of a workload stays.

What was promised still holds: pods of a required domain stay in it, and a slice that lost pods is made whole
where it stands. The rules are those of ``findReplacementAssignment`` and the functions that it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from allotment.scheduling.kueue.topology.asking import Ask, level_key, slice_size
from allotment.scheduling.kueue.topology.domains import Domain, Domains
from allotment.scheduling.state.workloads import DomainCount, Placement, SliceLayer, TopologyRequest


@dataclass(frozen=True, slots=True)
class Repair:
    """What is to be placed anew, and within which domain."""

    ask: Ask
    within: str


@dataclass(frozen=True, slots=True)
class Repaired:
    """The whole placement, and the part of it that is new."""

    whole: Placement
    new: Placement


def repaired(
    domains: Domains, ask: Ask, existing: Placement, node: str, search: Callable[[Repair], Placement | str]
) -> Repaired | str:
    """The placement without the node; a text where there is none."""
    lost = sum(each.count for each in existing.domains if each.values[-1] == node)
    left = tuple(each for each in existing.domains if each.values[-1] != node)
    for each in left:
        if domains.leaf_of(each.values) is None:
            return (
                "Cannot replace the node, because the existing topologyAssignment is invalid, "
                f"as it contains the stale domain {each.values[0]}"
            )
    asked = replace(ask, count=lost)
    size = slice_size(ask.pods.topology)
    if isinstance(size, str):
        return size
    within = _within(domains, asked, left, size)
    if _sliced(ask) and within and lost % size:
        asked = _with_broken_layer(asked, lost)
    new = search(Repair(asked, within))
    if isinstance(new, str):
        return new
    if not new.domains:
        return f"cannot find replacement assignment for unhealthy node: {node}"
    return Repaired(Placement(new.levels, merged(domains, (*new.domains, *left))), new)


def _sliced(ask: Ask) -> bool:
    return bool(ask.pods.topology and ask.pods.topology.layers)


def _with_broken_layer(ask: Ask, lost: int) -> Ask:
    """Keep only the innermost layer that the lost pods fill."""
    topology = ask.pods.topology or TopologyRequest()
    whole = next((layer for layer in reversed(topology.layers) if not lost % layer.size), None)
    layers = (SliceLayer(whole.level, whole.size),) if whole else ()
    return replace(ask, pods=replace(ask.pods, topology=replace(topology, layers=layers)))


def _within(domains: Domains, ask: Ask, left: Sequence[DomainCount], size: int) -> str:
    """The domain that the pods must not leave; nameless if they may."""
    topology = ask.pods.topology
    key = level_key(topology, domains.levels) or (domains.levels[-1] if ask.implied else None)
    level = None if key is None else domains.level(key)
    if level is None or not left:
        return ""
    if topology is not None and topology.layers and ask.count % size:
        broken = topology.layers[0]
        if len(topology.layers) > 1:
            broken = next((layer for layer in reversed(topology.layers) if ask.count % layer.size), broken)
        return _incomplete(domains, left, ask.count, broken)
    if topology is None or topology.required is None:
        return ""
    leaf = domains.leaf_of(left[0].values)
    return "" if leaf is None else leaf.at(level + 1).name


def _incomplete(domains: Domains, left: Sequence[DomainCount], lost: int, layer: SliceLayer) -> str:
    """The domain in which a slice lacks just the lost pods."""
    level = domains.level(layer.level)
    if level is None:
        return ""
    standing: dict[str, int] = {}
    for each in left:
        leaf = domains.leaf_of(each.values)
        if leaf is not None:
            above = leaf.at(level + 1)
            standing[above.name] = standing.get(above.name, 0) + each.count
    return next((name for name, count in standing.items() if not (count + lost) % layer.size), "")


def merged(domains: Domains, parts: Sequence[DomainCount]) -> tuple[DomainCount, ...]:
    """Domains in order, those that are the same as one."""

    def rank(each: DomainCount) -> tuple[str, ...]:
        leaf: Domain | None = domains.leaf_of(each.values)
        return leaf.values if leaf else each.values

    counts: dict[tuple[str, ...], int] = {}
    for each in sorted(parts, key=rank):
        counts[each.values] = counts.get(each.values, 0) + each.count
    return tuple(DomainCount(values, count) for values, count in counts.items())
