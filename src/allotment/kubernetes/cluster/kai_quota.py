"""KAI's numbers of a queue: quota, weight and limit, through its parents, and what it has been given.

``-1`` is unlimited, and a number that is left out is none at all: no quota, and a limit of nothing. Cores
are in thousandths and memory in millions of bytes. A parent's numbers hold for all below it. What is
allocated stands in the queue's status as quantities by resource: whole cards as ``nvidia.com/gpu``, slices
as ``nvidia.com/mig-3g.20gb`` (which count three), claims by the name of their device class. Facts: KAI
0.17, ``Queue`` of ``scheduling.run.ai/v2``; its queue controller writes the status a little late.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from allotment.kubernetes.cluster.capacity import KAI, NOTHING, Amount, Capacity
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.kinds import KAI_QUEUE, Object
from allotment.quantities import QuantityError, parse_exact

UNLIMITED: Final = -1
GPU: Final = "gpu"
_UNITS: Final = {"cpu": Fraction(1, 1000), "memory": Fraction(10**6)}
_SLICE: Final = re.compile(r"nvidia\.com/mig-(\d+)g\..*")
CIRCLE: Final = "its queues name each other as parents in a circle"


def kai_capacities(snapshot: Snapshot, resource: str = GPU) -> dict[str, Capacity]:
    """What each Queue may use, by its name: of ``cpu``, of ``memory``, or (by any other name) of GPUs."""
    queues = {each["metadata"]["name"]: each for each in snapshot.of(KAI_QUEUE)}
    return {name: _capacity(name, queues, resource) for name in queues}


def _capacity(name: str, queues: Mapping[str, Object], resource: str) -> Capacity:
    chain, why = _chain(name, queues)
    numbers = [_numbers(queues[each], resource) for each in chain]
    quotas, limits = [each[0] for each in numbers], [each[1] for each in numbers]
    used = [_allocated(queues[each], resource) for each in chain]
    quota, limit = _least(quotas), _least(limits)
    rooms = [most - taken for most, taken in zip(limits, used, strict=True) if most is not None]
    narrowed = ""
    if limit is not None and limit != limits[0]:
        narrowed = chain[limits.index(limit)]
    return Capacity(
        queue=name,
        scheduler=KAI,
        resource=resource,
        quota=quota,
        used=used[0],
        most=limit,
        free=max(NOTHING, min(rooms)) if rooms else None,
        limit=limits[0],
        borrowed=NOTHING if quota is None else max(NOTHING, used[0] - quota),
        weight=numbers[0][2],
        most_at_once=limit,
        parents=tuple(chain[1:]),
        narrowed_by=narrowed,
        inactive=why,
    )


def _chain(name: str, queues: Mapping[str, Object]) -> tuple[Sequence[str], str]:
    """The queue and those above it, and why nothing is placed by it."""
    chain = [name]
    while parent := (queues[chain[-1]].get("spec") or {}).get("parentQueue"):
        if parent in chain:
            return chain, CIRCLE
        if parent not in queues:
            return chain, f"its parent `{parent}` does not exist"
        chain.append(parent)
    return chain, ""


def _numbers(queue: Object, resource: str) -> tuple[Amount | None, Amount | None, Amount]:
    """Quota, limit and weight."""
    kind = resource if resource in _UNITS else GPU
    told = ((queue.get("spec") or {}).get("resources") or {}).get(kind) or {}
    unit = _UNITS.get(kind, Fraction(1))
    return _number(told, "quota", unit), _number(told, "limit", unit), _plain(told.get("overQuotaWeight"))


def _number(told: Mapping[str, Any], key: str, unit: Fraction) -> Amount | None:
    amount = _plain(told.get(key))
    return None if amount == UNLIMITED else amount * unit


def _allocated(queue: Object, resource: str) -> Amount:
    told = (queue.get("status") or {}).get("allocated") or {}
    if resource in _UNITS:
        return _plain(told.get(resource))
    return sum((_plain(amount) * cards_in(name) for name, amount in told.items()), NOTHING)


def cards_in(name: str) -> int:
    """How many GPUs one of a resource (or of a device class) counts in quota; none if it is no GPU."""
    if found := _SLICE.fullmatch(name):
        return int(found[1])
    vendor, slash, what = name.rpartition("/")
    if slash:
        return 1 if what == GPU and vendor else 0
    return 1 if GPU in name.lower() else 0


def _least(amounts: Sequence[Amount | None]) -> Amount | None:
    return min((each for each in amounts if each is not None), default=None)


def _plain(value: Any) -> Amount:
    if value is None:
        return NOTHING
    try:
        return parse_exact(value)
    except (QuantityError, TypeError):
        return NOTHING
