"""What cel-go's own functions are estimated to cost, by form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Final, NamedTuple

from allotment.devices.cel.costs.call_estimates import Argument
from allotment.devices.cel.costs.ranges import (
    NOTHING,
    ONE,
    REGEX_FACTOR,
    STRING_FACTOR,
    UNKNOWN,
    Estimate,
    Range,
)
from allotment.devices.cel.syntax import Call


class Called(NamedTuple):
    """A call: its node, what is known of target and arguments, and what evaluating the arguments costs."""

    node: Call
    target: Argument | None
    arguments: list[Argument]
    costs: list[Range]

    @property
    def before(self) -> Range:
        """What the arguments cost together."""
        return reduce(Range.plus, self.costs, NOTHING)

    @property
    def first(self) -> Range:
        """The size of the first argument."""
        return self.arguments[0].likely

    @property
    def subject(self) -> Range:
        """The size of the target."""
        return self.target.likely if self.target else UNKNOWN

    def at(self, cost: Range, size: Range | None = None) -> Estimate:
        """An estimate with the arguments' cost added."""
        return Estimate(cost.plus(self.before), size)


def _read_target(called: Called) -> Estimate:
    return called.at(called.subject.scaled(STRING_FACTOR))


def _read_first(called: Called) -> Estimate:
    return called.at(called.first.scaled(STRING_FACTOR))


def _to_bytes(called: Called) -> Estimate:
    size = called.first
    return called.at(size.scaled(STRING_FACTOR), Range(size.low, size.high * 4 % 2**64))


def _to_text(called: Called) -> Estimate:
    size = called.first
    return called.at(size.scaled(STRING_FACTOR), Range(size.low // 4, size.high))


def _quoted(called: Called) -> Estimate:
    size = called.first
    grown = Range((size.low + 2) % 2**64, (size.high * 2 + 2) % 2**64)
    return called.at(size.scaled(STRING_FACTOR), grown)


def _in_list(called: Called) -> Estimate:
    return called.at(called.arguments[1].likely.scaled(1))


def _matched(called: Called) -> Estimate:
    reading = called.subject.plus(ONE).scaled(STRING_FACTOR)
    return called.at(reading.times(called.first.scaled(REGEX_FACTOR)))


def _matched_globally(called: Called) -> Estimate:
    reading = called.first.plus(ONE).scaled(STRING_FACTOR)
    return called.at(reading.times(called.arguments[1].likely.scaled(REGEX_FACTOR)))


def _contained(called: Called) -> Estimate:
    reading = called.subject.scaled(STRING_FACTOR)
    return called.at(reading.times(called.first.scaled(STRING_FACTOR)))


def _compared(called: Called) -> Estimate:
    """Two values held against each other: by the shorter."""
    most = min(argument.likely.high for argument in called.arguments)
    return called.at(Range(1 if most else 0, most).scaled(STRING_FACTOR))


_COMPARED: Final = frozenset(
    f"{name}_{kind}"
    for name in ("less", "greater", "less_equals", "greater_equals")
    for kind in ("string", "bytes")
) | {"equals", "not_equals"}
FORMS: Final[Mapping[str, Callable[[Called], Estimate]]] = {
    **dict.fromkeys(_COMPARED, _compared),
    "string_format": _read_target,
    **dict.fromkeys(
        ("starts_with_string", "starts_with_string_before", "ends_with_string", "ends_with_string_before"),
        _read_first,
    ),
    "string_to_bytes": _to_bytes,
    "bytes_to_string": _to_text,
    "strings_quote": _quoted,
    "in_list": _in_list,
    "matches_string": _matched,
    "matches": _matched_globally,
    "contains_string": _contained,
}
