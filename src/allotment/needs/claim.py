"""A need as a claim: what ``gpu:`` asks for, in requests, alternatives, counts, selectors and constraints.

``cpu: 2`` is two devices of the class of processors, ``memory: 8Gi`` a card whose published memory is at
least that, ``card`` the names that such cards report or the platform's class for them, ``select`` stays as
it is, ``same`` is a constraint, and a ``fallback`` a list of alternatives of which the first that fits is
taken. A pipeline that says nothing gets processors, as many as its ``resources`` ask for. Mode and count are
always written out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping

from allotment.devices.claims import MOST_DEVICES, ClaimSpec, Constraint, ExactRequest, Request, SubRequest
from allotment.devices.classes import CPU_CLASS, GPU_CLASS
from allotment.errors import AllotmentError
from allotment.needs.cards import NO_KINDS, Kinds, card_selectors, chosen_cards, class_of
from allotment.needs.limits import faults_of
from allotment.needs.memory import memory_selectors
from allotment.needs.same import constraint_for
from allotment.platform.need import NO_RESOURCES, Need, Resources

REQUEST = "device"


def claim_for(
    need: Need | None,
    resources: Resources = NO_RESOURCES,
    kinds: Kinds = NO_KINDS,
    *,
    by_class: bool = False,
) -> ClaimSpec:
    """The claim of one pod; AllotmentError for a need that cannot be had (see ``need_findings``).

    ``kinds`` are the platform's kinds of card. ``by_class`` asks for its device classes where they say the
    same, as quota on a cluster wants it; a machine of one's own has no such classes.
    """
    if need is None:
        return ClaimSpec((Request(REQUEST, _processors(cores_for(resources))),))
    for fault in faults_of(need, kinds):
        raise AllotmentError(fault.message, "gpu", fault.hint)
    needs, classes = dict(_named(need)), kinds if by_class else NO_KINDS
    constraints = tuple(_constraints(needs, alone=not need.fallback))
    if not need.fallback:
        return ClaimSpec((Request(REQUEST, _exactly(need, kinds, classes)),), constraints)
    alternatives = tuple(SubRequest(name, _exactly(each, kinds, classes)) for name, each in needs.items())
    return ClaimSpec((Request(REQUEST, first_available=alternatives),), constraints)


def cores_for(resources: Resources) -> int:
    """How many processors a pipeline without ``gpu`` gets: whole ones, and no more than a claim holds."""
    return min(MOST_DEVICES, max(1, math.ceil(resources.cpu or 1)))


def _named(need: Need) -> Iterator[tuple[str, Need]]:
    """The need and its fallbacks, named for what they are: card, card-2, cores."""
    seen: Counter[str] = Counter()
    for each in (need, *need.fallback):
        kind = "card" if each.cpu is None else "cores"
        seen[kind] += 1
        yield (kind if seen[kind] == 1 else f"{kind}-{seen[kind]}"), each


def _constraints(needs: Mapping[str, Need], *, alone: bool) -> Iterator[Constraint]:
    for name, need in needs.items():
        constraint = constraint_for(need.same, need.count, REQUEST if alone else f"{REQUEST}/{name}")
        if constraint is not None:
            yield constraint


def _exactly(need: Need, kinds: Kinds, classes: Kinds) -> ExactRequest:
    if need.cpu is not None:
        return _processors(need.cpu)
    choice = chosen_cards(need.card, kinds)
    own_class = class_of(choice, classes)
    selectors = (
        *(() if own_class is not None else card_selectors(choice)),
        *memory_selectors(need.memory),
        *(() if need.select is None else (need.select,)),
    )
    return ExactRequest(own_class or GPU_CLASS, selectors, need.count)


def _processors(count: int) -> ExactRequest:
    return ExactRequest(CPU_CLASS, count=count)
