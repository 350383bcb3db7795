"""What there is to say of a way to share a card: one value, of which each module beside this holds one.

A way says what a pipeline writes and what becomes of it, how far it keeps pods apart, what has to be switched
on, which rules look at it, and how much of a card it counts as. The renderer, the checks and the plans read
these values; none of them decides on the name of a way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from allotment.devices.classes import GPU_CLASS
from allotment.devices.server import Gate
from allotment.needs.cards import Kinds
from allotment.needs.fault import Fault
from allotment.needs.ways.gates import DriverGate, Setting
from allotment.platform.need import Need

Parameters = Mapping[str, Any]


class Isolation(StrEnum):
    """What keeps one pod out of another's memory: the card itself, limits that can be passed, or nothing."""

    HARDWARE = "hardware"
    LIMITS = "limits"
    NONE = "none"


class Scope(StrEnum):
    """What a way becomes: a claim of each pod's own, one claim that pods share, or an annotation."""

    POD = "a claim per pod"
    SHARED = "one claim for all pods"
    ANNOTATION = "an annotation"


def nothing_wrong(_need: Need, _kinds: Kinds) -> Iterator[Fault]:
    """The faults of a way that takes every need."""
    return iter(())


def no_capacity(_need: Need, _kinds: Kinds) -> Mapping[str, str]:
    """The capacity of a way that takes devices whole."""
    return {}


def no_parameters(_need: Need) -> Parameters | None:
    """The configuration of a way that tells the driver nothing."""
    return None


def always(_need: Need) -> bool:
    """Whether a way whose gates are for every need wants them."""
    return True


def whole_cards(need: Need, _memory: int | None) -> float | None:
    """The cards that a way counts as which takes them whole."""
    return float(need.count)


@dataclass(frozen=True, slots=True)
class Way:
    """A way to share a card.

    ``word`` is what ``sharing:`` says, ``noun`` names the request. ``cards`` tells how much of a card of so
    much memory (None: not known) a pod counts as; None where that cannot be told. ``measured`` asks for a
    measured, steady use of memory before a pipeline may use it.
    """

    id: str
    word: str
    noun: str
    title: str
    writes: str
    becomes: str
    scope: Scope
    isolation: Isolation
    keeps_apart: str
    maturity: str
    accounting: str
    lints: tuple[str, ...]
    device_class: str = GPU_CLASS
    selectors: tuple[str, ...] = ()
    measured: bool = False
    gates: tuple[Gate, ...] = ()
    driver_gates: tuple[DriverGate, ...] = ()
    settings: tuple[Setting, ...] = ()
    wants_gates: Callable[[Need], bool] = always
    cards: Callable[[Need, int | None], float | None] = whole_cards
    capacity: Callable[[Need, Kinds], Mapping[str, str]] = no_capacity
    parameters: Callable[[Need], Parameters | None] = no_parameters
    faults: Callable[[Need, Kinds], Iterator[Fault]] = nothing_wrong
