"""What each team has, asks for and may have of one machine, while a decision is taken.

The shares are KAI's: what is there is divided among the teams that ask by `kai.division`, quota first, then
by over-quota weight up to the limit, in whole cards unless parts are asked for. A team that may use only
some of the devices asks for no more than those, and for nothing that it can never have (`local_reach`). Who
goes first is KAI's too: a team within its quota, then the smaller dominant share. What cannot be taken back
now is its team's share at least, and the others divide the rest: they get theirs from those who can give.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from allotment.devices.slices import DeviceId
from allotment.scheduling.kai.division import Claimant, divide
from allotment.scheduling.local_amounts import CLOSE, NOTHING, Amount, Measure
from allotment.scheduling.local_reach import in_one_order, reach_of, times
from allotment.scheduling.local_state import Ask, LocalState, Queue, Sharing, TeamQueue
from allotment.scheduling.state.share_queues import NO_LIMIT

NOWHERE: Final = 1000.0
"""By how much a share counts of what a team may have none of."""


@dataclass(slots=True)
class Account:
    """One team. ``all`` is what it holds, ``staying`` the part that nobody has told to end, ``firm`` the
    part that is never taken back, ``fixed`` the part of what stays that cannot be taken back now; ``asked``
    is what it wants beside. ``steady`` is what stays without what starts in this decision: that may fail, or
    be another engine's to start, so that nothing ends on its account."""

    team: TeamQueue
    all: Amount = NOTHING
    staying: Amount = NOTHING
    steady: Amount = NOTHING
    firm: Amount = NOTHING
    fixed: Amount = NOTHING
    asked: Amount = NOTHING
    fair: Amount = NOTHING

    @property
    def quota(self) -> float:
        """What it is guaranteed, in cards."""
        return self.team.quota or 0.0

    @property
    def allocatable(self) -> Amount:
        """What it has a right to now: its fair share, and its quota, up to its limit."""
        cards = max(self.quota, self.fair.cards)
        limit = cards if self.team.limit is None else self.team.limit
        return Amount(min(limit, cards), self.fair.processors)

    def has_room(self, more: Amount) -> bool:
        """Whether its limit lets it have so much more."""
        if self.team.limit is None or not more.cards:
            return True
        return self.all.cards + more.cards <= self.team.limit + CLOSE

    def is_guaranteed(self, more: Amount) -> bool:
        """Whether so much more that is never taken back is within its quota; where none is stated, it is."""
        if self.team.quota is None or not more.cards:
            return True
        return self.firm.cards + more.cards <= self.quota + CLOSE

    def most(self, one: Amount, *, lends: bool) -> int:
        """How many more of one its limit lets it have, and its quota of such as are never taken back."""
        team = self.team
        most = times(math.inf if team.limit is None else team.limit - self.all.cards, one)
        free = lends or team.quota is None
        return most if free else min(most, times(self.quota - self.firm.cards, one))

    def is_share(self, more: Amount) -> bool:
        """Whether it has a right to so much more."""
        right, then = self.allocatable, self.staying.plus(more)
        cards = not more.cards or then.cards <= right.cards + CLOSE
        return cards and (not more.processors or then.processors <= right.processors + CLOSE)

    def can_lose(self, less: Amount) -> bool:
        """Whether it has more than its share, and so much less leaves it what is guaranteed."""
        left = self.steady.plus(less, -1.0)
        over = (not less.cards or self.steady.cards > self.fair.cards + CLOSE) and (
            not less.processors or self.steady.processors > self.fair.processors + CLOSE
        )
        return over and less != NOTHING and (not less.cards or left.cards >= self.quota - CLOSE)

    def dominant(self, more: Amount = NOTHING) -> float:
        """The larger of its parts of what it may have of cards and of processors, with so much more."""
        then, right = self.staying.plus(more), self.allocatable
        return max(_part(had, may) for had, may in zip(then, right, strict=True))

    def order(self, more: Amount) -> tuple[bool, float, float, str]:
        """The smaller goes first, if so much more is to start."""
        starved = bool(more.cards) and self.staying.cards + more.cards <= self.quota + CLOSE
        return not starved, round(self.dominant(more), 9), round(self.dominant(), 9), self.team.name

    def lose(self, less: Amount) -> None:
        """So much of it is told to end."""
        self.staying, self.steady = self.staying.plus(less, -1.0), self.steady.plus(less, -1.0)

    def take(self, more: Amount, *, lends: bool) -> None:
        """It has so much more."""
        self.all, self.staying = self.all.plus(more), self.staying.plus(more)
        self.firm = self.firm if lends else self.firm.plus(more)


def _part(had: float, may: float) -> float:
    return had / may if may > 0 else had * NOWHERE


