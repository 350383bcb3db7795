"""Closures of calls: what is computed before a device is met, and short ways for what selectors do most."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from allotment.devices.cel import logic, paths
from allotment.devices.cel import values as v
from allotment.devices.cel.devices import DeviceView
from allotment.devices.cel.dispatch import CONVERSIONS, Callee
from allotment.devices.cel.library.messages import MESSAGES, Message
from allotment.devices.cel.library.operators import OPERATORS
from allotment.devices.cel.naming import Names
from allotment.devices.cel.numbers64 import UInt
from allotment.devices.cel.paths import Compute, Slots
from allotment.devices.cel.problems import EvaluationError, no_such_overload
from allotment.devices.cel.regex import RegexError, compile_regex
from allotment.devices.cel.source import CompileError
from allotment.devices.cel.values import MISSING, Value

_ORDERINGS: Final = {"_<_": operator.lt, "_<=_": operator.le, "_>_": operator.gt, "_>=_": operator.ge}
_FOLDED_EARLY: Final = CONVERSIONS | {"quantity", "semver", "isQuantity", "isSemver"}
_PATTERNS: Final = frozenset({"matches", "find", "findAll"})
_ALSO: Final = (tuple, range, v.ComputedQuantity)
"""Types of Python that stand for what another one stands for already."""
_QUICK_TYPES: Final[Mapping[str, type]] = {
    kind.name: python for python, kind in v.RUNTIME_TYPES.items() if python not in _ALSO
}


_KEY_TYPES: Final = frozenset({bool, int, UInt, float, str})
_NO_DEVICE: Final = DeviceView("", {}, {}, multiple=False)


class Plan(NamedTuple):
    """A node's closure, and its value where that is known already."""

    compute: Compute
    constant: Value = MISSING

    @property
    def is_constant(self) -> bool:
        """Whether the value is known."""
        return self.constant is not MISSING


def constant(value: Value) -> Plan:
    """A known value."""
    return Plan(lambda _device, _slots: value, value)


def early(called: Callee, plans: tuple[Plan, ...], *, hasty: bool) -> Plan | None:
    """What can be computed before a device is met; ``hasty``: what cannot be is refused."""
    if hasty and called.function in _PATTERNS and len(plans) > 1 and isinstance(plans[1].constant, str):
        check_pattern(plans[1].constant)
    if called.function not in _FOLDED_EARLY or not plans or not all(plan.is_constant for plan in plans):
        return None
    try:
        return constant(called.compute(*(plan.constant for plan in plans)))
    except EvaluationError as error:
        if hasty and called.function in CONVERSIONS and len(plans) == 1:
            raise CompileError(f"program instantiation failed: {error.message}") from error
        return None


def quick(called: Callee, plans: tuple[Plan, ...], names: Names, *, strict: bool = False) -> Compute | None:
    """A closure of its own for what selectors do most.

    ``strict``: what is looked for in an empty list is computed all the same.
    """
    if called.function in _ORDERINGS:
        return ordering(called.function, plans)
    if called.overload == "in_list" and plans[1].is_constant and (plans[1].constant or not strict):
        return logic.one_of(plans[0].compute, plans[1].constant)
    if called.function == "matches" and isinstance(plans[1].constant, str):
        return matching(plans[0].compute, plans[1].constant)
    if not called.exact and called.overload and not called.any_types:
        return _after_a_look(called, plans, names)
    return None


def _after_a_look(called: Callee, plans: tuple[Plan, ...], names: Names) -> Compute | None:
    """A call on an attribute, whose type shows only when it is met, with constant arguments."""
    forms = names.overloads.get(called.function, ())
    form = next(form for form in forms if form.id == called.overload)
    kind = _QUICK_TYPES.get(form.arguments[0].name)
    rest = tuple(plan.constant for plan in plans[1:])
    fits = all(plan.is_constant for plan in plans[1:]) and all(map(v.matches_type, rest, form.arguments[1:]))
    if kind is None or not fits or form.compute is None or form.arguments[0].parameters:
        return None
    target, guarded, direct = plans[0].compute, called.compute, form.compute

    def compute(device: DeviceView, slots: Slots) -> Value:
        value = target(device, slots)
        return direct(value, *rest) if type(value) is kind else guarded(value, *rest)

    def with_one(device: DeviceView, slots: Slots) -> Value:
        value = target(device, slots)
        return direct(value, only) if type(value) is kind else guarded(value, only)

    def alone(device: DeviceView, slots: Slots) -> Value:
        value = target(device, slots)
        return direct(value) if type(value) is kind else guarded(value)

    only = rest[0] if len(rest) == 1 else None
    return alone if not rest else with_one if len(rest) == 1 else compute


