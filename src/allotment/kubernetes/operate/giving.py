"""Giving back what was borrowed, before it is taken: a peer waits whose own quota others hold.

A cut loses the pods above it, a reclaim the whole Job. Nothing is given unless all of it together lets the
peer in, nothing below a Job's least, and nothing of a Job that was moved a moment ago or whose volumes run
out. The widest give first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from allotment.kubernetes.cluster.capacity import NOTHING, Amount, amount_text
from allotment.kubernetes.follow import fields
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.operate.bounds import bounds_of
from allotment.kubernetes.operate.part import Part, count_of, pod_costs
from allotment.kubernetes.operate.queues import Queues, Waiter, pods_for
from allotment.kubernetes.operate.values import Pace


@dataclass(frozen=True, slots=True)
class Gift:
    """A Job's new width, and for whom."""

    to: int
    reason: str


@dataclass(frozen=True, slots=True)
class _Giver:
    part: Part
    granted: Object
    least: int
    queue: str


@dataclass(frozen=True, slots=True)
class _Lack:
    waiter: Waiter
    resource: str
    amount: Amount

    @property
    def words(self) -> str:
        lacks = f"{amount_text(self.amount, self.resource)} {self.resource}"
        return f"{self.waiter.words} waits, and others hold {lacks} of its own quota"


def gifts(parts: Sequence[Part], queues: Queues, pace: Pace) -> Mapping[str, Gift]:
    """What Jobs give to their peers, by uid; one peer of a tree at a time."""
    found: dict[str, Gift] = {}
    served: set[str] = set()
    givers = [each for part in parts if (each := _giver(part, queues, pace))]
    served |= set(_awaiting(parts, queues, max(pace.settle, pace.patience)))
    for waiter in queues.waiters:
        tree = queues.tree_of(waiter.queue)
        if tree in served or queues.in_flux(tree) is not None:
            continue
        lacking = queues.lacking(waiter)
        if lacking is None or len(lacking) != 1:
            continue
        ((resource, amount),) = lacking.items()
        near = [each for each in givers if queues.tree_of(each.queue) == tree and each.queue != waiter.queue]
        shared = _shared(near, _Lack(waiter, resource, amount), queues)
        if shared:
            served.add(tree)
            found |= shared
    return found


def _awaiting(parts: Sequence[Part], queues: Queues, seconds: float) -> Iterator[str]:
    """Trees in which somebody was moved so lately that what it gave may not have come to its peer yet."""
    for part in parts:
        for workload in part.slices.live:
            queue = queues.queue_of(workload)
            if queue is not None and queues.now - part.stepped < seconds:
                yield queues.tree_of(queue)


def _shared(givers: Sequence[_Giver], lack: _Lack, queues: Queues) -> dict[str, Gift]:
    """Who gives how much; nobody where all together would not do."""
    rest = lack.amount
    borrowed = {each.queue: queues.borrowed(each.queue, lack.resource) for each in givers}
    found: dict[str, Gift] = {}
    for each in sorted(givers, key=lambda giver: (giver.least - giver.part.width, giver.part.name)):
        costs = pod_costs(each.granted)
        pods = pods_for(min(rest, borrowed[each.queue]), costs, lack.resource)
        pods = min(pods or 0, each.part.width - each.least)
        if pods < 1:
            continue
        given = pods * sum((cost for (_, name), cost in costs.items() if name == lack.resource), NOTHING)
        borrowed[each.queue] -= given
        rest -= given
        found[each.part.uid] = Gift(each.part.width - pods, lack.words)
        if rest <= 0:
            return found
    return {}


def _giver(part: Part, queues: Queues, pace: Pace) -> _Giver | None:
    granted = part.slices.granted
    window = part.window
    if granted is None or window is None or part.slices.asked is not None or part.slices.has_given_back:
        return None
    if part.slices.is_paused or fields.holds(granted, "Evicted"):
        return None
    queue = queues.queue_of(granted)
    is_settled = queues.now - part.stepped >= pace.minimum_runtime
    if queue is None or not is_settled or count_of(granted) != part.width or part.left < part.width:
        return None
    return _Giver(part, granted, bounds_of(part, window).least, queue)
