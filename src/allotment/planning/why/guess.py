"""A change of one thing, before it is tried; and the values that devices have in the place of a constant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from allotment.devices.cel.parts import Constant, Read, constants, reads
from allotment.devices.claims import ClaimSpec
from allotment.devices.slices import Version
from allotment.needs.clauses import Candidate
from allotment.needs.nearest import in_gi
from allotment.planning.why.room import Holding
from allotment.planning.why.values import value_at
from allotment.quantities import GI
from allotment.quantities.kubernetes import Quantity

MOST_VALUES: Final = 4


class ChangeKind(StrEnum):
    """What is changed."""

    WAIT = "wait"
    MEMORY = "memory"
    CARD = "card"
    VALUE = "value"
    GUARD = "guard"
    DROP = "drop"
    COUNT = "count"
    CAPACITY = "capacity"
    TAINT = "taint"
    CLASS = "class"
    SHARING = "sharing"
    FALLBACK = "fallback"
    CONSTRAINT = "constraint"


@dataclass(frozen=True, slots=True)
class Guess:
    """A change that has not been tried: the claim as it would be, and who would have ended.

    ``size`` is how much is changed, from 0 (nothing but waiting) on; of a ``family`` one change is enough. So
    many have to fit ``together``.
    """

    kind: ChangeKind
    words: str
    claim: ClaimSpec
    size: float
    family: tuple[object, ...]
    ended: tuple[Holding, ...] = ()
    together: int = 1


@dataclass(frozen=True, slots=True)
class Other:
    """The same need met in another way: its claim, what to write for it, and how much is changed by it."""

    words: str
    claim: ClaimSpec
    kind: ChangeKind = ChangeKind.SHARING
    size: float = 0.6


def other_values(text: str, devices: Sequence[Candidate]) -> Iterator[tuple[str, float]]:
    """A condition with values of devices in the place of a constant, the nearest first, and how near."""
    found: dict[str, float] = {}
    for constant in constants(text):
        values = {value for each in devices for value in _values(text, each, constant)}
        nearest = sorted(values - {constant.value}, key=lambda value: (_far(constant, value), str(value)))
        for value in nearest[:MOST_VALUES]:
            found.setdefault(constant.replaced(text, value), _far(constant, value))
    yield from found.items()


def _values(text: str, candidate: Candidate, constant: Constant) -> Iterator[str | int]:
    """What the device has in the places that a condition reads, as far as the constant is of that type."""
    for place in reads(text):
        value: object = (
            candidate.driver if place.map == "driver" else value_at(place, candidate.driver, candidate.device)
        )
        value = value.text if isinstance(value, Version) else value
        if isinstance(value, str | int) and type(value) is type(constant.value):
            yield value
            yield from _just_below(place, value)


def _just_below(place: Read, value: str | int) -> Iterator[str | int]:
    """Round amounts that the device has more than: a comparison may be strict."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield from (value - 1, value + 1)
    if place.map == "capacity" and (amount := _amount(value)) is not None and amount > GI * 10**9:
        size = int(amount) // 10**9
        yield from (in_gi(size), f"{(size - 1) // GI}Gi")


def _far(constant: Constant, value: str | int) -> float:
    """How far a value is from the constant, from 0 to 1; 1 where that cannot be measured."""
    one, other = _amount(constant.value), _amount(value)
    if one is None or other is None or not max(abs(one), abs(other)):
        return 1.0
    return min(1.0, abs(one - other) / max(abs(one), abs(other)))


def _amount(value: str | int) -> float | None:
    if isinstance(value, int):
        return float(value)
    try:
        return float(Quantity.parse(value).nanos)
    except ValueError:
        return None
