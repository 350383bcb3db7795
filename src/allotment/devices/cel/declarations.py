"""Functions as they are declared: names, forms, and what computes them.

A form (an overload) has cel-go's id, since costs are told apart by it. Where the types are known when an
expression is compiled, its form is called directly; where they are not (attributes may be anything), values
are held against the declared types first, as upstream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass, field

from allotment.devices.cel.cel_types import CelType
from allotment.devices.cel.macros import Macro, MacroKey
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.values import Value, matches_type, type_name

Implementation = Callable[..., Value]


@dataclass(frozen=True, slots=True)
class Overload:
    """One form of a function. ``compute`` is None where the evaluator itself does it (``&&``, ``[]``)."""

    id: str
    arguments: tuple[CelType, ...]
    result: CelType
    compute: Implementation | None = None
    is_member: bool = False

    def takes(self, arguments: Sized) -> bool:
        """Whether it takes this many arguments."""
        return len(arguments) == len(self.arguments)

    def accepts(self, values: tuple[Value, ...]) -> bool:
        """Whether these values may be given to it."""
        return self.takes(values) and all(map(matches_type, values, self.arguments))


@dataclass(frozen=True, slots=True)
class Library:
    """What a library brings: functions, macros, names of types and of constants, and functions for values of
    any type.
    """

    functions: Mapping[str, tuple[Overload, ...]]
    macros: Mapping[MacroKey, Macro] = field(default_factory=dict)
    names: Mapping[str, CelType] = field(default_factory=dict)
    dispatchers: Mapping[str, Implementation] = field(default_factory=dict)
    constants: Mapping[str, int] = field(default_factory=dict)


def member(
    name: str, arguments: tuple[CelType, ...], result: CelType, compute: Implementation | None
) -> Overload:
    """A form that is called on a value."""
    return Overload(name, arguments, result, compute, is_member=True)


def guarded(function: str, overloads: tuple[Overload, ...]) -> Implementation:
    """The form that fits the values, found when they are met."""

    def call(*values: Value) -> Value:
        for overload in overloads:
            if overload.compute is not None and overload.accepts(values):
                return overload.compute(*values)
        raise EvaluationError(f"no such overload: {function}({', '.join(map(type_name, values))})")

    return call
