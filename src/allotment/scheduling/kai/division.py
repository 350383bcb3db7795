"""How much of one resource each of several sibling queues may have.

Quota is handed out first, even beyond the total. What is left goes by priority, the higher served in full
before the lower, and among equals by over-quota weight, bent by past use where time-based sharing is on;
everybody's part is rounded down. What the rounding left goes out in ones, largest fraction first. Nobody gets
more than was asked for. These are the rules of ``plugins/proportion/resource_division`` of KAI 0.17.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from allotment.scheduling.state.share_queues import NO_LIMIT


@dataclass(frozen=True, slots=True)
class Claimant:
    """What one queue says for itself about one resource."""

    name: str
    quota: float
    limit: float
    weight: float
    request: float
    used: float = 0.0
    priority: int = 100
    created: float = 0.0

    @property
    def requestable(self) -> float:
        """What is asked for, as far as the limit allows it."""
        return self.request if self.limit == NO_LIMIT else min(self.limit, self.request)


def divide(total: float, claimants: Sequence[Claimant], k: float = 1.0) -> dict[str, float]:
    """The fair share of each claimant; ``k`` is how strongly past use counts."""
    shares = {each.name: min(_quota(each, total), each.requestable) for each in claimants}
    left = total
    for share in shares.values():
        left -= share
    if left <= 0:
        return shares
    owed: list[tuple[int, dict[str, float]]] = []
    for priority in sorted({each.priority for each in claimants}, reverse=True):
        peers = [each for each in claimants if each.priority == priority]
        left, fractions = _by_weight(left, peers, shares, k)
        owed.append((priority, fractions))
    for priority, fractions in owed:
        if left <= 0:
            break
        peers = [each for each in claimants if each.priority == priority and each.name in fractions]
        left = _in_ones(left, peers, fractions, shares)
    return shares


def _quota(claimant: Claimant, total: float) -> float:
    return total if claimant.quota == NO_LIMIT else claimant.quota


def _by_weight(
    left: float, peers: Sequence[Claimant], shares: dict[str, float], k: float
) -> tuple[float, dict[str, float]]:
    """Give in rounds until nobody wants less than a part; what is left, and the fraction owed to each."""
    owed: dict[str, float] = {}
    while True:
        weights = _weights(peers, shares, k)
        whole = sum(weights.values())
        if whole == 0:
            return left, owed
        pot, again = left, False
        for each in peers:
            if left == 0:
                break
            if each.weight == 0 or _satisfied(each, shares):
                continue
            part = pot * (weights[each.name] / whole)
            wanted = max(0.0, each.requestable - shares[each.name])
            given = _given(each.name, part, wanted, owed)
            if given == 0:
                continue
            shares[each.name] += given
            left -= given
            again = again or wanted < part
        if not again or left == 0:
            return left, owed


def _given(name: str, part: float, wanted: float, owed: dict[str, float]) -> float:
    if wanted <= part:
        owed.pop(name, None)
        return wanted
    given = max(0.0, float(math.floor(part)))
    if part - given > 0:
        owed[name] = part - given
    return given


def _weights(peers: Iterable[Claimant], shares: dict[str, float], k: float) -> dict[str, float]:
    wanting = [each for each in peers if each.requestable > shares[each.name]]
    total = sum(each.weight for each in wanting)
    if total == 0:
        return {}
    normal = {each.name: each.weight / total for each in peers if not _satisfied(each, shares)}
    used = {each.name: each.used for each in peers}
    return {name: max(0.0, part + k * (part - used[name])) for name, part in normal.items()}


def _satisfied(claimant: Claimant, shares: dict[str, float]) -> bool:
    share = shares[claimant.name]
    if claimant.request <= share:
        return True
    return claimant.limit != NO_LIMIT and claimant.limit <= share


def _in_ones(
    left: float, peers: Sequence[Claimant], fractions: dict[str, float], shares: dict[str, float]
) -> float:
    """One unit to each in turn: the largest fraction first, then the older, then by name."""
    for each in sorted(peers, key=lambda peer: (-fractions[peer.name], peer.created, peer.name)):
        if left == 0:
            break
        given = min(1.0, left)
        shares[each.name] += given
        left -= given
    return left
