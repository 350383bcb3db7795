"""Compiling a selector, and asking a device by it.

``compile_selector`` refuses what Kubernetes refuses, with its text. A program whose cost cannot come near the
limit runs without counting; any other counts, and stops at the limit as upstream does.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.cel_types import CelType
from allotment.devices.cel.checked import Checked
from allotment.devices.cel.checker import check
from allotment.devices.cel.closures import Closures
from allotment.devices.cel.costs.counted import Counted, Counting
from allotment.devices.cel.costs.estimate import estimate_cost
from allotment.devices.cel.devices import DeviceView
from allotment.devices.cel.environment import Environment
from allotment.devices.cel.parser import parse
from allotment.devices.cel.results import as_bool
from allotment.devices.cel.source import CompileError, Source
from allotment.devices.cel.validators import validate

COST_LIMIT: Final = 1_000_000
UNCOUNTED: Final = COST_LIMIT // 10
"""A program that is estimated to cost less runs without counting: estimates can be a little low, never
tenfold. One that the counting itself may break off is counted as well.
"""


class Program:
    """A compiled selector."""

    __slots__ = (
        "_compute",
        "_counted",
        "_counting",
        "_slots",
        "checked",
        "environment",
        "expression",
        "max_cost",
    )

    def __init__(
        self, expression: str, environment: Environment, checked: Checked, *, cost_limit: int = COST_LIMIT
    ) -> None:
        names = environment.names
        closures = Closures(checked, names)
        self.expression = expression
        self.environment = environment
        self.checked = checked
        self._compute = closures.compute(checked.tree)
        self._slots = closures.slots
        self.max_cost = estimate_cost(checked, names.cel_go)
        self._counted = self.max_cost > UNCOUNTED or closures.may_panic
        self._counting = Counting(checked, names, cost_limit)

    @property
    def output_type(self) -> CelType:
        """The type of the result: ``bool``, or that of attributes."""
        return self.checked.result

    def evaluate(self, device: DeviceView) -> bool:
        """Whether the device passes; EvaluationError with the text that Kubernetes gives where it cannot be
        told.
        """
        if self._counted:
            return self.count(device).outcome()
        value = self._compute(device, [None] * self._slots)
        return value if type(value) is bool else as_bool(value)

    def count(self, device: DeviceView) -> Counted:
        """The same with its cost: ``outcome()`` is the answer or raises, ``cost`` what it took."""
        return self._counting.evaluate(device)


@lru_cache(maxsize=1024)
def compile_selector(expression: str, environment: Environment) -> Program:
    """A selector made ready; CompileError with everything that is wrong with it."""
    checked = _checked(expression, environment)
    if t.unboxed(checked.result) not in (t.BOOL, environment.attribute):
        raise CompileError(f"must evaluate to bool or the unknown type, not {checked.result}")
    return Program(expression, environment, checked)


def _checked(expression: str, environment: Environment) -> Checked:
    """The tree with its types, its constants looked at."""
    names = environment.names
    source = Source(expression)
    try:
        tree = parse(expression, names.macros, names.syntax)
        checked = check(tree, source, names)
        issues = validate(checked, constants=names.checks_constants)
        if issues:
            raise source.error(issues)
    except CompileError as error:
        raise CompileError(f"compilation failed: {error.text}", error.issues) from error
    return checked
