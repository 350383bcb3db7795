"""``'%d'.format(['a'])`` is refused when it is written, where text and arguments both stand in the
expression.

Clauses are held against the types of the arguments; what may be of any type is left to the evaluation. From
cel-go's ``ext/formatting.go``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.checked import Checked
from allotment.devices.cel.library.formatting import CLAUSE, DURING, RULES, clause_problem
from allotment.devices.cel.source import Issue
from allotment.devices.cel.syntax import Call, Expr, ListExpr, literal_text

_NOT_FINITE: Final = frozenset({"NaN", "Infinity", "-Infinity"})


def format_issues(node: Call, checked: Checked) -> Iterator[Issue]:
    """What is wrong with a call of ``format``, if its parts are known; the first fault ends it."""
    template = None if node.target is None else literal_text(node.target)
    if template is None or len(node.arguments) != 1 or not isinstance(node.arguments[0], ListExpr):
        return
    elements = node.arguments[0].elements
    clauses = [match for match in CLAUSE.finditer(template) if not match["percent"]]
    for place, match in enumerate(clauses):
        problem = clause_problem(match)
        if place >= len(elements) and not (problem and match["letter"] is None):
            yield Issue(node.offset, f"index {place} out of range")
            return
        if problem:
            yield Issue(node.offset, problem)
            return
        element = elements[place]
        wrong = _unfit(match, element, checked.type_of(element))
        if wrong is not None:
            yield Issue(element.offset, f"{DURING}{RULES[match['letter']].message}, was given {wrong}")
            return
    if len(elements) > len(clauses):
        counts = f"(expected {len(clauses)}, got {len(elements)})"
        yield Issue(node.offset, f"too many arguments supplied to string.format {counts}")


def _unfit(match: re.Match[str], element: Expr, found: t.CelType) -> str | None:
    """The name of a type that a clause does not take."""
    if match["letter"] in "fe" and literal_text(element) in _NOT_FINITE:
        return None
    found = t.unboxed(found)
    kinds = RULES[match["letter"]].kinds
    if t.is_dyn(found) or found.kind in kinds:
        inner = found.parameters if match["letter"] == "s" and found.kind != "type" else ()
        return next((wrong for part in inner if (wrong := _unfit(match, element, part))), None)
    return found.name
