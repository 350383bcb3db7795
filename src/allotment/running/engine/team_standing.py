"""How the teams of a machine stand now, for whoever looks on: the board and the ledger at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from allotment.devices.board import notices
from allotment.devices.ledger import Ledger, LedgerView
from allotment.devices.world import World
from allotment.running.engine.team_lines import Said, said_by
from allotment.running.engine.team_table import sharing_of
from allotment.scheduling.local import Holding, LocalState, Sharing, TeamQueue
from allotment.scheduling.local_accounts import Account, accounts_of
from allotment.scheduling.local_amounts import NOTHING, Amount, measure_of
from allotment.scheduling.local_reclaim import newest


@dataclass(frozen=True, slots=True)
class NextEnd:
    """What of a team would end first for another: its campaign, its volume, and how long it is still kept."""

    name: str
    label: str
    kept_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Standing:
    """Each team's account, how many of its works wait, what of it would end next; ``others`` hold the rest.

    ``total`` is what the machine has, ``free`` what nobody holds, ``queues`` what the engines of each team go
    by.
    """

    accounts: Mapping[str, Account]
    waiting: Mapping[str, int]
    next_ends: Mapping[str, NextEnd]
    others: Amount
    total: Amount
    free: Amount
    queues: Mapping[str, TeamQueue] = field(default_factory=dict)


def standing(ledger: Ledger, world: World, now: float) -> Standing:
    """How it stands; ``now`` is of the monotonic clock of this machine.

    Raises WorldError when the ledger cannot be read.
    """
    if not ledger.folder.exists():
        total = measure_of(world).total
        return Standing({}, {}, {}, NOTHING, total, total)
    with ledger.locked() as view:
        said = {each.engine: each for each in map(said_by, notices(view)) if each is not None}
        sharing = sharing_of(said, view, "", now, alone=True) or Sharing("", "", ())
        return _of(view, world, said, sharing, now)


def _of(view: LedgerView, world: World, said: Mapping[str, Said], sharing: Sharing, now: float) -> Standing:
    measure = measure_of(world)
    taken = frozenset(view.taken())
    shares = tuple(
        (device, each.device_bytes or 0) for device, holders in view.shares().items() for each in holders
    )
    state = LocalState((), world, taken, shares=shares, sharing=sharing)
    accounts = accounts_of(state, sharing, measure)
    accounts.pop("", None)
    held = NOTHING
    for account in accounts.values():
        held = held.plus(account.all)
    ours = {device for each in sharing.held for device in each.devices}
    others = NOTHING
    for device in taken - ours:
        amount = measure.of_device(device)
        others = others.plus(Amount(1.0) if amount == NOTHING else amount)
    parts = sum(measure.of_share(*share).cards for share in shares)
    parts -= sum(measure.of_share(*share).cards for each in sharing.held for share in each.shares)
    others = others.plus(Amount(max(0.0, parts)))
    waiting: dict[str, int] = {}
    for ask in sharing.others:
        waiting[ask.team] = waiting.get(ask.team, 0) + 1
    free = measure.total.plus(held, -1.0).plus(others, -1.0)
    ends = dict(_next_ends(accounts, sharing, said, now, world))
    queues = {team.name: team for team in sharing.teams}
    return Standing(accounts, waiting, ends, others, measure.total, free, queues)


def _next_ends(
    accounts: Mapping[str, Account], sharing: Sharing, said: Mapping[str, Said], now: float, world: World
) -> Iterator[tuple[str, NextEnd]]:
    """Of each team that has more than its quota what would end first, were others to ask for their shares."""
    labels = {
        (engine, unit.holding.name, unit.holding.number): unit.label
        for engine, each in said.items()
        for unit in each.units
    }
    for name, account in accounts.items():
        able = [
            each
            for each in sharing.held
            if each.team == name
            and (each.lends, each.ending, each.deaf) == (True, False, False)
            and _can_lose(account, each, world)
        ]
        if not able:
            continue
        ripe = [each for each in able if each.keeps_until <= now]
        first = max(ripe, key=newest) if ripe else min(able, key=lambda each: each.keeps_until)
        label = labels.get((first.engine, first.name, first.number), str(first.number))
        yield name, NextEnd(first.name, label, max(0.0, first.keeps_until - now))


def _can_lose(account: Account, holding: Holding, world: World) -> bool:
    """Whether it may go once somebody else asks: it is above the quota, whoever asks now."""
    amount = measure_of(world).of_holding(holding)
    left = account.staying.plus(amount, -1.0)
    return amount != NOTHING and (not amount.cards or left.cards >= account.quota - 1e-9)
