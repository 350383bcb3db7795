"""Which work starts and which ends on a machine that teams share, by KAI's rules for queues.

Again and again the team that comes first starts one thing: a volume, a replica, a gang. A team within its
quota comes first, then the smaller dominant share; within a team the higher lane, then the campaign that runs
fewest, so that campaigns start with one volume and grow in turns. What nobody with a better right can use
goes to whoever asks, up to the limit: a share says who goes first and who gives back, and leaves nothing
idle. What needs several devices at once, and has a right to them, is kept the free ones of those that it will
have once the volumes on them are over. Afterwards teams that wait for their share get it back from those
that have more than theirs (`local_reclaim`).

Every engine of the machine decides for all of them, from the same statement of who asks for what and who has
what, and carries out its own part. What can never be taken back (gangs, a fleet's least number, lanes that
are not preemptible) starts only within a quota, where one is stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Any

from allotment.devices.claims import Allocation
from allotment.scheduling.local_accounts import Account, accounts_of, asks_of
from allotment.scheduling.local_amounts import NOTHING, Amount, Measure, measure_of
from allotment.scheduling.local_desk import Desk, fallback_words
from allotment.scheduling.local_lines import Counter, Line, freed, lines_of
from allotment.scheduling.local_reclaim import Taking
from allotment.scheduling.local_state import (
    CampaignQueue,
    Decision,
    FleetQueue,
    GangQueue,
    GiveBack,
    Holding,
    LocalMemory,
    LocalState,
    Reclaim,
    Sharing,
    Start,
    StartGang,
    StartReplica,
    Wait,
    WaitReason,
)
from allotment.scheduling.local_words import Waits, amount_words, reclaim_words, share_words


@dataclass(slots=True)
class _Round:
    """One decision while it is taken."""

    state: LocalState
    sharing: Sharing
    measure: Measure
    accounts: dict[str, Account]
    counter: Counter
    is_kept_for_paused: bool = False

    def fill(self, lines: Sequence[Line]) -> None:
        """Start one thing after the other until no line can."""
        waiting: dict[str, list[tuple[tuple[Any, ...], int, Line]]] = {}
        for place, line in enumerate(lines):
            waiting.setdefault(line.team, []).append((line.order, place, line))
        for heap in waiting.values():
            heapify(heap)
        while heads := [head for heap in waiting.values() if (head := _head(heap)) is not None]:
            first = min(heads, key=self._order)
            if first.is_extra and not self.is_kept_for_paused:
                self.is_kept_for_paused = True
                _keep_for_paused(self.counter.desk, lines)
                continue
            self._step(first)
            _, place, _ = heappop(waiting[first.team])
            heappush(waiting[first.team], (first.order, place, first))

    def _order(self, line: Line) -> tuple[bool, float, float, str]:
        return self.accounts[line.team].order(line.amount(self.measure))

    def _step(self, line: Line) -> None:
        account, unit = self.accounts[line.team], line.amount(self.measure)
        lends = line.lends
        if not account.has_room(unit):
            self._never_or(line, WaitReason.LIMIT, f"its team's limit is {amount_words(account.team.limit)}")
            return
        if not lends and not account.is_guaranteed(unit):
            quota, takes = amount_words(account.quota), amount_words(unit.cards)
            words = (
                f"it is never taken back, so it starts within its team's quota of {quota}, and takes {takes}"
            )
            self._never_or(line, WaitReason.QUOTA, words)
            return
        line.most = account.most(line.one(self.measure), lends=lends)
        found = self.counter.give(line)
        got = self._sum(found)
        if found and not (account.has_room(got) and (lends or account.is_guaranteed(got))):
            self.counter.undo()
            reason = WaitReason.QUOTA if account.has_room(got) else WaitReason.LIMIT
            bound = account.quota if reason is WaitReason.QUOTA else account.team.limit
            line.block(reason, f"its team's {reason} is {amount_words(bound)}")
            return
        if not found:
            line.block(*self.counter.desk.why_not(line.queue, line.together))
            self._gather(line, account, unit)
            return
        account.take(got, lends=lends)
        line.started += 1
        line.left -= 1

    def _never_or(self, line: Line, reason: WaitReason, message: str) -> None:
        """Block a line for a reason of its team's, unless the machine can never have it."""
        never, words = self.counter.desk.why_not(line.queue, line.together)
        line.block(*((never, words) if never is WaitReason.NEVER else (reason, message)))

    def _sum(self, allocations: Iterable[Allocation]) -> Amount:
        total = NOTHING
        for allocation in allocations:
            total = total.plus(self.measure.of(allocation))
        return total

    def _gather(self, line: Line, account: Account, unit: Amount) -> None:
        """Keep the free devices of those that it will have together before long, if they are its share."""
        waits = line.reason in {WaitReason.DEVICES, WaitReason.MEMORY}
        if not waits or not line.is_several(self.measure) or not account.is_share(unit):
            return
        ids = {device for allocation in self._before_long(line) for device in allocation.ids}
        if ids:
            line.kept = frozenset(ids) - self.counter.desk.taken
            self.counter.keep(line, line.kept, line.queue.memory_bytes * line.together)

    def _before_long(self, line: Line) -> tuple[Allocation, ...]:
        """What it will have with what is free now, once as few as possible of the others are over."""
        usable, lane = self.measure.usable(line.queue.claim), line.queue.lane_value
        gone: list[Holding] = []
        for each in sorted(self.sharing.held, key=_soonest):
            lower = each.replica and each.lends and each.lane_value < lane
            devices = {*each.devices, *(device for device, _ in each.shares)}
            if not (each.ending or each.passes or lower) or usable.isdisjoint(devices):
                continue
            gone.append(each)
            if found := line.least(self.counter.laid_out(freed(self.state, gone))):
                return found
        return ()


