"""Walks over lists and maps, as closures.

An error within a walk is kept until the walk is over, since a later element may decide without it: ``all`` is
false and ``exists`` is true if any element says so. The common macros have closures of their own; whatever
else a comprehension may be is folded step by step.
"""

from __future__ import annotations

from allotment.devices.cel import containers
from allotment.devices.cel.devices import DeviceView
from allotment.devices.cel.paths import Compute, Slots
from allotment.devices.cel.problems import EvaluationError, no_such_overload
from allotment.devices.cel.values import Value


class Unset:
    """Stands in a slot for a value that is computed when it is first asked for."""


UNSET = Unset()


def kept(value: Value) -> Value:
    """A local value, or the error that stands for it."""
    if type(value) is EvaluationError:
        raise EvaluationError(value.message)
    return value


def attempt(compute: Compute, device: DeviceView, slots: Slots) -> Value:
    """A value, or the error in its place."""
    try:
        return compute(device, slots)
    except EvaluationError as error:
        return error


def quantifier(walked: Compute, slot: int, predicate: Compute, *, decides: bool) -> Compute:
    """``all`` (``decides`` is False) and ``exists`` (True): the first element that decides ends it."""

    def compute(device: DeviceView, slots: Slots) -> Value:
        problem: EvaluationError | None = None
        for item in containers.elements(walked(device, slots)):
            slots[slot] = item
            try:
                found = predicate(device, slots)
            except EvaluationError as error:
                problem = problem or error
                continue
            if found is decides:
                return decides
            if type(found) is not bool:
                problem = problem or no_such_overload()
        if problem is not None:
            raise problem
        return not decides

    return compute


def gathered(walked: Compute, slot: int, item: Compute) -> Compute:
    """``map``: every element changed."""

    def compute(device: DeviceView, slots: Slots) -> Value:
        result = []
        problem: EvaluationError | None = None
        for element in containers.elements(walked(device, slots)):
            slots[slot] = element
            try:
                result.append(item(device, slots))
            except EvaluationError as error:
                problem = problem or error
        if problem is not None:
            raise problem
        return result

    return compute


def filtered(walked: Compute, slot: int, predicate: Compute, item: Compute) -> Compute:
    """``filter`` and ``map`` with a condition: the elements that pass, changed."""

    def compute(device: DeviceView, slots: Slots) -> Value:
        result = []
        problem: EvaluationError | None = None
        for element in containers.elements(walked(device, slots)):
            slots[slot] = element
            try:
                passes = predicate(device, slots)
            except EvaluationError as error:
                problem = error
                continue
            if type(passes) is not bool:
                problem = no_such_overload()
            elif passes:
                try:
                    result.append(item(device, slots))
                except EvaluationError as error:
                    problem = problem or error
        if problem is not None:
            raise problem
        return result

    return compute


def folded(
    walked: Compute,
    variables: tuple[int, ...],
    accumulator: int,
    *,
    initial: Compute,
    condition: Compute,
    step: Compute,
    result: Compute,
) -> Compute:
    """Any comprehension."""

    def compute(device: DeviceView, slots: Slots) -> Value:
        value = walked(device, slots)
        met = containers.met(value, pairs=len(variables) == 2)
        slots[accumulator] = attempt(initial, device, slots)
        for items in met:
            for slot, item in zip(variables, items, strict=True):
                slots[slot] = item
            if attempt(condition, device, slots) is False:
                break
            slots[accumulator] = attempt(step, device, slots)
        return result(device, slots)

    return compute


def local(slot: int) -> Compute:
    """A local name."""

    def compute(_device: DeviceView, slots: Slots) -> Value:
        value = slots[slot]
        if type(value) is EvaluationError:
            raise EvaluationError(value.message)
        return value

    return compute


def lazy(slot: int, initial: Compute) -> Compute:
    """A name bound by ``cel.bind``: computed when it is first asked for, and then kept."""

    def compute(device: DeviceView, slots: Slots) -> Value:
        value = slots[slot]
        if value is UNSET:
            value = slots[slot] = attempt(initial, device, slots)
        return kept(value)

    return compute


def bound(slot: int, result: Compute) -> Compute:
    """``cel.bind``: the result, in which a name stands for a value."""

    def compute(device: DeviceView, slots: Slots) -> Value:
        slots[slot] = UNSET
        return result(device, slots)

    return compute


def bound_at_once(slot: int, initial: Compute, result: Compute) -> Compute:
    """``cel.bind`` of something that cannot fail and costs nothing."""

    def compute(device: DeviceView, slots: Slots) -> Value:
        slots[slot] = initial(device, slots)
        return result(device, slots)

    return compute
