"""Whether devices can be dealt out so that every request gets its count: a bound that ends hopeless searches.

The upstream search tries combination after combination before it admits that nothing fits: twenty-one of
twenty devices take a million steps, and requests that want one device more than there are take n! of them.
Without constraints a claim fits exactly when a bipartite matching exists, which is found in polynomial time
(Kuhn's augmenting paths). With alternatives, the least that they ask and all that any of them would take is
still a bound: a search that it ends could not have succeeded.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

Wanted = tuple[int, Sequence[int]]
"""How many devices, and which ones (by number) would do."""


def can_deal(wanted: Sequence[Wanted], gone: Set[int]) -> bool:
    """Whether every request can get its count of devices that are not gone, none of them twice."""
    owner: dict[int, int] = {}
    free = [[device for device in suitable if device not in gone] for _, suitable in wanted]
    if any(len(devices) < count for (count, _), devices in zip(wanted, free, strict=True)):
        return False
    return all(
        _augment(request, free, owner, set())
        for request, (count, _) in enumerate(wanted)
        for _ in range(count)
    )


def _augment(request: int, free: Sequence[Sequence[int]], owner: dict[int, int], asked: set[int]) -> bool:
    """Give the request one more device, moving others to different devices where that makes room."""
    asked.add(request)
    for device in free[request]:
        if device not in owner:
            owner[device] = request
            return True
    for device in free[request]:
        if owner[device] not in asked and _augment(owner[device], free, owner, asked):
            owner[device] = request
            return True
    return False
