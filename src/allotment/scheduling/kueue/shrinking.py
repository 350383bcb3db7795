"""Partial admission: the most pods that can be had, where not all can, found by halving.

The pods that every set may do without are taken away in the same proportion. That fewer pods fit whenever
more do is taken for granted. The rules are those of ``PodSetReducer`` in ``pkg/scheduler/flavorassigner``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Found = TypeVar("Found")


def fewest_less(
    pod_sets: Sequence[tuple[int, int | None]], look: Callable[[list[int]], Found | None]
) -> Found | None:
    """What ``look`` finds for the largest counts that it finds anything for: sets are (count, least)."""
    full = [count for count, _least in pod_sets]
    spare = [0 if least is None else count - least for count, least in pod_sets]
    total = sum(spare)
    if total <= 0:
        return None
    good: dict[int, Found] = {}
    low, high = 0, total + 1
    while low < high:
        middle = (low + high) // 2
        counts = [count - each * middle // total for count, each in zip(full, spare, strict=True)]
        found = look(counts)
        if found is None:
            low = middle + 1
        else:
            good[middle] = found
            high = middle
    return good.get(low)
