"""Look-ups that count: a name or a value, and the steps taken from it.

``device.attributes['d'].x`` costs one for ``device`` and one for each of three steps, the failing one
included. A step of an optional chain that finds nothing is free and ends the chain. ``has()`` costs its steps
but not the name. Which expressions are look-ups, and how they are joined to longer ones, follows cel-go's
planner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from allotment.devices.cel import containers, paths
from allotment.devices.cel import values as v
from allotment.devices.cel.costs.tally import Tally, failed
from allotment.devices.cel.devices import DeviceView
from allotment.devices.cel.problems import EvaluationError, no_such_overload
from allotment.devices.cel.values import NOTHING, OptionalValue, Value

Count = Callable[[Tally], Value]


class Step(NamedTuple):
    """One step: to what lies under a key."""

    key: Count
    optional: bool = False
    test_only: bool = False


class Lookup:
    """A value and the steps from it; ``branches`` instead where it is one of two (``?:``)."""

    __slots__ = ("base", "branches", "condition", "steps")

    def __init__(
        self,
        base: Count | None = None,
        *,
        condition: Count | None = None,
        branches: tuple[Lookup, Lookup] | None = None,
    ) -> None:
        self.base = base
        self.condition = condition
        self.branches = branches
        self.steps: list[Step] = []

    def then(self, step: Step) -> Lookup:
        """The look-up with one more step; both branches take it."""
        for branch in self.branches or ():
            branch.then(step)
        if self.branches is None:
            self.steps.append(step)
        return self

    def watched(self, tally: Tally) -> Value:
        """The value, as an expression of its own: the name costs one, unless all is a test or a choice."""
        value = self.resolve(tally)
        if self.branches is None and not self.tests:
            tally.add(1)
        return value

    def resolve(self, tally: Tally) -> Value:
        """The value, as part of something else: only the steps cost."""
        if self.branches is not None and self.condition is not None:
            return self._chosen(self.condition, self.branches, tally)
        value: Value = None if self.base is None else self.base(tally)
        if failed(value):
            return value
        is_optional = type(value) is OptionalValue
        if is_optional:
            if not value.present:
                return self._ended(value)
            value = value.value
        for step in self.steps:
            is_optional = is_optional or step.optional
            value = _taken(step, value, tally, optional=is_optional)
            if failed(value) or value is NOTHING:
                return self._ended(value)
        return OptionalValue(value) if is_optional and not self.tests else value

    @property
    def tests(self) -> bool:
        """Whether it asks only if something is there."""
        return bool(self.steps) and self.steps[-1].test_only

    def _ended(self, value: Value) -> Value:
        """What comes of a chain that ended early, with an error or with nothing."""
        return False if self.tests and not failed(value) else value

    def _chosen(self, condition: Count, branches: tuple[Lookup, Lookup], tally: Tally) -> Value:
        found = condition(tally)
        if found is True:
            return branches[0].resolve(tally)
        if found is False:
            return branches[1].resolve(tally)
        return found if failed(found) else no_such_overload()


def _taken(  # noqa: PLR0911 - what a step may come to
    step: Step, value: Value, tally: Tally, *, optional: bool
) -> Value:
    """What a step leads to: an error, NOTHING at the end of an optional chain, or a value."""
    key = step.key(tally)
    if failed(key):
        if not optional:
            tally.add(1)
        return key
    if optional:
        found = _found(value, key)
        if failed(found):
            return found
        if found is v.MISSING:
            return NOTHING
        tally.add(1)
        return True if step.test_only else found
    found = _found(value, key)
    tally.add(1)
    if step.test_only:
        return found if failed(found) else found is not v.MISSING
    if found is not v.MISSING:
        return found
    try:
        return paths.selected(value, key)
    except EvaluationError as error:
        return error


def _found(value: Value, key: Value) -> Value:
    try:
        return value.field(key) if type(value) is DeviceView else containers.find(value, key)
    except EvaluationError as error:
        return error
