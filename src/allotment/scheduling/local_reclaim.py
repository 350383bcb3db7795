"""Who ends for whom on a machine that teams share.

A team that waits for what is its share gets it from teams that have more than theirs: of the team that has
most above its share the newest first, never what has not had its minimum runtime, never anything that a quota
guarantees, nothing of an engine that would not hear of it, and nothing when that would not help. What ends
already counts as free. Within a team, replicas above a fleet's least number end for a higher lane. Volumes
never end for others of their own team.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from allotment.devices.claims import Allocation
from allotment.scheduling.local_accounts import Account
from allotment.scheduling.local_amounts import NOTHING, Amount, Measure
from allotment.scheduling.local_desk import Desk
from allotment.scheduling.local_lines import Counter, Line, freed
from allotment.scheduling.local_state import GangQueue, Holding, LocalState, Sharing, WaitReason

MOST_AT_ONCE: Final = 8
"""Of one campaign in one decision: the next one comes soon."""

Room = tuple[list[Holding], tuple[Allocation, ...]]
"""What has to end, and what is given then."""


@dataclass(slots=True)
class Taking:
    """What is taken back in one decision: pairs of what ends, and the line that it ends for."""

    state: LocalState
    sharing: Sharing
    counter: Counter
    accounts: Mapping[str, Account]
    measure: Measure
    now: float
    ended: list[tuple[Holding, Line]] = field(default_factory=list)
    _owed: dict[str, Amount] = field(default_factory=dict)
    _promised: list[tuple[Line, tuple[Allocation, ...]]] = field(default_factory=list)
    _desk: Desk | None = None
    _in_vain: set[tuple[Any, ...]] = field(default_factory=set)

    def serve(self, line: Line) -> None:
        """Let end what helps a line that waits, as far as that is its team's share."""
        if line.reason not in {WaitReason.DEVICES, WaitReason.MEMORY, WaitReason.SHARE}:
            return
        account, unit = self.accounts[line.team], line.amount(self.measure)
        for _ in range(1 if isinstance(line.queue, GangQueue) else min(line.left, MOST_AT_ONCE)):
            then = self._owed.get(line.team, NOTHING).plus(unit)
            is_share = account.is_share(then) and account.has_room(then)
            alike = (line.team, line.reason, is_share, line.claimed, line.queue.lane_value)
            if alike in self._in_vain and not line.kept:
                return
            found = self._make_room(line, is_share=is_share)
            if found is None:
                self._in_vain |= set() if line.kept else {alike}
                return
            self._in_vain.clear()
            victims, allocations = found
            self._promised.append((line, allocations))
            self._owed[line.team] = then
            for victim in victims:
                self.ended.append((victim, line))

    def _make_room(self, line: Line, *, is_share: bool) -> Room | None:
        """What has to end so that the next start of the line fits: nothing where it will anyway."""
        desk = self._future(line)
        found = line.least(desk)
        if found:
            return [], found
        asked: list[Holding] = []
        for victim in self._eligible(line, is_share=is_share):
            asked.append(victim)
            if victim.shares:
                desk = self._laid_out(line, asked)
            else:
                desk.free(victim.devices, victim.memory_bytes)
            found = line.least(desk)
            if found:
                self._desk = None if line.kept else desk
                return self._settled(line, asked, found)
        self._desk = None if asked else self._desk
        return None

    def _settled(self, line: Line, asked: list[Holding], found: tuple[Allocation, ...]) -> Room:
        """Of those that were asked the ones whose devices are needed, where that is enough."""
        ids = {device for allocation in found for device in allocation.ids}
        needed = [each for each in asked if ids & {*each.devices, *(device for device, _ in each.shares)}]
        again = line.least(self._laid_out(line, needed)) if len(needed) < len(asked) else found
        self._desk = self._desk if len(needed) == len(asked) else None
        victims = needed if again else asked
        for victim in victims:
            self.accounts[victim.team].lose(self.measure.of_holding(victim))
        return victims, again or found

    def _future(self, line: Line) -> Desk:
        """What there will be once all has ended that does, less what is promised of it."""
        if line.kept:
            self._desk = None
            return self._laid_out(line, ())
        if self._desk is None:
            self._desk = self._laid_out(line, ())
        return self._desk

    def _laid_out(self, line: Line, asked: Sequence[Holding]) -> Desk:
        """The same, laid out anew, once these have ended too."""
        gone = [each for each in self.sharing.held if each.ending]
        gone += [each for each, _ in self.ended]
        desk = self.counter.laid_out(freed(self.state, [*gone, *asked]), without=line)
        for promised, allocations in self._promised:
            for allocation in allocations:
                desk.hold(promised.queue, allocation)
        return desk

    def _eligible(self, line: Line, *, is_share: bool) -> Iterator[Holding]:
        """What may end for the line, in the order in which it is asked; each is taken for ended then."""
        yield from self._of_lower_lanes(line)
        if not is_share:
            return
        trial = {name: replace(account) for name, account in self.accounts.items()}
        left = [each for each in self._lent(line) if each.team != line.team and each.keeps_until <= self.now]
        while True:
            able = [each for each in left if trial[each.team].can_lose(self.measure.of_holding(each))]
            if not able:
                return
            worst = max({each.team for each in able}, key=lambda team: (trial[team].dominant(), team))
            victim = max((each for each in able if each.team == worst), key=newest)
            left.remove(victim)
            trial[worst].lose(self.measure.of_holding(victim))
            yield victim

    def _of_lower_lanes(self, line: Line) -> Iterator[Holding]:
        ours = [
            each
            for each in self._lent(line)
            if each.team == line.team and each.replica and each.lane_value < line.queue.lane_value
        ]
        yield from sorted(ours, key=lambda each: (each.lane_value, *(-part for part in newest(each)[:2])))

    def _lent(self, line: Line) -> Iterator[Holding]:
        """What may be taken back at all, and has something that the line can use."""
        usable = self.measure.usable(line.queue.claim)
        gone = {id(each) for each, _ in self.ended}
        for each in self.sharing.held:
            devices = {*each.devices, *(device for device, _ in each.shares)}
            helps = not usable.isdisjoint(devices) or (line.reason is WaitReason.MEMORY and each.memory_bytes)
            if each.lends and not (each.ending or each.deaf) and id(each) not in gone and helps:
                yield each

    def waits_for_runtime(self, line: Line) -> float | None:
        """When the first of what could be taken back for the line has had its minimum runtime."""
        unit: Amount = line.amount(self.measure)
        if not self.accounts[line.team].is_share(unit):
            return None
        moments = [
            each.keeps_until
            for each in self._lent(line)
            if each.team != line.team and self.accounts[each.team].can_lose(self.measure.of_holding(each))
        ]
        return min((each for each in moments if each > self.now), default=None)


def newest(holding: Holding) -> tuple[float, int, str, str]:
    """The larger is the newer."""
    return holding.since, holding.number, holding.engine, holding.name
