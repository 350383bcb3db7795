"""Which of the ways that a need lists are used, in which order, and what is given up, aloud.

``sharing:`` is a list in order of liking. ``isolation: hardware`` takes out what cannot keep it, a cluster
without KAI takes out fractions. What is left becomes alternatives of one claim, as far as ways can stand in
one: a claim of the pod's own, a claim that pods share and an annotation are three different things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.devices.server import Gate
from allotment.devices.world import World
from allotment.needs.ways import Isolation, Scope, Way, way_of
from allotment.needs.ways.gates import off_by_default
from allotment.platform.model import Platform
from allotment.platform.need import Need

_LOCAL: Final = "local"
_DEFAULT: Final = "default"
_CONSUMABLE: Final = "consumable"
_SELECTORS_SINCE: Final = (0, 18)
_WITH_KAI: Final = frozenset({"kai", "both"})


@dataclass(frozen=True, slots=True)
class Able:
    """What those who place pods can do: read a fraction, take a claim with a list of alternatives.

    ``shared_cards``: cards may be published for several claims, and selectors can tell. ``by_name``: what is
    claimed is counted by the name of its class, which has to have ``gpu`` in it.
    """

    fractions: bool = True
    lists: bool = True
    shared_cards: bool = False
    by_name: bool = False


ANYTHING: Final = Able()


def able(platform: Platform, world: World | None = None) -> Able:
    """What the platform's schedulers can do; the local engine reads every need itself.

    Kueue (up to 0.19) refuses lists; KAI (up to 0.17) asks the allocator without them, and counts by name.
    Cards may be shared where the platform has amounts of them claimed, or the ``world`` publishes such cards.
    """
    local = platform.engine == _LOCAL
    shared = (_CONSUMABLE in platform.sharing and not local) or (world is not None and any(shared_in(world)))
    knows = not off_by_default((Gate.CONSUMABLE_CAPACITY,), platform.versions.kubernetes)
    if local:
        return Able(shared_cards=shared and knows)
    return Able(
        fractions=platform.scheduler in _WITH_KAI,
        lists=platform.scheduler == _DEFAULT,
        shared_cards=shared and knows,
        by_name=platform.scheduler in _WITH_KAI,
    )


def before_selectors(kueue: str) -> bool:
    """Whether this version of Kueue refuses a claim that says more than device classes (seen on 0.17.0)."""
    release = tuple(map(int, re.findall(r"\d+", kueue)[:2]))
    return len(release) == 2 and release < _SELECTORS_SINCE


def shared_in(world: World) -> Iterator[str]:
    """The names of cards that are published for several claims."""
    for published in world.slices:
        for device in published.devices if published.driver == NVIDIA_DRIVER else ():
            if device.allow_multiple_allocations:
                yield f"{device.name} of {published.pool.name}"


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to meet a need: ``way`` is None for processors."""

    need: Need
    way: Way | None


@dataclass(frozen=True, slots=True)
class Choice:
    """The alternatives in order, all of one scope; ``given_up`` says in words what is not among them."""

    alternatives: tuple[Alternative, ...]
    given_up: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        """What all of them become."""
        return next((each.way.scope for each in self.alternatives if each.way is not None), Scope.POD)

    @property
    def ways(self) -> tuple[Way, ...]:
        """The ways, each once."""
        return tuple(dict.fromkeys(each.way for each in self.alternatives if each.way is not None))


def choice_of(need: Need, able: Able = ANYTHING) -> Choice:
    """What becomes of a need and its fallbacks with those who place its pods.

    Where nothing that was asked for is left, the first way is kept as it was written: that is a fault, which
    the rules name.
    """
    listed: list[Alternative] = []
    given_up: list[str] = []
    for each in (need, *need.fallback):
        if each.cpu is not None:
            listed.append(Alternative(each, None))
            continue
        kept = [way_of(word) for word in each.sharing]
        for way, why in _refused(each, able):
            if len(kept) > 1:
                kept.remove(way)
                given_up.append(f"`{way.word}` is left out: {why}")
        listed += [Alternative(each, way) for way in kept]
    return _of_one_scope(listed, given_up, able)


def kept_ways(need: Need) -> tuple[Way, ...]:
    """The ways of one need that keep the isolation that it asks for."""
    return tuple(way for word in need.sharing if keeps(way := way_of(word), need))


def keeps(way: Way, need: Need) -> bool:
    """Whether a way keeps pods apart as far as the need asks for it."""
    return need.isolation is None or way.isolation is Isolation.HARDWARE


def _refused(need: Need, able: Able) -> Iterator[tuple[Way, str]]:
    for word in dict.fromkeys(need.sharing):
        way = way_of(word)
        if not keeps(way, need):
            yield (
                way,
                f"`isolation: {need.isolation}` is asked for; what keeps pods apart here: {way.keeps_apart}",
            )
        elif way.scope is Scope.ANNOTATION and not able.fractions:
            yield way, "only KAI knows fractions, and it does not schedule here"


def _of_one_scope(listed: list[Alternative], given_up: list[str], able: Able) -> Choice:
    """Those that can stand beside the first: alternatives of one claim, or the first alone."""
    first: Way | None = None
    kept: list[Alternative] = []
    for each in listed:
        why = None if each.way is None or first is None else _why_not_beside(each.way, first, able)
        if why is None:
            kept.append(each)
            first = first or each.way
        elif each.way is not None:
            given_up.append(f"`{each.way.word}` is left out: {why}")
    return Choice(tuple(kept), tuple(dict.fromkeys(given_up)))


def _why_not_beside(way: Way, first: Way, able: Able) -> str | None:
    """Why a way cannot be an alternative to the first one; None where it can."""
    if way.scope is not first.scope:
        return f"{first.scope} (`{first.word}`) cannot fall back to {way.scope}"
    if way.scope is Scope.ANNOTATION:
        return "an annotation has no alternatives"
    return None if able.lists else "the platform's scheduler takes no claim with a list of alternatives"
