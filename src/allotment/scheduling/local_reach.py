"""How much of what a queue asks for its team may ever have on this machine.

A share is divided among those who ask, so that asking for what one can never have would take from the others:
a gang that is larger than the machine, a volume of more cards than the team's limit, more of what is never
taken back than the quota guarantees. None of that counts as asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from allotment.scheduling.local_amounts import CLOSE, Amount, Measure
from allotment.scheduling.local_state import Ask, CampaignQueue, FleetQueue, GangQueue, Queue, TeamQueue

_ANY: Final = 1 << 40


class Reach(NamedTuple):
    """So many that are never taken back, and so many that may be."""

    firm: int
    lent: int


NONE: Final = Reach(0, 0)


def wanted_of(queue: Queue) -> int:
    """How many more of it are wanted now."""
    if isinstance(queue, GangQueue):
        return queue.workers
    if isinstance(queue, FleetQueue):
        return max(0, min(len(queue.ready), queue.max - queue.standing))
    return max(0, min(len(queue.ready), queue.window.max - queue.running))


def reach_of(queue: Queue, one: Amount, team: TeamQueue, firm: float, measure: Measure) -> Reach:
    """Of what it wants how much its team may ever have, while it has so many cards that nobody takes back.

    ``one`` is what one of it takes.
    """
    by_quota = times(math.inf if team.quota is None else team.quota - firm, one)
    by_limit = times(math.inf if team.limit is None else team.limit, one)
    if isinstance(queue, GangQueue):
        most = min(queue.workers, by_quota, by_limit)
        return NONE if most < queue.min or not measure.has_room(queue.claim, queue.min) else Reach(most, 0)
    if not by_limit:
        return NONE
    least, above = _parts(queue)
    firm_ones = min(least, by_quota)
    return Reach(firm_ones, above if firm_ones == least else 0)


def times(room: float, one: Amount) -> int:
    """How many go into so many cards; any number of what takes no card."""
    if not one.cards or math.isinf(room):
        return _ANY
    return max(0, math.floor((room + CLOSE) / one.cards))


def in_one_order(asks: Iterable[Ask]) -> list[Ask]:
    """The asks as every engine lists them, whichever are its own: the first reach what is left of a quota."""
    return sorted(
        asks,
        key=lambda ask: (-ask.queue.lane_value, ask.queue.arrival, ask.engine, ask.queue.name),
    )


def _parts(queue: CampaignQueue | FleetQueue) -> Reach:
    """What it wants that is never taken back, and that is."""
    wanted = wanted_of(queue)
    if isinstance(queue, CampaignQueue):
        return Reach(0, wanted) if queue.lends else Reach(wanted, 0)
    least = min(wanted, max(0, queue.min - queue.standing)) if queue.preemptible else wanted
    return Reach(least, wanted - least)