def _head(heap: list[tuple[tuple[Any, ...], int, Line]]) -> Line | None:
    """A team's next line, once those are gone that start nothing more: no other line's start changes that."""
    while heap:
        line = heap[0][2]
        if line.may_start:
            return line
        heappop(heap)
    return None


def _soonest(holding: Holding) -> tuple[bool, float, str, str, int]:
    return not holding.ending, holding.since, holding.engine, holding.name, holding.number


def decide_for_teams(
    state: LocalState, sharing: Sharing, memory: LocalMemory, now: float
) -> tuple[tuple[Decision, ...], LocalMemory]:
    """What this engine starts, then what of its own ends for others, then a Wait for each that waits."""
    measure = measure_of(state.world)
    accounts = accounts_of(state, sharing, measure)
    turn = _Round(state, sharing, measure, accounts, Counter(state))
    lines = [*lines_of(asks_of(state, sharing), sharing.engine)]
    turn.fill(lines)
    had = {name: replace(account) for name, account in accounts.items()}
    taking = Taking(state, sharing, turn.counter, accounts, measure, now)
    _serve(taking, lines, accounts)
    decisions = [*_starts(turn.counter, accounts), *_ends(taking, sharing.engine, had)]
    waits = Waits(state, turn.counter, taking, had)
    waiting: dict[str, tuple[WaitReason, float]] = {}
    for line in lines:
        if not line.own or line.is_extra or (told := waits.of(line)) is None:
            continue
        reason, message = told
        before, since = memory.waiting.get(line.queue.name, (reason, now))
        waiting[line.queue.name] = reason, since if before is reason else now
        decisions.append(Wait(line.queue.name, reason, message, waiting[line.queue.name][1]))
    return tuple(decisions), LocalMemory(waiting)


def _serve(taking: Taking, lines: Sequence[Line], accounts: dict[str, Account]) -> None:
    """Let end what helps those who wait, in the order in which they would start."""
    waiting = [
        line
        for line in lines
        if line.left and line.reason is not None and not (line.below is not None and line.below.left)
    ]
    unit = {id(line): line.amount(taking.measure) for line in waiting}
    for line in sorted(waiting, key=lambda each: (accounts[each.team].order(unit[id(each)]), each.order)):
        taking.serve(line)


def _keep_for_paused(desk: Desk, lines: Sequence[Line]) -> None:
    """Keep devices for replicas of the least number that pause, before somebody's extras take them."""
    for line in lines:
        queue = line.queue
        if isinstance(queue, FleetQueue) and queue.paused and line.below is not None:
            up = queue.standing - queue.paused + line.below.started
            for _ in range(min(queue.paused, max(0, queue.min - up))):
                if desk.give(queue) is None:
                    break


def _starts(counter: Counter, accounts: dict[str, Account]) -> Iterator[Decision]:
    """What this engine starts, in order."""
    places: dict[int, int] = {}
    for line, allocations in counter.given:
        queue = line.queue
        place = places[id(queue)] = places.get(id(queue), 0) + 1
        if not line.own:
            continue
        if isinstance(queue, GangQueue):
            words = f"all fit, {len(allocations)} of {queue.workers} workers"
            yield StartGang(queue.name, allocations, words)
            continue
        words = f"{share_words(accounts[line.team])}{fallback_words(queue.claim, allocations[0])}"
        if isinstance(queue, CampaignQueue):
            at_once = f"{queue.running + place} of at most {queue.window.max} at once"
            yield Start(queue.name, queue.ready[place - 1], allocations[0], f"it fits, {at_once}; {words}")
        else:
            up = f"{queue.standing + place} of at most {queue.max}"
            yield StartReplica(queue.name, queue.ready[place - 1], allocations[0], f"it fits, {up}; {words}")


def _ends(taking: Taking, engine: str, had: Mapping[str, Account]) -> Iterator[Decision]:
    """What of this engine ends for others."""
    for victim, line in taking.ended:
        if victim.engine != engine:
            continue
        reason = reclaim_words(victim, line, had)
        if victim.replica:
            whom = line.queue.name if line.team == victim.team else line.team
            yield GiveBack(victim.name, victim.number, whom, reason)
        else:
            yield Reclaim(victim.name, victim.number, line.team, reason)
