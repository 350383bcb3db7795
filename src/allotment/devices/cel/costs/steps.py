"""Parts of a counted evaluation: calls, walks, local names, maps."""

from __future__ import annotations

from typing import Any, Final

from allotment.devices.cel import calls, containers, folds
from allotment.devices.cel import values as v
from allotment.devices.cel.costs.call_costs import call_cost, renamed
from allotment.devices.cel.costs.lookups import Count
from allotment.devices.cel.costs.tally import Tally, failed
from allotment.devices.cel.dispatch import Callee
from allotment.devices.cel.library.messages import MESSAGES
from allotment.devices.cel.panics import check_reckoning, may_panic
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.values import MISSING, Value

_PATTERNS: Final = frozenset({"matches", "find", "findAll"})


def not_optional(value: Value) -> EvaluationError:
    """What is wrong with an optional element that is none."""
    return EvaluationError(f"cannot initialize optional list element from non-optional value {v.show(value)}")


def filled(parts: list[tuple[Count, Count, bool]], tally: Tally) -> Value:
    """The entries of a map, or the error of the first that fails."""
    result: dict[Any, Any] = {}
    for key_part, value_part, optional in parts:
        key = key_part(tally)
        value = key if failed(key) else value_part(tally)
        if failed(value):
            return value
        try:
            place = v.map_key(key)
        except EvaluationError as error:
            return error
        if not optional:
            result[place] = value
        elif type(value) is not v.OptionalValue:
            shown = f"'{v.show(key)}' from non-optional value {v.show(value)}"
            return EvaluationError(f"cannot initialize optional entry {shown}")
        elif value.present:
            result[place] = value.value
        else:
            result.pop(place, None)
    return result


def made(name: str, parts: list[tuple[str, Count, bool]], tally: Tally) -> Value:
    """A message, or the error of the first of its fields that fails."""
    fields: dict[str, Value] = {}
    for field, part, optional in parts:
        value = part(tally)
        if failed(value):
            return value
        if not optional:
            fields[field] = value
        elif type(value) is not v.OptionalValue:
            return calls.not_an_optional_field(field, value)
        elif value.present:
            fields[field] = value.value
    try:
        return calls.message(name, MESSAGES.get(name), fields)
    except EvaluationError as error:
        return error


def read_slot(slot: int) -> Count:
    """A local name."""
    return lambda tally: tally.slots[slot]


def read_lazily(slot: int, initial: Count) -> Count:
    """A local name whose value is computed when it is first asked for."""

    def count(tally: Tally) -> Value:
        value = tally.slots[slot]
        if value is folds.UNSET:
            value = tally.slots[slot] = initial(tally)
        return value

    return count


def bound(slot: int, result: Count) -> Count:
    """``cel.bind``: the result, in which a name stands for a value."""

    def count(tally: Tally) -> Value:
        tally.slots[slot] = folds.UNSET
        return result(tally)

    return count


def folded(walked: Count, variables: list[int], accumulator: int, parts: tuple[Count, Count, Count]) -> Count:
    """A walk: condition and step for each element, then the result."""
    condition, step, result = parts

    def count(tally: Tally) -> Value:
        value = walked(tally)
        if failed(value):
            return value
        try:
            met = containers.met(value, pairs=len(variables) == 2)
        except EvaluationError as error:
            return error
        tally.slots[accumulator] = folds.UNSET
        for items in met:
            for slot, item in zip(variables, items, strict=True):
                tally.slots[slot] = item
            if condition(tally) is False:
                break
            tally.slots[accumulator] = step(tally)
        return result(tally)

    return count


def stops_at_errors(called: Callee, count: int, *, ready: bool) -> bool:
    """Whether a call gives up at the first argument that fails, and then costs nothing; ``ready``: its second
    argument is a constant, so that a pattern has been read.
    """
    if called.function in _PATTERNS and ready:
        return True
    return count > 2 or called.function == "format" or not (called.overload or called.any_types)


def counted_call(called: Callee, parts: list[Count], cel_go: tuple[int, int], *, stops: bool) -> Count:
    """A call of a function, with what it costs."""
    panics = may_panic(called.overload)
    function, overload = called.function, renamed(called.overload, cel_go)

    def count(tally: Tally) -> Value:
        values = []
        for part in parts:
            values.append(part(tally))
            if stops and failed(values[-1]):
                break
        if len(values) < len(parts):
            return values[-1]
        result = next((value for value in values if failed(value)), MISSING)
        if result is MISSING:
            try:
                result = called.compute(*values)
            except EvaluationError as error:
                result = error
        if panics:
            check_reckoning(called.overload, values)
        tally.add(call_cost(function, overload, values, result))
        return result

    return count
