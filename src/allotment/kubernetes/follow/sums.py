"""What a Workload asks of its queue: numbers from its status where they stand, else from Kueue's message.

``status.admission`` still says what was granted after a window was made narrower, so the number of pods comes
from the spec, less those that have ended. Facts: Kueue 0.19: the message shapes are those of
``pkg/scheduler/flavorassigner``; only the increase of a growing window is held against the maximum, so one
that can never fit says the same as one that waits, and it is worked out here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from allotment.kubernetes.cluster.quota import KAI, KUEUE, RESOURCE, Capacity, capacity_of
from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.model import Sum
from allotment.kubernetes.follow.part import RESERVED, Part
from allotment.kubernetes.follow.queueing import cluster_queue_name
from allotment.kubernetes.follow.seen import Seen
from allotment.kubernetes.kinds import Object
from allotment.quantities import QuantityError, parse_exact

SHORT: Final = re.compile(r"insufficient unused quota for (\S+) in flavor (\S+), (\S+) more needed")
OVER: Final = re.compile(
    r"insufficient quota for (\S+) in flavor (\S+), previously considered podsets requests \((\S+)\) "
    r"\+ current podset request \((\S+)\) > maximum capacity \(([^)]+)\)"
)
ABSENT: Final = re.compile(r"resource (\S+) unavailable in ClusterQueue")


@dataclass(frozen=True, slots=True)
class Lack:
    """What a message says is lacking: so much ``more``, or more than the ``most`` that there can be."""

    resource: str
    flavor: str = ""
    more: str = ""
    asked: str = ""
    most: str = ""


def lacks_of(message: str) -> tuple[Lack, ...]:
    """Everything that a message of Kueue's says is lacking."""
    short = (Lack(*each) for each in SHORT.findall(message))
    over = (Lack(each[0], each[1], "", each[3], each[4]) for each in OVER.findall(message))
    absent = (Lack(each) for each in ABSENT.findall(message))
    return tuple(dict.fromkeys((*short, *over, *absent)))


def pods_of(workload: Object) -> int:
    """How many pods a Workload stands for: those of its spec, less those that have ended."""
    wanted = sum(fields.count(each, "count") for each in fields.items(workload, "spec", "podSets"))
    ended = sum(fields.count(each, "count") for each in fields.items(workload, "status", "reclaimablePods"))
    return max(0, wanted - ended)


def asked_of(part: Part, workload: Object) -> dict[str, Fraction]:
    """What a Workload asks of each resource, as far as anything says it."""
    pods = pods_of(workload)
    for source in (workload, part.live):
        for granted in fields.items(source, "status", "admission", "podSetAssignments")[:1]:
            count = fields.count(granted, "count")
            usage = fields.mapping(granted, "resourceUsage")
            if count and usage:
                amounts = {key: _amount(value) for key, value in usage.items()}
                return {key: each / count * pods for key, each in amounts.items() if each is not None}
    for requested in fields.items(workload, "status", "resourceRequests")[:1]:
        amounts = {key: _amount(each) for key, each in fields.mapping(requested, "resources").items()}
        return {key: each for key, each in amounts.items() if each is not None}
    found = fields.is_false(workload, RESERVED)
    told = {each.resource: _amount(each.asked) for each in lacks_of(found.message if found else "")}
    return {key: each for key, each in told.items() if each is not None}


def sums_of(part: Part) -> tuple[Sum, ...]:
    """What it asks against what its queue may use, of each resource that its queue gives out."""
    return tuple(_of_kueue(part) if part.queue else _of_kai(part))


def _of_kueue(part: Part) -> Iterator[Sum]:
    workload = part.wished or part.live
    if workload is None:
        return
    queue = cluster_queue_name(workload, part.seen)
    for resource, asked in sorted(asked_of(part, workload).items()):
        capacity = numbers_of(part.seen, queue, resource, KUEUE)
        if capacity is not None and capacity.is_covered:
            yield Sum(asked, capacity)


def _of_kai(part: Part) -> Iterator[Sum]:
    found = numbers_of(part.seen, part.kai_queue, RESOURCE, KAI) if part.by_kai else None
    if found is not None and part.cards_per_pod:
        yield Sum(Fraction(part.width * part.cards_per_pod), found)


def numbers_of(seen: Seen, queue: str, resource: str, scheduler: str) -> Capacity | None:
    """What the queue may use; None where its numbers cannot be read."""
    if not queue:
        return None
    try:
        return capacity_of(seen.sound, queue, resource, scheduler=scheduler)
    except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError):
        return None  # objects that a snapshot holds in part alone


def never_fits(part: Part) -> Sum | None:
    """The resource of which what waits asks more than its queue can ever have."""
    found = sums_of(part) if part.queue else ()
    return next((each for each in found if each.capacity.never_fits(each.asked)), None)


def _amount(value: object) -> Fraction | None:
    try:
        return parse_exact(str(value))
    except QuantityError:
        return None
