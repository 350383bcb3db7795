"""The shares of KAI's queues, joined from the three places where they stand.

What is guaranteed and the most are in the Queues; who holds and asks for what is counted from the pods, as
KAI's scheduler counts them; the fair share only its division tells, which is computed here by its model. A
Queue's status says what was allocated and requested too, a little later than the pods: where the two differ
that is told. Without nodes, or where pods cannot be seen, the status is all there is. Facts: KAI 0.17.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace
from fractions import Fraction
from typing import Final

from allotment.kubernetes.cluster.capacity import KAI, NOTHING, Amount, Capacity, amount_text
from allotment.kubernetes.cluster.desk import ODD
from allotment.kubernetes.cluster.kai_state import KaiScene, kai_scene_of
from allotment.kubernetes.cluster.quota import capacities_of
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.waiting import Waiting, waiting_for_kai
from allotment.kubernetes.kinds import KAI_POD_GROUP, KAI_QUEUE, NODE, POD
from allotment.planning.outlook.sending import unseen
from allotment.planning.queues import Share, Shares, share_of, total
from allotment.scheduling.kai import Memory, Standing, Standings, standings
from allotment.scheduling.kai.axes import GPU

CARDS: Final = "GPUs"
MOST_NOTED: Final = 5
SURPLUS: Final = (
    "KAI shares out what is above the quotas by weight, so what a queue may have changes with what others ask"
)
BY_A_MODEL: Final = "the fair shares are those of a model of KAI 0.17, for what asks now"


def shares_of_kai(snapshot: Snapshot) -> Shares:
    """The share of each queue that runs work."""
    capacities = capacities_of(snapshot, CARDS, scheduler=KAI)
    waiting = waiting_for_kai(snapshot)
    hidden = unseen(snapshot, (KAI_QUEUE, KAI_POD_GROUP, POD, NODE))
    if hidden:
        why = f"what queues hold is as their status says, and fair shares are not told: {hidden}"
        return _written(snapshot, capacities, waiting, (why,))
    if not snapshot.of(NODE):
        return _written(snapshot, capacities, waiting)
    try:
        return _counted(snapshot, capacities, waiting)
    except ODD as error:
        words = f"something is not as KAI's API has it ({type(error).__name__}: {error})"
        return _written(snapshot, capacities, waiting, (f"fair shares are not told: {words}",))


def _written(
    snapshot: Snapshot,
    capacities: Mapping[str, Capacity],
    waiting: Mapping[str, Waiting],
    notes: tuple[str, ...] = (),
) -> Shares:
    """As the objects themselves say it."""
    leaves = _leaves(capacities)
    shares = tuple(share_of(capacities[name], waiting.get(name, Waiting())) for name in sorted(leaves))
    notes = (*_narrowing(capacities, leaves), SURPLUS, *notes)
    return Shares(snapshot.name, KAI, shares, notes, ((CARDS, _guaranteed(capacities)),))


def _counted(
    snapshot: Snapshot, capacities: Mapping[str, Capacity], waiting: Mapping[str, Waiting]
) -> Shares:
    """As pods and KAI's division say it."""
    leaves = _leaves(capacities)
    scene = kai_scene_of(snapshot)
    found = standings(scene.state, Memory(scene.settings), scene.now)
    counted = {name: _by_pods(each, capacities, found) for name, each in capacities.items()}
    shares = tuple(_lending(_shares(scene, counted, found, leaves, waiting), found))
    modelled = [BY_A_MODEL] if any(each.fair is not None for each in shares) else []
    late = _late(snapshot, capacities, waiting, found, leaves)
    notes = (*_narrowing(counted, leaves), SURPLUS, *modelled, *late, *scene.notes)
    return Shares(snapshot.name, KAI, shares, notes, ((CARDS, _guaranteed(capacities)),))


def _guaranteed(capacities: Mapping[str, Capacity], above: str = "") -> Amount | None:
    """What queues have for sure together; of one without a quota of its own, what those below it have."""
    amounts = []
    for name, each in capacities.items():
        if (each.parents[0] if each.parents else "") != above:
            continue
        is_leaf = all(name not in other.parents for other in capacities.values())
        amounts.append(each.quota if each.quota is not None or is_leaf else _guaranteed(capacities, name))
    return total(amounts)


def _leaves(capacities: Mapping[str, Capacity]) -> set[str]:
    """Queues without queues below them: they alone run work."""
    return set(capacities) - {parent for each in capacities.values() for parent in each.parents}


