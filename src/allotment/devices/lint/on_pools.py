"""Rules on what slices say together: counters, identities, types.

Only the newest generation of each pool counts. Facts: NVIDIA MIG User Guide (how many partitions a card can
hold), and what an API server does with the counters of a cluster that has not switched them on: it drops them
and keeps the devices.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from allotment.devices.catalogue import by_product_name
from allotment.devices.lint.seen import SeenDevice, SeenSlice, evidence, value_words
from allotment.devices.rules import amount
from allotment.devices.slices import ResourceSlice, Version
from allotment.documents.checking import Place
from allotment.errors import Severity

MOST_PARTITIONS: Final = 8  # of any card known
_PARENTS: Final = ("parentUUID",)


def current(slices: Iterable[SeenSlice]) -> list[SeenSlice]:
    """The slices of each pool's newest generation."""
    newest: dict[tuple[str, str], int] = defaultdict(int)
    read = [each for each in slices if each.slice is not None]
    for each in read:
        newest[_pool(each)] = max(newest[_pool(each)], _slice(each).pool.generation)
    return [each for each in read if _slice(each).pool.generation == newest[_pool(each)]]


def counters(slices: Sequence[SeenSlice]) -> None:
    """Counter sets that nobody takes from, and devices that take more than there is."""
    pools: dict[tuple[str, str], list[SeenSlice]] = defaultdict(list)
    for each in slices:
        pools[_pool(each)].append(each)
    for pool in pools.values():
        if len(pool) == _slice(pool[0]).pool.resource_slice_count:
            _unused(pool)
        _too_small(pool)


def _unused(pool: Sequence[SeenSlice]) -> None:
    taken = {
        consumption.counter_set
        for each in pool
        for device in _slice(each).devices
        for consumption in device.consumes_counters
    }
    for each in pool:
        for number, shared in enumerate(_slice(each).shared_counters):
            if shared.name not in taken:
                (each.spec / "sharedCounters" / number / "name").found(
                    "unused-counter-set",
                    f"no device takes from counter set `{shared.name}`: its card is there without counters, "
                    "or not at all",
                    "see whether the card is there as a device, and whether a device should take from it",
                    severity=Severity.NOTE,
                    evidence=evidence([f"{key} {value}" for key, value in shared.counters.items()]),
                )


def _too_small(pool: Sequence[SeenSlice]) -> None:
    there = {shared.name: shared.counters for each in pool for shared in _slice(each).shared_counters}
    for each in pool:
        for found in each.devices():
            for number, consumption in enumerate(found.device.consumes_counters):
                known = there.get(consumption.counter_set, {})
                over = [
                    f"{found.name}: takes {value} of {key}, there are {known[key]}"
                    for key, value in consumption.counters.items()
                    if key in known and _is_more(value, known[key])
                ]
                if over:
                    (found.body / "consumesCounters" / number).found(
                        "counter-too-small",
                        f"device `{found.name}` takes more of `{consumption.counter_set}` than there is: it "
                        "can never be given",
                        "the driver counts wrongly: tell those who make it",
                        severity=Severity.WARNING,
                        evidence=evidence(over),
                    )


def counters_dropped(slices: Sequence[SeenSlice]) -> None:
    """Partitions of one card, more than it can hold, that nothing keeps apart."""
    by_card: dict[tuple[str, str], list[SeenDevice]] = defaultdict(list)
    for found in _devices(slices):
        parent = found.attribute(_PARENTS[0])
        if isinstance(parent, str) and parent and not found.device.consumes_counters:
            by_card[found.slice.driver, parent].append(found)
    for (_, parent), parts in by_card.items():
        most = _most(parts[0])
        if len(parts) > most:
            parts[0].place.found(
                "counters-dropped",
                f"{len(parts)} partitions of card `{parent}` are published without counters, and it holds at "
                f"most {most}: each looks free on its own, and a scheduler would give them all",
                "the API server dropped them: switch DRAPartitionableDevices on (it is from Kubernetes 1.36)",
                severity=Severity.WARNING,
                evidence=evidence([f"{each.name}: no consumesCounters" for each in parts]),
            )


def duplicate_uuid(slices: Sequence[SeenSlice]) -> None:
    """One uuid in two pools."""
    by_uuid: dict[tuple[str, str], list[SeenDevice]] = defaultdict(list)
    for found in _devices(_settled(slices)):
        uuid = found.attribute("uuid")
        if isinstance(uuid, str) and uuid:
            by_uuid[found.slice.driver, uuid].append(found)
    for (_, uuid), devices in by_uuid.items():
        if len({each.slice.pool.name for each in devices}) > 1:
            _at_attribute(devices[-1], "uuid").found(
                "duplicate-uuid",
                f"devices of {len({each.slice.pool.name for each in devices})} pools have the uuid `{uuid}`: "
                "one card is published by two nodes, or a machine was cloned",
                "see which node has the card, and restart the driver on the other",
                severity=Severity.WARNING,
                evidence=evidence([str(each.slice.device_id(each.device)) for each in devices]),
            )


