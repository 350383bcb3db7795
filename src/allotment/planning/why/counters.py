"""Which counter of which card is used up, and by what: for devices that share a card's parts with others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from allotment.devices.allocation import Taken
from allotment.devices.allocation.counters import PoolCounters
from allotment.devices.allocation.sites import SitePool
from allotment.devices.slices import DeviceId
from allotment.needs.clauses import Candidate
from allotment.planning.why.room import Room
from allotment.planning.why.values import named

_MOST: Final = 3
_Key = tuple[str, str]  # a counter set, and one of its counters


class CounterLook:
    """A look at counters while so much is taken: called with a device, it says what is used up, or None."""

    def __init__(self, room: Room, taken: Taken) -> None:
        self._room = room
        self._taken = taken
        self._left: dict[int, tuple[PoolCounters, dict[_Key, int]]] = {}

    def __call__(self, candidate: Candidate) -> str | None:
        """Why the device cannot be given, if counters are why."""
        device = candidate.listed.id
        site = self._room.reached(device)
        shared = candidate.device.allow_multiple_allocations and device in self._taken.capacity
        if not candidate.device.consumes_counters or site is None or shared:
            return None
        pool = site.pool_of[site.numbers[device]]
        counters, left = self._of(pool)
        wanted: Mapping[_Key, int] = next(iter(counters.consumption.get(device.device, ())), {})
        lacking = [key for key, amount in wanted.items() if left.get(key, amount) < amount]
        lacking += [key for key, amount in left.items() if amount < 0 and key not in wanted]
        if not lacking:
            return None
        users = [name for name in self._taken.names_in(pool.key) if _uses(counters, name, lacking)]
        return (
            f"{_counter_words(lacking)} {'is' if len(lacking) == 1 else 'are'} {self._used_by(pool, users)}"
        )

    def _of(self, pool: SitePool) -> tuple[PoolCounters, dict[_Key, int]]:
        known = self._left.get(id(pool))
        if known is None:
            counters = self._room.ground.counters(pool)
            known = self._left[id(pool)] = counters, counters.left(pool.key, self._taken, shares=True)
        return known

    def _used_by(self, pool: SitePool, users: list[str]) -> str:
        if not users:
            return "not enough for it"
        who = [each for name in users for each in self._room.holders(DeviceId(*pool.key, name))]
        held = f" ({named(who, 'others')})" if who else ""
        return f"used up by {named(sorted(users), 'devices')}{held}"


def _uses(counters: PoolCounters, name: str, keys: list[_Key]) -> bool:
    uses: Sequence[Mapping[_Key, int]] = counters.consumption.get(name, [])
    return any(amounts.get(key) for amounts in uses for key in keys)


def _counter_words(keys: list[_Key]) -> str:
    """``memory-slice-0, memory-slice-1 and 6 more counters of gpu-0-counter-set``."""
    sets: dict[str, list[str]] = {}
    for counter_set, counter in keys:
        sets.setdefault(counter_set, []).append(counter)
    return "; ".join(
        f"{named(names, 'counters', _MOST)} of {counter_set}" for counter_set, names in sets.items()
    )
