"""Who gives devices back for whom, and what is kept for a gang that is coming together.

Replicas of a preemptible fleet above its least number are lent: when somebody in a higher lane waits, as many
of them end as help, the newest of the lowest lane first, and none when that would help nobody. What ends
already counts as free, so that nobody is asked twice. Volumes that run are never taken from.

A gang needs all of its devices at one moment, which may never come by itself while volumes come and go. So
devices that it could have once the volumes on them are over are kept for it as they become free, from
everybody who comes after it in order. Devices of others, of whom nobody knows when they end, are not waited
for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from allotment.devices.claims import Allocation
from allotment.devices.fleet import Fleet
from allotment.devices.funnel import NoFit
from allotment.devices.slices import DeviceId
from allotment.scheduling.local_desk import Desk
from allotment.scheduling.local_state import (
    FleetQueue,
    GangQueue,
    GiveBack,
    LocalState,
    Queue,
    Replica,
    WaitReason,
)


@dataclass(frozen=True, slots=True)
class Unmet:
    """Who waits, why, and for how many more; ``kept`` are free devices that are kept for it."""

    queue: Queue
    reason: WaitReason
    message: str
    wanted: int
    kept: frozenset[DeviceId] = frozenset()

    @property
    def may_come(self) -> bool:
        """Whether it waits for what others have."""
        return self.reason in {WaitReason.DEVICES, WaitReason.MEMORY}


@dataclass(frozen=True, slots=True)
class _Lent:
    """A replica above its fleet's least number."""

    fleet: FleetQueue
    replica: Replica


def gather(desk: Desk, state: LocalState, gang: GangQueue, unmet: Unmet) -> Unmet:
    """Keep for the gang what is free now of the devices that it could have together before long."""
    soon = {device for lent in _lent(state, gang.lane_value) for device in lent.replica.devices}
    soon |= state.passing | _ending(state)
    later = desk.after(soon)
    ids = {device for each in _placed(later, gang, gang.min) for device in each.ids}
    kept = frozenset(ids - desk.taken)
    if not ids:
        return unmet
    desk.keep(kept, gang.memory_bytes * gang.min)
    return replace(unmet, kept=kept)


def give_back(desk: Desk, state: LocalState, unmet: Sequence[Unmet]) -> list[GiveBack]:
    """Which replicas end, for those who wait, in their order; what they will get is kept from the rest."""
    kept = frozenset(device for each in unmet for device in each.kept)
    future = _Future(
        fleet=desk.after(kept | _ending(state)),
        memory=_future_memory(desk, state, unmet),
        lent=_lent(state, None),
    )
    decisions: list[GiveBack] = []
    for each in unmet:
        if not each.may_come:
            continue
        together = isinstance(each.queue, GangQueue)
        for _ in range(1 if together else each.wanted):
            ended = future.make_room(each.queue, each.wanted if together else 1)
            if ended is None:
                future.fleet.take(each.kept)
                break
            reason = f"`{each.queue.name}` in a higher lane waits: {each.message}"
            decisions += [
                GiveBack(lent.fleet.name, lent.replica.number, each.queue.name, reason) for lent in ended
            ]
    desk.keep(future.promised - desk.taken, 0)
    return decisions


@dataclass(slots=True)
class _Future:
    """The machine once everything has ended that is ending."""

    fleet: Fleet
    memory: int | None
    lent: list[_Lent]
    promised: set[DeviceId] = field(default_factory=set)

    def make_room(self, queue: Queue, count: int) -> list[_Lent] | None:
        """The replicas that must end so that this fits, none when it will anyway; None when it never does."""
        eligible = [lent for lent in self.lent if lent.fleet.lane_value < queue.lane_value]
        asked: list[_Lent] = []
        while True:
            found = _placed(self.fleet, queue, count)
            if found and self._memory_after(asked) >= queue.memory_bytes * count:
                return self._settled(queue, count, found, asked)
            for allocation in found:
                self.fleet.give_back(allocation.ids)
            if len(asked) == len(eligible):
                for lent in asked:
                    self.fleet.take(lent.replica.devices)
                return None
            asked.append(eligible[len(asked)])
            self.fleet.give_back(asked[-1].replica.devices)

    def _settled(
        self, queue: Queue, count: int, found: Sequence[Allocation], asked: Sequence[_Lent]
    ) -> list[_Lent]:
        """Of those that were asked, the ones whose devices or memory are needed; the others stay."""
        ids = {device for allocation in found for device in allocation.ids}
        needed = [lent for lent in asked if not ids.isdisjoint(lent.replica.devices)]
        for lent in asked:
            if self._memory_after(needed) >= queue.memory_bytes * count:
                break
            needed += [lent] if lent not in needed else []
        for lent in asked:
            if lent not in needed:
                self.fleet.take(lent.replica.devices)
        if self.memory is not None:
            self.memory = int(self._memory_after(needed)) - queue.memory_bytes * count
        self.lent = [lent for lent in self.lent if lent not in needed]
        self.promised |= ids
        return needed

    def _memory_after(self, ended: Sequence[_Lent]) -> float:
        if self.memory is None:
            return float("inf")
        return self.memory + sum(lent.fleet.memory_bytes for lent in ended)


def _placed(fleet: Fleet, queue: Queue, count: int) -> tuple[Allocation, ...]:
    """So many of the claim on devices that are free, all of them or none."""
    placed: list[Allocation] = []
    while len(placed) < count:
        answer = fleet.place(queue.claim)
        if isinstance(answer, NoFit):
            for allocation in placed:
                fleet.give_back(allocation.ids)
            return ()
        placed.append(answer.allocation)
    return tuple(placed)


def _lent(state: LocalState, below: int | None) -> list[_Lent]:
    """Replicas that may be asked back, in the order in which they are."""
    fleets = sorted(
        (
            fleet
            for fleet in state.fleets
            if fleet.preemptible and (below is None or fleet.lane_value < below)
        ),
        key=lambda fleet: (fleet.lane_value, -fleet.arrival, fleet.name),
    )
    return [_Lent(fleet, replica) for fleet in fleets for replica in _above_least(fleet)]


def _above_least(fleet: FleetQueue) -> Iterator[Replica]:
    standing = sorted(
        (replica for replica in fleet.up if not replica.ending), key=lambda replica: -replica.number
    )
    yield from standing[: max(0, len(standing) - fleet.min)]


def _ending(state: LocalState) -> set[DeviceId]:
    return {device for fleet in state.fleets for each in fleet.up if each.ending for device in each.devices}


def _future_memory(desk: Desk, state: LocalState, unmet: Sequence[Unmet]) -> int | None:
    """Memory that is free once everything has ended that is ending, with what is kept for gangs."""
    if desk.free_memory is None:
        return None
    ending = sum(fleet.memory_bytes for fleet in state.fleets for each in fleet.up if each.ending)
    kept = sum(each.queue.memory_bytes * each.wanted for each in unmet if each.kept)
    return desk.free_memory + ending + kept
