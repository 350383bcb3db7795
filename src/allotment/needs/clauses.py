"""A request taken apart into its clauses: the class, each selector, and what stands beside them.

Each clause is something that a device passes or not, with words for it, so that a person can see where
devices fall out, and what one of them is short of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from allotment.devices.allocation.amounts import demand_of
from allotment.devices.claims import ExactRequest
from allotment.devices.classes import GPU_CLASS, DeviceClass
from allotment.devices.inventory import Listed, State
from allotment.devices.selectors import Matcher, SelectorError
from allotment.devices.server import Gate, Server
from allotment.devices.slices import Device
from allotment.devices.world import World
from allotment.needs.cards import card_words
from allotment.needs.memory import memory_of, memory_words
from allotment.needs.ways.gates import kubernetes_words
from allotment.needs.ways.slices import LESS_THAN_A_CARD
from allotment.needs.ways.whole import NOT_SHARED
from allotment.needs.words import amount_words, class_words
from allotment.platform.need import MemoryRange

ANY_MEMORY: Final = MemoryRange()
_PARTS: Final = {
    LESS_THAN_A_CARD: "are less than a whole card",
    NOT_SHARED: "are given out whole",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A device as the selectors see it (``driver``, ``device``), and as a person does."""

    driver: str
    device: Device
    listed: Listed


class Kind(StrEnum):
    """What a clause is about."""

    CLASS = "class"
    MEMORY = "memory"
    CARD = "card"
    PART = "part"
    SELECT = "select"
    TAINT = "taint"
    POOL = "pool"
    OPEN = "open"
    GATE = "gate"
    CAPACITY = "capacity"


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition on a device. ``selectors`` must all hold; ``memory`` are the bounds that they say.

    ``tolerated`` is the request where its tolerations or the amounts that it claims decide.
    """

    kind: Kind
    words: str
    selectors: tuple[str, ...] = ()
    memory: MemoryRange = ANY_MEMORY
    tolerated: ExactRequest | None = None
    of_class: str = ""

    def holds(self, candidate: Candidate, matches: Matcher) -> bool:
        """Whether the device passes; SelectorError when it cannot be told."""
        match self.kind:
            case Kind.TAINT:
                return self.tolerated is None or not _blocking(candidate.device, self.tolerated)
            case Kind.CAPACITY:
                return self.tolerated is None or offers(candidate.device, self.tolerated)
            case Kind.GATE:
                return not candidate.device.consumes_counters
            case Kind.POOL:
                return candidate.listed.state not in {State.INCOMPLETE, State.INVALID}
            case Kind.OPEN:
                return not candidate.listed.closed
            case _:
                return all(matches(each, candidate.driver, candidate.device) for each in self.selectors)


def clauses_of(exact: ExactRequest, world: World) -> tuple[Clause, ...]:
    """The clauses in the order in which devices meet them; the class comes first."""
    return tuple(_clauses(exact, world.classes, world.server))


def gate_words(server: Server) -> str:
    """Why a server gives out no device that takes counters, as part of a sentence about devices."""
    gate = kubernetes_words(Gate.PARTITIONABLE_DEVICES)
    return f"Kubernetes {server.name} gives out only where somebody has switched on {gate}"


def _clauses(exact: ExactRequest, classes: Mapping[str, DeviceClass], server: Server) -> Iterator[Clause]:
    name = "whole NVIDIA cards" if exact.device_class == GPU_CLASS else class_words(exact.device_class)
    known = classes.get(exact.device_class)
    own = ("false",) if known is None else known.selectors
    yield Clause(Kind.CLASS, f"are {name}", own, of_class=exact.device_class)
    memory, others = memory_of(exact.selectors)
    kept = dict.fromkeys(others)
    for selector in kept:
        if (said := card_words(selector)) is not None:
            yield Clause(Kind.CARD, f"are {said}", (selector,))
    if said := memory_words(memory):
        bounds = tuple(each for each in exact.selectors if each not in kept)
        yield Clause(Kind.MEMORY, f"have {said} of memory", bounds, memory)
    for selector in kept:
        if (part := _PARTS.get(selector)) is not None:
            yield Clause(Kind.PART, part, (selector,))
        elif card_words(selector) is None:
            yield Clause(Kind.SELECT, f"pass `{selector}`", (selector,))
    if exact.capacity:
        asked = " and ".join(f"{amount_words(amount)} of `{key}`" for key, amount in exact.capacity.items())
        yield Clause(Kind.CAPACITY, f"have {asked} to claim", tolerated=exact)
    yield Clause(Kind.TAINT, "have no taint that keeps pods off", tolerated=exact)
    yield Clause(Kind.POOL, "are in a pool that is whole")
    yield Clause(Kind.OPEN, "are on a node that pods start on")
    if not server.has(Gate.PARTITIONABLE_DEVICES):
        yield Clause(Kind.GATE, f"are not cut on demand, which {gate_words(server)}")


def failed_words(clause: Clause, candidate: Candidate, error: SelectorError, matches: Matcher) -> str:
    """An error of a selector; of a class's it is said whose it is, and which."""
    if clause.kind is not Kind.CLASS:
        return str(error)
    for selector in clause.selectors:
        try:
            matches(selector, candidate.driver, candidate.device)
        except SelectorError:
            return f"`{selector}` of the device class `{clause.of_class}`, and not of the need: {error}"
    return str(error)


def offers(device: Device, exact: ExactRequest) -> bool:
    """Whether the device has what is claimed of its capacity, while nobody else has any."""
    demand = demand_of(exact.capacity, device.capacity, fractions=False)
    return demand is not None and demand.fits({}, {})


def _blocking(device: Device, exact: ExactRequest) -> bool:
    return any(
        taint.blocks and not any(toleration.covers(taint) for toleration in exact.tolerations)
        for taint in device.taints
    )