def _by_pods(capacity: Capacity, capacities: Mapping[str, Capacity], found: Standings) -> Capacity:
    """The capacity with what pods hold in place of what the status says."""
    rooms = [
        limit - _held(name, found)
        for name in (capacity.queue, *capacity.parents)
        if name in capacities and (limit := capacities[name].limit) is not None
    ]
    held = _held(capacity.queue, found)
    return replace(
        capacity,
        used=held,
        free=max(NOTHING, min(rooms)) if rooms else None,
        borrowed=NOTHING if capacity.quota is None else max(NOTHING, held - capacity.quota),
    )


def _held(name: str, found: Standings) -> Amount:
    standing = found.queues.get(name)
    return NOTHING if standing is None else _exact(standing.held[GPU])


def _shares(
    scene: KaiScene,
    capacities: Mapping[str, Capacity],
    found: Standings,
    leaves: Set[str],
    waiting: Mapping[str, Waiting],
) -> Iterator[Share]:
    is_asked = any(each.asked[GPU] > 0 for each in found.queues.values())
    for name in sorted(leaves):
        works = waiting.get(name, Waiting()).works
        standing = found.queues.get(name)
        if standing is None:
            yield share_of(capacities[name], Waiting(works))
            continue
        more = max(NOTHING, _exact(standing.asked[GPU]) - _exact(standing.held[GPU]))
        share = share_of(capacities[name], Waiting(works, more))
        if not is_asked:
            yield share
            continue
        fair = _exact(standing.fair[GPU])
        words = (
            f"{share.sum}; it asks for {amount_text(more)} more, and its fair share is {amount_text(fair)}"
        )
        yield replace(share, fair=fair, next_end=_next_end(scene, standing), sum=words)


def _next_end(scene: KaiScene, standing: Standing) -> str:
    """Who would be reclaimed first, and from when on."""
    if not standing.goes_first:
        return ""
    until = standing.kept_until
    left = 0 if until is None else math.ceil(until - scene.now)
    kept = f", not before {left:,} s from now" if left > 0 else ""
    return f"{scene.called(standing.goes_first)}{kept}"


def _lending(shares: Iterator[Share], found: Standings) -> Iterator[Share]:
    """With what of each unused quota others have, once what is nobody's quota is used up."""
    listed = list(shares)
    over = sum((each.borrowed for each in listed), NOTHING)
    quotas = sum((each.quota or NOTHING for each in listed), NOTHING)
    from_quotas = max(NOTHING, over - max(NOTHING, _exact(found.total[GPU]) - quotas))
    for each in listed:
        unused = max(NOTHING, (each.quota or NOTHING) - (each.used or NOTHING))
        yield replace(each, lent=min(unused, from_quotas))


def _late(
    snapshot: Snapshot,
    capacities: Mapping[str, Capacity],
    waiting: Mapping[str, Waiting],
    found: Standings,
    leaves: Set[str],
) -> Iterator[str]:
    """Queues whose status says something else than their pods."""
    written = {each["metadata"]["name"] for each in snapshot.of(KAI_QUEUE) if each.get("status")}
    told = []
    for name in sorted(leaves & written & set(found.queues)):
        standing = found.queues[name]
        held, asked = _exact(standing.held[GPU]), _exact(standing.asked[GPU])
        allocated = capacities[name].used
        requested = allocated + waiting.get(name, Waiting()).amount
        if (allocated, max(requested, allocated)) != (held, asked):
            told.append(
                f"the status of queue `{name}` says {amount_text(allocated)} allocated of "
                f"{amount_text(requested)} requested, its pods say {amount_text(held)} of "
                f"{amount_text(asked)}: KAI's queue controller writes a little late; pods are counted here"
            )
    yield from told[:MOST_NOTED]
    if len(told) > MOST_NOTED:
        yield f"the status of {len(told) - MOST_NOTED:,} more queues differs from what their pods say"


def _narrowing(capacities: Mapping[str, Capacity], leaves: Set[str]) -> Iterator[str]:
    """Parents that hold all below them to less than those say."""
    narrowing: dict[str, list[str]] = {}
    for name in sorted(leaves):
        if parent := capacities[name].narrowed_by:
            narrowing.setdefault(parent, []).append(name)
    for parent, names in sorted(narrowing.items()):
        limit = amount_text(capacities[parent].limit or NOTHING)
        below = ", ".join(f"`{name}`" for name in names)
        yield f"`{parent}` holds {below} together to its limit of {limit}"


def _exact(amount: float) -> Amount:
    return Fraction(amount).limit_denominator(1000)
