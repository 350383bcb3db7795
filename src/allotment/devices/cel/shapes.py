"""Recognizing the walks that the common macros make, so that they can have closures of their own."""

from __future__ import annotations

from typing import NamedTuple

from allotment.devices.cel.syntax import Call, Comprehension, Expr, Ident, ListExpr, Literal


class Shape(NamedTuple):
    """Which closure a walk can have, and the parts that it needs."""

    kind: str
    parts: tuple[Expr, ...]


def known_shape(node: Comprehension) -> Shape | None:
    """Which macro a comprehension comes from, if it is one of those with closures of their own."""
    step = node.step
    if node.second_variable or not isinstance(step, Call) or not _is_result(node.result, node):
        return None
    if (
        step.function in ("_&&_", "_||_")
        and isinstance(node.initial, Literal)
        and _is_result(step.arguments[0], node)
    ):
        return Shape(step.function, (step.arguments[1],))
    if not (isinstance(node.initial, ListExpr) and not node.initial.elements):
        return None
    added = _added(step, node)
    if added is not None:
        return Shape("map", (added,))
    if step.function == "_?_:_" and _is_result(step.arguments[2], node):
        added = _added(step.arguments[1], node)
        if added is not None:
            return Shape("filter", (step.arguments[0], added))
    return None


def _added(step: Expr, node: Comprehension) -> Expr | None:
    """The element that ``@result + [element]`` adds."""
    if not (isinstance(step, Call) and step.function == "_+_" and _is_result(step.arguments[0], node)):
        return None
    new = step.arguments[1]
    return (
        new.elements[0] if isinstance(new, ListExpr) and len(new.elements) == 1 and not new.optional else None
    )


def _is_result(node: Expr, comprehension: Comprehension) -> bool:
    return isinstance(node, Ident) and node.name == comprehension.accumulator
