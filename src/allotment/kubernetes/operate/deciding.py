"""The window controller as one pure function: a cluster as it is, what was remembered, the time.

    decisions, memory = decide(snapshot, memory, now)

Each Job of a campaign that has not ended gets one decision with its reason, also when it stays as it is. The
same cluster decides the same, whoever looks and however often it was started anew: what is remembered only
holds back what has been said or refused already.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.operate.bounds import decision, left_alone
from allotment.kubernetes.operate.devices import Devices
from allotment.kubernetes.operate.giving import gifts
from allotment.kubernetes.operate.growing import NO_QUEUES, Growing
from allotment.kubernetes.operate.part import Part, count_of, parts_of
from allotment.kubernetes.operate.plain import judged_by_kai, judged_plain
from allotment.kubernetes.operate.queued import Wish, judged
from allotment.kubernetes.operate.queues import Queues
from allotment.kubernetes.operate.values import Decision, Memory, Pace, Verb, pause_after

USUAL = Pace()
ONCE = frozenset({Verb.LEFT, Verb.ASKS})
"""What is said once and not at every look."""


def decide(
    snapshot: Snapshot, memory: Memory, now: float, pace: Pace = USUAL
) -> tuple[tuple[Decision, ...], Memory]:
    """What becomes of every Job that goes on, in the order of their names, and what to remember."""
    queues, parts = Queues(snapshot, now), tuple(parts_of(snapshot))
    decided: list[Decision] = []
    wishes: list[Wish] = []
    given = gifts([part for part in parts if left_alone(part) is None and part.is_queued], queues, pace)
    for part in parts:
        found = _judged(part, queues, pace)
        gift = given.get(part.uid)
        if gift is not None and (isinstance(found, Wish) or not found.is_move):
            found = decision(part, Verb.SHRINKS, gift.reason, gift.to)
        if isinstance(found, Wish):
            wishes.append(found)
        else:
            decided.append(found)
    growing = Growing(queues, Devices(snapshot), pace, memory, now, dict(_open(parts, queues)))
    decided += growing.decided(wishes)
    decided.sort(key=lambda each: (each.namespace, each.name))
    return _remembered(decided, parts, memory, now)


def _judged(part: Part, queues: Queues, pace: Pace) -> Decision | Wish:
    why, window = left_alone(part), part.window
    if part.is_by_kai:
        return judged_by_kai(part)
    if why is not None or window is None:
        return decision(part, Verb.LEFT, why or "")
    if part.is_queued:
        return judged(part, window, queues, pace)
    return judged_plain(part, window)


def _open(parts: Iterable[Part], queues: Queues) -> Iterable[tuple[str, str]]:
    """Trees in which a growth of ours is on its way; without queues, a Job whose pods have no place yet."""
    for part in parts:
        granted = part.slices.granted
        queue = None if granted is None else queues.queue_of(granted)
        if granted is not None and queue is not None and part.width > count_of(granted):
            yield queues.tree_of(queue), f"{part.namespace}/{part.name}"
        elif not part.is_queued and part.unplaced:
            yield NO_QUEUES, f"{part.namespace}/{part.name}"


def _remembered(
    decided: list[Decision], parts: tuple[Part, ...], memory: Memory, now: float
) -> tuple[tuple[Decision, ...], Memory]:
    """Without what has been said, and with what was refused."""
    shown = tuple(
        each for each in decided if each.verb not in ONCE or (each.uid, each.reason) not in memory.said
    )
    said = frozenset((each.uid, each.reason) for each in decided if each.verb in ONCE)
    live = {part.uid for part in parts}
    pauses = {uid: pause for uid, pause in memory.pauses.items() if uid in live}
    for each in decided:
        if each.verb is Verb.TAKEN_BACK:
            pauses[each.uid] = pause_after(pauses.get(each.uid), now)
    for part in parts:
        granted, pause = part.slices.granted, pauses.get(part.uid)
        if pause is not None and granted is not None and now > pause.until + _forgets(pause.times):
            pauses.pop(part.uid)
    return shown, replace(memory, pauses=pauses, said=said)


def _forgets(times: int) -> float:
    """For how long after a pause one more refusal still counts as in a row."""
    return 600.0 * times
