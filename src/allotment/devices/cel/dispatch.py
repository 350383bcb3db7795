"""Which function computes a call, decided when an expression is compiled.

Where the checker has found one form and knows every argument's type, that form is called with nothing in
between. Otherwise the values decide: operators have a function for values of any type, others try their
declared forms.
"""

from __future__ import annotations

from dataclasses import dataclass

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.cel_types import CelType
from allotment.devices.cel.checked import Checked
from allotment.devices.cel.declarations import Implementation, guarded
from allotment.devices.cel.naming import Names
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.syntax import Call, Expr
from allotment.devices.cel.values import Value

CONVERSIONS = frozenset(
    {"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"}
)
"""Functions that are computed at once where their argument is a constant."""


@dataclass(frozen=True, slots=True)
class Callee:
    """What a call calls. ``overload`` is the form's id where there is only one; ``any_types``: an operator's
    own way.
    """

    function: str
    overload: str
    compute: Implementation
    exact: bool
    any_types: bool


def arguments_of(node: Call, checked: Checked) -> tuple[Expr, ...]:
    """The target, if it is a value, and the arguments."""
    reference = checked.references[node.id]
    if node.target is None or reference.namespaced:
        return node.arguments
    return (node.target, *node.arguments)


def callee(node: Call, checked: Checked, names: Names) -> Callee:
    """What a call calls."""
    reference = checked.references[node.id]
    forms = names.overloads.get(reference.name, ())
    chosen = tuple(form for form in forms if form.id in reference.overloads)
    if not chosen:
        return Callee(reference.name, "", _unbound(reference.name), exact=False, any_types=False)
    overload = chosen[0].id if len(chosen) == 1 else ""
    dispatcher = names.dispatchers.get(reference.name)
    if overload and chosen[0].compute is not None:
        arguments = arguments_of(node, checked)
        if all(
            _certain(checked.type_of(argument), wanted)
            for argument, wanted in zip(arguments, chosen[0].arguments, strict=True)
        ):
            return Callee(reference.name, overload, chosen[0].compute, exact=True, any_types=False)
    if dispatcher is not None:
        return Callee(reference.name, overload, dispatcher, exact=False, any_types=True)
    alike = chosen if overload else tuple(form for form in forms if form.is_member == chosen[0].is_member)
    return Callee(reference.name, overload, guarded(reference.name, alike), exact=False, any_types=False)


def _unbound(function: str) -> Implementation:
    """What calling a function comes to that is not there."""

    def call(*_values: Value) -> Value:
        raise EvaluationError(f"unbound function: {function}")

    return call


def _certain(found: CelType, wanted: CelType) -> bool:
    """Whether a value of this type needs no second look."""
    if wanted.kind in ("parameter", "dyn", "any"):
        return True
    if t.is_dyn(found) or found.kind != wanted.kind or found.name != wanted.name:
        return False
    return all(map(_certain, found.parameters, wanted.parameters)) if found.parameters else True