def accounts_of(state: LocalState, sharing: Sharing, measure: Measure) -> dict[str, Account]:
    """The account of every team that is known, holds something, or asks for something."""
    known = {team.name: team for team in sharing.teams}
    names = {
        *known,
        sharing.team,
        *(ask.team for ask in sharing.others),
        *(each.team for each in sharing.held),
    }
    accounts = {name: Account(known.get(name, TeamQueue(name))) for name in sorted(names)}
    usable: dict[str, set[DeviceId]] = {name: set() for name in accounts}
    for holding in sharing.held:
        account, amount = accounts[holding.team], measure.of_holding(holding)
        account.all = account.all.plus(amount)
        account.staying = account.staying if holding.ending else account.staying.plus(amount)
        account.firm = account.firm if holding.lends else account.firm.plus(amount)
        if not holding.ending and (holding.deaf or not holding.lends):
            account.fixed = account.fixed.plus(amount)
        usable[holding.team] |= {*holding.devices, *(device for device, _ in holding.shares)}
    promised = {name: account.firm.cards for name, account in accounts.items()}
    for ask in in_one_order(asks_of(state, sharing)):
        team, queue = ask.team, ask.queue
        one = measure.typical(queue.claim, shared=is_shared(queue))
        reach = reach_of(queue, one, accounts[team].team, promised[team], measure)
        promised[team] += one.cards * reach.firm
        accounts[team].asked = accounts[team].asked.plus(one, sum(reach))
        usable[team] |= measure.usable(queue.claim) if sum(reach) else set()
    for account in accounts.values():
        account.steady = account.staying
    bounds = {name: measure.of_devices(ids) for name, ids in usable.items()}
    _divide(accounts, bounds, _shared_out(state, sharing, measure))
    return accounts


def asks_of(state: LocalState, sharing: Sharing) -> tuple[Ask, ...]:
    """What this engine asks for, then what the others do."""
    queues: tuple[Queue, ...] = (*state.campaigns, *state.fleets, *state.gangs)
    return (*(Ask(sharing.engine, sharing.team, queue) for queue in queues), *sharing.others)


def is_shared(queue: Queue) -> bool:
    """Whether it asks for parts of cards."""
    return bool(getattr(queue, "shared", False))


def _shared_out(state: LocalState, sharing: Sharing, measure: Measure) -> Amount:
    """What the teams share: all but what is held by something that is of none of them."""
    ours = {device for each in sharing.held for device in each.devices}
    parts = NOTHING
    for device, amount in state.shares:
        parts = parts.plus(measure.of_share(device, amount))
    for each in sharing.held:
        for device, amount in each.shares:
            parts = parts.plus(measure.of_share(device, amount), -1.0)
    foreign = measure.of_devices(state.taken - ours).plus(Amount(max(0.0, parts.cards), 0.0))
    total = measure.total.plus(foreign, -1.0)
    return Amount(max(0.0, total.cards), max(0.0, total.processors))


def _divide(accounts: Mapping[str, Account], bounds: Mapping[str, Amount], total: Amount) -> None:
    """Give each its fair share of cards and of processors."""
    cards, processors = [], []
    for name, account in accounts.items():
        team, wanted = account.team, account.all.plus(account.asked)
        limit = NO_LIMIT if team.limit is None else team.limit
        request = min(wanted.cards, max(bounds[name].cards, account.all.cards))
        cards.append(Claimant(name, account.quota, limit, team.weight, request))
        request = min(wanted.processors, max(bounds[name].processors, account.all.processors))
        processors.append(Claimant(name, 0.0, NO_LIMIT, team.weight, request))
    fixed = [{name: account.fixed[unit] for name, account in accounts.items()} for unit in (0, 1)]
    of_cards = _beside(total.cards, cards, fixed[0])
    of_processors = _beside(total.processors, processors, fixed[1])
    for name, account in accounts.items():
        account.fair = Amount(of_cards[name], of_processors[name])


def _beside(total: float, claimants: Sequence[Claimant], fixed: Mapping[str, float]) -> dict[str, float]:
    """The fair shares, of which none is less than what cannot be taken back now: others share the rest."""
    shares: dict[str, float] = {}
    while True:
        left = [each for each in claimants if each.name not in shares]
        found = _rounded(divide(max(0.0, total - sum(shares.values())), left))
        over = {each.name: fixed[each.name] for each in left if fixed[each.name] > found[each.name] + CLOSE}
        if not over:
            return {**found, **shares}
        shares.update(over)


def _rounded(shares: Mapping[str, float]) -> dict[str, float]:
    return {name: round(share, 9) for name, share in shares.items()}
