"""A need as a claim: what ``gpu:`` asks for, in requests, alternatives, counts and selectors.

``cpu: 2`` is two devices of the class of processors, ``memory: 8Gi`` a card whose published memory is at
least that, and a ``fallback`` a list of alternatives of which the first that fits is taken. A pipeline that
says nothing gets processors, as many as its ``resources`` ask for. Mode and count are always written out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from allotment.devices.claims import MOST_DEVICES, ClaimSpec, ExactRequest, Request, SubRequest
from allotment.devices.classes import CPU_CLASS, GPU_CLASS
from allotment.errors import AllotmentError
from allotment.needs.limits import faults_of
from allotment.needs.memory import memory_selectors
from allotment.platform.need import NO_RESOURCES, Need, Resources

REQUEST = "device"


def claim_for(need: Need | None, resources: Resources = NO_RESOURCES) -> ClaimSpec:
    """The claim of one pod; AllotmentError for a need that cannot be had (see ``need_findings``)."""
    if need is None:
        return ClaimSpec((Request(REQUEST, _processors(cores_for(resources))),))
    for fault in faults_of(need):
        raise AllotmentError(fault.message, "gpu", fault.hint)
    if not need.fallback:
        return ClaimSpec((Request(REQUEST, _exactly(need)),))
    return ClaimSpec((Request(REQUEST, first_available=tuple(_alternatives(need))),))


def cores_for(resources: Resources) -> int:
    """How many processors a pipeline without ``gpu`` gets: whole ones, and no more than a claim holds."""
    return min(MOST_DEVICES, max(1, math.ceil(resources.cpu or 1)))


def _alternatives(need: Need) -> Iterator[SubRequest]:
    """The need and its fallbacks, named for what they are: card, card-2, cores."""
    seen: Counter[str] = Counter()
    for each in (need, *need.fallback):
        kind = "card" if each.cpu is None else "cores"
        seen[kind] += 1
        yield SubRequest(kind if seen[kind] == 1 else f"{kind}-{seen[kind]}", _exactly(each))


def _exactly(need: Need) -> ExactRequest:
    if need.cpu is not None:
        return _processors(need.cpu)
    return ExactRequest(GPU_CLASS, memory_selectors(need.memory), need.count)


def _processors(count: int) -> ExactRequest:
    return ExactRequest(CPU_CLASS, count=count)
