"""How a team stands among those that share the machine, as its events tell it over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from allotment.scheduling.local import LocalState, Queue
from allotment.scheduling.local_accounts import accounts_of
from allotment.scheduling.local_amounts import Amount, measure_of

UNITS: Final = ("GPUs", "processors")

Shown = Mapping[str, float | str | None]
"""The data of a `campaign.share` event."""


def shown_shares(state: LocalState) -> dict[str, Shown]:
    """For each campaign, fleet and gang what it holds, and how its team stands; nothing for one alone."""
    sharing = state.sharing
    if sharing is None:
        return {}
    measure = measure_of(state.world)
    account = accounts_of(state, sharing, measure)[sharing.team]
    total = measure.total
    unit = 0 if total.cards else 1
    queues: tuple[Queue, ...] = (*state.campaigns, *state.fleets, *state.gangs)
    held = {queue.name: Amount() for queue in queues}
    for each in sharing.held:
        if each.engine == sharing.engine:
            held[each.name] = held.get(each.name, Amount()).plus(measure.of_holding(each))
    team = {
        "team_held": round(account.all[unit], 3),
        "team_asked": round(account.all[unit] + account.asked[unit], 3),
        "fair": round(account.fair[unit], 3),
        "quota": account.team.quota,
        "limit": account.team.limit,
        "weight": account.team.weight,
        "total": round(total[unit], 3),
        "unit": UNITS[unit],
    }
    return {name: {"held": round(amount[unit], 3), **team} for name, amount in held.items()}