def _settled(slices: Sequence[SeenSlice]) -> list[SeenSlice]:
    """The slices of pools that are whole, with a name for each device: in others a card may be moving."""
    pools: dict[tuple[str, str], list[SeenSlice]] = defaultdict(list)
    for each in slices:
        pools[_pool(each)].append(each)
    found: list[SeenSlice] = []
    for pool in pools.values():
        names = [device.name for device in _devices(pool)]
        if len(pool) == _slice(pool[0]).pool.resource_slice_count and len(set(names)) == len(names):
            found += pool
    return found


def pool_name(slices: Sequence[SeenSlice]) -> None:
    """A node's own pool under a name that another node's may have too."""
    told: set[tuple[str, str]] = set()
    for each in slices:
        node, pool = _slice(each).node_name, _slice(each).pool.name
        if node is None or node in pool or _pool(each) in told:
            continue
        told.add(_pool(each))
        (each.spec / "pool" / "name").found(
            "pool-name",
            f"node `{node}` publishes its devices in pool `{pool}`: with another node's pool of this name it "
            "would be one",
            "name a node's own pool after the node",
            severity=Severity.NOTE,
            evidence=(f"nodeName {node}", f"pool.name {pool}"),
        )


def partitions_only(slices: Sequence[SeenSlice]) -> None:
    """A card that is cut on demand, and is not offered whole."""
    parts: dict[tuple[str, str, str], list[SeenDevice]] = defaultdict(list)
    whole: set[tuple[str, str, str]] = set()
    for found in _devices(_settled(slices)):
        for consumption in found.device.consumes_counters:
            key = (found.slice.driver, found.slice.pool.name, consumption.counter_set)
            if found.is_part:
                parts[key].append(found)
            else:
                whole.add(key)
    for key, devices in parts.items():
        if key not in whole:
            devices[0].place.found(
                "partitions-only",
                f"the card of counter set `{key[2]}` is offered in partitions only, never whole",
                "MIG mode is on there; on Ampere it is switched on and off by hand, while the card is idle",
                severity=Severity.NOTE,
                evidence=evidence([f"{each.name}: takes from {key[2]}" for each in devices]),
            )


def pool_of_two_nodes(slices: Sequence[SeenSlice]) -> None:
    """Two nodes that publish into one pool."""
    nodes: dict[tuple[str, str], dict[str, SeenSlice]] = defaultdict(dict)
    for each in slices:
        node = _slice(each).node_name
        if node is not None:
            nodes[_pool(each)].setdefault(node, each)
    for (driver, pool), found in nodes.items():
        if len(found) > 1:
            last = list(found.values())[-1]
            (last.spec / "pool" / "name").found(
                "pool-of-two-nodes",
                f"nodes {', '.join(f'`{node}`' for node in sorted(found))} publish into pool {driver}/{pool}:"
                " each makes the other's slices obsolete, and devices of one name are one device",
                "let each node have a pool of its own, named after it",
                severity=Severity.WARNING,
                evidence=evidence([f"{node}: {_slice(each).name}" for node, each in sorted(found.items())]),
            )


def attribute_type_varies(slices: Sequence[SeenSlice]) -> None:
    """One key with values of several types."""
    types: dict[tuple[str, str], dict[str, tuple[SeenDevice, str, str]]] = defaultdict(dict)
    for found in _devices(slices):
        for full, key, value in found.keyed():
            first = value[0] if isinstance(value, tuple) else value
            kind = "version" if isinstance(first, Version) else type(first).__name__
            kind = f"list of {kind}" if isinstance(value, tuple) else kind
            seen = (found, key, f"{found.name}: {value_words(value)}")
            types[found.slice.driver, full].setdefault(kind, seen)
    for (driver, full), kinds in types.items():
        if len(kinds) > 1:
            found, key, _ = list(kinds.values())[-1]
            (found.body / "attributes" / key).found(
                "attribute-type-varies",
                f"`{full}` is of {len(kinds)} types on devices of {driver}: a selector that suits one is an "
                "error on the other, and constraints never match",
                "let one version of the driver run on all nodes",
                severity=Severity.WARNING,
                evidence=evidence([seen for _, _, seen in kinds.values()]),
            )


POOL_RULES = (
    counters,
    counters_dropped,
    duplicate_uuid,
    pool_name,
    partitions_only,
    pool_of_two_nodes,
    attribute_type_varies,
)


def _devices(slices: Sequence[SeenSlice]) -> Iterable[SeenDevice]:
    return (device for each in slices for device in each.devices())


def _most(part: SeenDevice) -> int:
    """How many partitions a card can hold at once."""
    name = part.attribute("productName")
    card = by_product_name(name) if isinstance(name, str) else None
    if card is None or card.mig is None:
        return MOST_PARTITIONS
    return max(profile.most for profile in card.mig.profiles)


def _at_attribute(found: SeenDevice, key: str) -> Place:
    written = key if key in found.device.attributes else f"{found.slice.driver}/{key}"
    return found.body / "attributes" / written


def _is_more(taken: str, there: str) -> bool:
    one, other = amount(taken), amount(there)
    return one is not None and other is not None and one.nanos > other.nanos


def _slice(each: SeenSlice) -> ResourceSlice:
    assert each.slice is not None  # noqa: S101 - only slices that were read come here
    return each.slice


def _pool(each: SeenSlice) -> tuple[str, str]:
    return _slice(each).driver, _slice(each).pool.name
