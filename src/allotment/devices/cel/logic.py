"""``&&``, ``||``, ``?:`` and comparisons with constants, as closures.

An error on one side of ``&&`` or ``||`` is forgiven when the other side decides, whichever comes first.
"""

from __future__ import annotations

from collections.abc import Callable

from allotment.devices.cel import values as v
from allotment.devices.cel.devices import DeviceView
from allotment.devices.cel.paths import Compute, Slots
from allotment.devices.cel.problems import EvaluationError, no_such_overload
from allotment.devices.cel.values import Value


def either(one: Compute, other: Compute, *, decides: bool) -> Compute:
    """``&&`` (``decides`` is False) and ``||`` (True)."""

    def forgiving(problem: EvaluationError, device: DeviceView, slots: Slots) -> Value:
        try:
            found = other(device, slots)
        except EvaluationError:
            raise problem from None
        if found is decides:
            return decides
        raise problem

    def compute(device: DeviceView, slots: Slots) -> Value:
        try:
            found = one(device, slots)
        except EvaluationError as problem:
            return forgiving(problem, device, slots)
        if found is decides:
            return decides
        if type(found) is not bool:
            return forgiving(no_such_overload(), device, slots)
        found = other(device, slots)
        if type(found) is not bool:
            raise no_such_overload()
        return found

    return compute


def negated(one: Compute) -> Compute:
    """``!``."""

    def compute(device: DeviceView, slots: Slots) -> Value:
        found = one(device, slots)
        if found is True:
            return False
        if found is False:
            return True
        raise no_such_overload()

    return compute


def conditional(condition: Compute, yes: Compute, no: Compute) -> Compute:
    """``?:``."""

    def compute(device: DeviceView, slots: Slots) -> Value:
        found = condition(device, slots)
        if found is True:
            return yes(device, slots)
        if found is False:
            return no(device, slots)
        raise no_such_overload()

    return compute


def not_strictly_false(one: Compute) -> Compute:
    """Whether a walk may go on: all but ``false``, errors included."""

    def compute(device: DeviceView, slots: Slots) -> Value:
        try:
            return one(device, slots) is not False
        except EvaluationError:
            return True

    return compute


def equal_to(one: Compute, constant: Value, *, unequal: bool = False) -> Compute:
    """``==`` and ``!=`` with a constant: values of its type at once, others with care."""
    kind = type(constant)
    careful = v.unequal if unequal else v.equal
    if kind not in (str, int, bool):
        return lambda device, slots: careful(one(device, slots), constant)

    def compute(device: DeviceView, slots: Slots) -> Value:
        found = one(device, slots)
        if type(found) is kind:
            return (found == constant) is not unequal
        return careful(found, constant)

    return compute


def equal_values(left: Compute, right: Compute, *, unequal: bool = False) -> Compute:
    """``==`` and ``!=`` of two values that are both to be computed."""
    careful = v.unequal if unequal else v.equal

    def compute(device: DeviceView, slots: Slots) -> Value:
        one, other = left(device, slots), right(device, slots)
        kind = type(one)
        if kind is type(other) and (kind is str or kind is int):
            return (one == other) is not unequal
        return careful(one, other)

    return compute


def one_of(one: Compute, constants: list[Value]) -> Compute:
    """``in`` with a list of constants; an empty one is not even asked."""
    if not constants:
        return lambda _device, _slots: False
    texts = frozenset(constant for constant in constants if type(constant) is str)

    def compute(device: DeviceView, slots: Slots) -> Value:
        found = one(device, slots)
        if type(found) is str:
            return found in texts
        return any(v.found_equal(found, constant) for constant in constants)

    return compute


def ordered_with(
    one: Compute,
    constant: Value,
    quick: Callable[[Value, Value], bool],
    careful: Callable[[Value, Value], bool],
) -> Compute:
    """``<`` and its kin with a constant."""
    kind = type(constant)
    if kind not in (int, str):
        return lambda device, slots: careful(one(device, slots), constant)

    def compute(device: DeviceView, slots: Slots) -> Value:
        found = one(device, slots)
        return quick(found, constant) if type(found) is kind else careful(found, constant)

    return compute


def fallback(optional: Compute, other: Compute, *, unwrap: bool, lenient: bool) -> Compute:
    """``or`` and ``orValue``: the second only where the first has nothing.

    ``lenient``: what is no optional is the result, as before cel-go 0.28.
    """

    def compute(device: DeviceView, slots: Slots) -> Value:
        found = optional(device, slots)
        if type(found) is not v.OptionalValue:
            if lenient:
                return found
            raise no_such_overload()
        if found.present:
            return found.value if unwrap else found
        return other(device, slots)

    return compute