def selection(operand: Compute, field: str) -> Compute:
    """``operand.field``."""
    message = f"no such key: {field}"

    def compute(device: DeviceView, slots: Slots) -> Value:
        value = operand(device, slots)
        if type(value) is dict:
            try:
                return value[field]
            except KeyError:
                raise EvaluationError(message) from None
        return paths.selected(value, field)

    return compute


def plain_call(compute: Callable[..., Value], plans: tuple[Plan, ...]) -> Compute:
    """A call of a function; constants are handed over as they are."""
    if not plans:
        return lambda _device, _slots: compute()
    one = plans[0].compute
    if len(plans) == 1:
        return lambda device, slots: compute(one(device, slots))
    other = plans[1].compute
    if len(plans) == 2:
        if plans[1].is_constant:
            known = plans[1].constant
            return lambda device, slots: compute(one(device, slots), known)
        return lambda device, slots: compute(one(device, slots), other(device, slots))
    parts = [plan.compute for plan in plans]
    return lambda device, slots: compute(*[part(device, slots) for part in parts])


def ordering(function: str, plans: tuple[Plan, ...]) -> Compute:
    """``<`` and its kin; quick with a constant behind it."""
    careful = OPERATORS[function]
    one, other = plans
    if other.is_constant:
        return logic.ordered_with(one.compute, other.constant, _ORDERINGS[function], careful)
    left, right = one.compute, other.compute
    return lambda device, slots: careful(left(device, slots), right(device, slots))


def check_pattern(pattern: str) -> None:
    """Refuses a pattern that RE2 refuses."""
    try:
        compile_regex(pattern)
    except RegexError as error:
        raise CompileError(f"program instantiation failed: {error}") from error


def matching(text: Compute, pattern: str) -> Compute:
    """``matches`` with a constant pattern."""
    matches = compile_regex(pattern).matches

    def compute(device: DeviceView, slots: Slots) -> Value:
        value = text(device, slots)
        if type(value) is not str:
            raise no_such_overload()
        return matches(value)

    return compute


def list_with_optionals(parts: list[tuple[Compute, bool]]) -> Compute:
    """A list of which some elements may not be there."""

    def compute(device: DeviceView, slots: Slots) -> Value:
        result = []
        for part, optional in parts:
            value = part(device, slots)
            if not optional:
                result.append(value)
            elif type(value) is not v.OptionalValue:
                raise EvaluationError(
                    f"cannot initialize optional list element from non-optional value {v.show(value)}"
                )
            elif value.present:
                result.append(value.value)
        return result

    return compute


def made_map(entries: list[tuple[Compute, Compute, bool]], *, strict: bool = False) -> Compute:
    """A map; ``strict``: its keys are of the types that the specification names, and none comes twice."""
    as_key = v.specified_key if strict else v.map_key

    def compute(device: DeviceView, slots: Slots) -> Value:
        result: dict[Any, Any] = {}
        for key, part, optional in entries:
            place = as_key(key(device, slots))
            value = part(device, slots)
            if strict and place in result:
                raise EvaluationError(f"repeated key: {v.show(v.key_value(place))}")
            if not optional:
                result[place] = value
            elif type(value) is not v.OptionalValue:
                raise not_an_optional_field(v.show(v.key_value(place)), value)
            elif value.present:
                result[place] = value.value
            else:
                result.pop(place, None)
        return result

    return compute


def made_at_once(compute: Compute) -> Plan:
    """What needs no device, computed now, unless it fails."""
    try:
        return constant(compute(_NO_DEVICE, []))
    except EvaluationError:
        return Plan(compute)


def check_key(key: Value) -> None:
    """Refuses a constant that can be no key and no index."""
    if type(key) not in _KEY_TYPES:
        raise CompileError(f"program instantiation failed: invalid qualifier type: {v.go_name(key)}")


def made_message(name: str, fields: list[tuple[str, Compute, bool]]) -> Compute:
    """A message."""
    made = MESSAGES.get(name)

    def compute(device: DeviceView, slots: Slots) -> Value:
        given: dict[str, Value] = {}
        for field, part, optional in fields:
            value = part(device, slots)
            if not optional:
                given[field] = value
            elif type(value) is not v.OptionalValue:
                raise not_an_optional_field(field, value)
            elif value.present:
                given[field] = value.value
        return message(name, made, given)

    return compute


def not_an_optional_field(field: str, value: Value) -> EvaluationError:
    """What is wrong with an optional field that is given something else."""
    shown = f"'{field}' from non-optional value {v.show(value)}"
    return EvaluationError(f"cannot initialize optional entry {shown}")


def message(name: str, made: Message | None, fields: dict[str, Value]) -> Value:
    """A message from its fields; the device itself is no message that could be made."""
    if made is None:
        raise EvaluationError(f"unknown type '{name}'")
    return made.make(fields)
