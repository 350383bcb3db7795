"""Which work starts now on this machine: lanes, then order of arrival, each filled as it fits.

Campaigns, fleets and gangs go by the value of their lane, the highest first, then by arrival. A campaign
starts as many of its ready indexes as its window, the devices and the memory allow; a fleet brings its
replicas up to its least number; a gang starts all of its workers at once, or none. What one leaves goes to
the next, so that no device is idle while a ready volume that fits it waits, and who fits nothing holds nobody
up, but for a gang (`giving_back`). Replicas of fleets above their least number take what is free after
everybody had a turn. A window's minimum is a wish, and nothing is taken back from volumes that run. Which
devices one gets is the allocator's answer. A decision costs what it starts and not what is ready: it stops
when nothing more fits.

Where teams share the machine by their queues, `local_teams` decides instead, by other rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from allotment.scheduling.giving_back import Unmet, gather, give_back
from allotment.scheduling.local_desk import Desk, fallback_words
from allotment.scheduling.local_state import (
    Ask,
    CampaignQueue,
    Decision,
    FleetQueue,
    GangQueue,
    GiveBack,
    Holding,
    LocalMemory,
    LocalState,
    Queue,
    Reclaim,
    Replica,
    Sharing,
    Start,
    StartGang,
    StartReplica,
    TeamQueue,
    Ties,
    Wait,
    WaitReason,
    Window,
)
from allotment.scheduling.local_teams import decide_for_teams

__all__ = [
    "Ask",
    "CampaignQueue",
    "Decision",
    "FleetQueue",
    "GangQueue",
    "GiveBack",
    "Holding",
    "LocalMemory",
    "LocalState",
    "Queue",
    "Reclaim",
    "Replica",
    "Sharing",
    "Start",
    "StartGang",
    "StartReplica",
    "TeamQueue",
    "Ties",
    "Wait",
    "WaitReason",
    "Window",
    "decide",
]

Q = TypeVar("Q", bound=Queue)


def decide(
    state: LocalState, memory: LocalMemory, now: float, ties: Ties = Ties.NAME
) -> tuple[tuple[Decision, ...], LocalMemory]:
    """Starts in the order in which to make them, then what is given back, then a Wait for each that waits."""
    if state.sharing is not None:
        return decide_for_teams(state, state.sharing, memory, now)
    desk = Desk(state)
    starts: list[Decision] = []
    unmet: list[Unmet] = []
    queues: list[Queue] = [*state.campaigns, *state.fleets, *state.gangs]
    for queue in _in_order(queues, ties):
        started, missing = _turn(desk, queue)
        starts += started
        if missing is None:
            continue
        if isinstance(queue, GangQueue) and missing.may_come:
            missing = gather(desk, state, queue, missing)
        unmet.append(missing)
    given_back = give_back(desk, state, unmet)
    replicas = Counter(start.fleet for start in starts if isinstance(start, StartReplica))
    for fleet in _in_order(state.fleets, ties):
        _keep_for_paused(desk, fleet, replicas[fleet.name])
    for fleet in _in_order(state.fleets, ties):
        starts += _extras(desk, fleet, replicas[fleet.name])
    waiting: dict[str, tuple[WaitReason, float]] = {}
    for each in unmet:
        before, since = memory.waiting.get(each.queue.name, (each.reason, now))
        waiting[each.queue.name] = each.reason, since if before is each.reason else now
    waits = (Wait(each.queue.name, each.reason, each.message, waiting[each.queue.name][1]) for each in unmet)
    return (*starts, *given_back, *waits), LocalMemory(waiting)


def _in_order(queues: Sequence[Q], ties: Ties) -> Iterable[Q]:
    tie = _TIES[ties]
    places = sorted(
        range(len(queues)),
        key=lambda place: (-queues[place].lane_value, queues[place].arrival, *tie(queues[place]), place),
    )
    return (queues[place] for place in places)


_TIES: Mapping[Ties, Callable[[Queue], tuple[str, ...]]] = {
    Ties.NAME: lambda queue: (queue.name,),
    Ties.LISTED: lambda _: (),
}


def _turn(desk: Desk, queue: Queue) -> tuple[list[Decision], Unmet | None]:
    """What one of them starts in its turn, and what it misses."""
    if isinstance(queue, CampaignQueue):
        return _campaign_turn(desk, queue)
    return _fleet_turn(desk, queue) if isinstance(queue, FleetQueue) else _gang_turn(desk, queue)


def _campaign_turn(desk: Desk, queue: CampaignQueue) -> tuple[list[Decision], Unmet | None]:
    started: list[Decision] = list(_filled(desk, queue))
    left = len(queue.ready) - len(started)
    if not left:
        return started, None
    reason, message = desk.why_not(queue)
    running, most = queue.running + len(started), queue.window.max
    if reason is not WaitReason.NEVER and running >= most:
        reason, message = WaitReason.WINDOW, f"{running} run, and its window is {most}"
    return started, Unmet(queue, reason, message, min(left, max(0, most - running)))


def _filled(desk: Desk, queue: CampaignQueue) -> Iterator[Start]:
    """Give devices to the campaign's next indexes until something is missing."""
    room = max(0, queue.window.max - queue.running)
    for place, index in enumerate(islice(queue.ready, room), start=1):
        allocation = desk.give(queue)
        if allocation is None:
            return
        words = f"it fits, {queue.running + place} of at most {queue.window.max} at once"
        yield Start(queue.name, index, allocation, words + fallback_words(queue.claim, allocation))


def _fleet_turn(desk: Desk, queue: FleetQueue) -> tuple[list[Decision], Unmet | None]:
    """Bring a fleet to its least number."""
    missing = queue.min - queue.standing
    started: list[Decision] = []
    for number in islice(queue.ready, max(0, missing)):
        allocation = desk.give(queue)
        if allocation is None:
            return started, Unmet(queue, *desk.why_not(queue), missing - len(started))
        words = f"it fits, {queue.standing + len(started) + 1} of at least {queue.min}"
        started.append(
            StartReplica(queue.name, number, allocation, words + fallback_words(queue.claim, allocation))
        )
    return started, None


def _keep_for_paused(desk: Desk, queue: FleetQueue, started: int) -> None:
    """Keep devices for replicas of the least number that pause, before somebody's extras take them."""
    up = queue.standing - queue.paused + started
    for _ in range(min(queue.paused, max(0, queue.min - up))):
        if desk.give(queue) is None:
            return


def _extras(desk: Desk, queue: FleetQueue, started: int) -> Iterator[StartReplica]:
    """Replicas above a fleet's least number, on what is still free."""
    standing = queue.standing + started
    if standing < queue.min:
        return
    for place, number in enumerate(islice(queue.ready, started, started + max(0, queue.max - standing)), 1):
        allocation = desk.give(queue)
        if allocation is None:
            return
        words = f"it is free, {standing + place} of at most {queue.max}"
        yield StartReplica(queue.name, number, allocation, words + fallback_words(queue.claim, allocation))


def _gang_turn(desk: Desk, queue: GangQueue) -> tuple[list[Decision], Unmet | None]:
    allocations = desk.give_together(queue, queue.min, queue.workers)
    if allocations:
        words = f"all fit, {len(allocations)} of {queue.workers} workers"
        return [StartGang(queue.name, allocations, words)], None
    return [], Unmet(queue, *desk.why_not(queue, queue.min), queue.min)
