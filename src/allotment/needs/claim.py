"""A need as a claim: what ``gpu:`` asks for, in requests, alternatives, counts, selectors and constraints.

``cpu: 2`` is two devices of the class of processors, ``memory: 8Gi`` a card whose published memory is at
least that, ``card`` the names that such cards report or the platform's class for them, ``select`` stays as
it is, ``same`` is a constraint, ``config`` parameters for the driver, and ways of sharing and ``fallback`` a
list of alternatives of which the first that fits is taken. A pipeline that says nothing gets processors, as
many as its ``resources`` ask for. Mode and count are always written out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from allotment.devices.claims import MOST_DEVICES, ClaimSpec, Constraint, ExactRequest, Request, SubRequest
from allotment.devices.classes import COUNTED_MIG_CLASS, CPU_CLASS, GPU_CLASS, MIG_CLASS, OpaqueConfig
from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.errors import AllotmentError
from allotment.needs.cards import NO_KINDS, Kinds, card_selectors, chosen_cards, class_of
from allotment.needs.limits import faults_of
from allotment.needs.memory import memory_selectors
from allotment.needs.same import constraint_for
from allotment.needs.ways import way_of
from allotment.needs.ways.choosing import ANYTHING, Able, Alternative, choice_of
from allotment.needs.ways.whole import NOT_SHARED
from allotment.platform.need import NO_RESOURCES, WHOLE, Need, Resources

REQUEST = "device"


def claim_for(
    need: Need | None,
    resources: Resources = NO_RESOURCES,
    kinds: Kinds = NO_KINDS,
    *,
    by_class: bool = False,
    able: Able = ANYTHING,
) -> ClaimSpec:
    """The claim of one pod, or the one that pods share; AllotmentError for a need that cannot be had.

    ``kinds`` are the platform's kinds of card. ``by_class`` asks for its device classes where they say the
    same, as quota on a cluster wants it; a machine of one's own has no such classes. ``able`` is what
    those who place the pods can do. The claim of a fraction is the one for the card that it is a part of.
    """
    if need is None:
        return ClaimSpec((Request(REQUEST, _processors(cores_for(resources))),))
    for fault in faults_of(need, kinds):
        raise AllotmentError(fault.message, "gpu", fault.hint)
    named = dict(_named(choice_of(need, able).alternatives))
    classes = kinds if by_class else NO_KINDS
    alone = len(named) == 1
    constraints = tuple(_constraints(named, alone=alone))
    config = tuple(_configs(named, alone=alone))
    shared, by_name = able.shared_cards, by_class and able.by_name
    exact = {
        name: exactly(each, kinds, classes, shared_cards=shared, by_name=by_name)
        for name, each in named.items()
    }
    if alone:
        return ClaimSpec((Request(REQUEST, next(iter(exact.values()))),), constraints, config)
    alternatives = tuple(SubRequest(name, each) for name, each in exact.items())
    return ClaimSpec((Request(REQUEST, first_available=alternatives),), constraints, config)


def says_more_than_classes(claim: ClaimSpec) -> bool:
    """Whether the claim asks for anything that its device classes do not say."""
    asked = [each.get("exactly", each) for each in claim.to_dict().get("devices", {}).get("requests", ())]
    return bool(claim.constraints or claim.config or any("selectors" in each for each in asked))


def by_known_class(claim: ClaimSpec) -> ClaimSpec:
    """The claim with slices asked for by the class of NVIDIA's driver, which is there without KAI too."""

    def of(exact: ExactRequest) -> ExactRequest:
        ours = exact.device_class == COUNTED_MIG_CLASS
        return replace(exact, device_class=MIG_CLASS) if ours else exact

    requests = tuple(
        replace(
            each,
            exactly=None if each.exactly is None else of(each.exactly),
            first_available=tuple(replace(sub, exactly=of(sub.exactly)) for sub in each.first_available),
        )
        for each in claim.requests
    )
    return replace(claim, requests=requests)


def cores_for(resources: Resources) -> int:
    """How many processors a pipeline without ``gpu`` gets: whole ones, and no more than a claim holds."""
    return min(MOST_DEVICES, max(1, math.ceil(resources.cpu or 1)))


def exactly(
    alternative: Alternative,
    kinds: Kinds,
    classes: Kinds = NO_KINDS,
    *,
    shared_cards: bool = False,
    by_name: bool = False,
) -> ExactRequest:
    """One alternative as a request; where there are ``shared_cards``, whole ones leave them out.

    ``by_name``: slices are asked for by the class of ours, which KAI counts.
    """
    need, way = alternative.need, alternative.way or way_of(WHOLE)
    if need.cpu is not None:
        return _processors(need.cpu)
    choice = chosen_cards(need.card, kinds)
    own_class = class_of(choice, classes) if way.device_class == GPU_CLASS else None
    device_class = COUNTED_MIG_CLASS if by_name and way.device_class == MIG_CLASS else way.device_class
    capacity = way.capacity(need, kinds)
    alone = shared_cards and way.device_class == GPU_CLASS and not capacity
    selectors = (
        *(() if own_class is not None else card_selectors(choice)),
        *memory_selectors(need.memory),
        *way.selectors,
        *((NOT_SHARED,) if alone else ()),
        *(() if need.select is None else (need.select,)),
    )
    return ExactRequest(own_class or device_class, selectors, need.count, capacity=capacity)


def _named(alternatives: tuple[Alternative, ...]) -> Iterator[tuple[str, Alternative]]:
    """The alternatives, named for what they are: card, card-2, slice, cores."""
    seen: Counter[str] = Counter()
    for each in alternatives:
        kind = "cores" if each.way is None else each.way.noun
        seen[kind] += 1
        yield (kind if seen[kind] == 1 else f"{kind}-{seen[kind]}"), each


def _constraints(named: Mapping[str, Alternative], *, alone: bool) -> Iterator[Constraint]:
    for name, each in named.items():
        constraint = constraint_for(each.need.same, each.need.count, _request(name, alone=alone))
        if constraint is not None:
            yield constraint


def _configs(named: Mapping[str, Alternative], *, alone: bool) -> Iterator[OpaqueConfig]:
    """What the driver is told, for each alternative by its name: a kind fits one kind of device."""
    for name, each in named.items():
        requests = (_request(name, alone=alone),)
        opaque = (each.need.config or {}).get("opaque")
        if opaque is not None:
            yield OpaqueConfig(opaque["driver"], opaque["parameters"], requests)
        elif each.way is not None and (parameters := each.way.parameters(each.need)) is not None:
            yield OpaqueConfig(NVIDIA_DRIVER, parameters, requests)


def _request(name: str, *, alone: bool) -> str:
    return REQUEST if alone else f"{REQUEST}/{name}"


def _processors(count: int) -> ExactRequest:
    return ExactRequest(CPU_CLASS, count=count)
