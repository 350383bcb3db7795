"""``'%d'.format(['a'])`` is refused when it is written, where text and arguments both stand in the
expression.

Clauses are held against the types of the arguments; what may be of any type is left to the evaluation. From
cel-go's ``ext/formatting.go``.
"""

from __future__ import annotations

from collections.abc import Iterator

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.checked import Checked
from allotment.devices.cel.library.formatting import CLAUSE, DURING, RULES, clause_problem
from allotment.devices.cel.source import Issue
from allotment.devices.cel.syntax import Call, Expr, ListExpr, MapExpr, children, literal_text


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
        wrong = _unfit(match["letter"], elements[place], checked)
        if wrong is not None:
            given = t.unboxed(checked.type_of(wrong)).name
            yield Issue(wrong.offset, f"{DURING}{RULES[match['letter']].message}, was given {given}")
            return
    if len(elements) > len(clauses):
        counts = f"(expected {len(clauses)}, got {len(elements)})"
        yield Issue(node.offset, f"too many arguments supplied to string.format {counts}")


def _unfit(letter: str, element: Expr, checked: Checked) -> Expr | None:
    """The part of an argument that a clause does not take; texts may be numbers that are none."""
    found = t.unboxed(checked.type_of(element))
    taken = RULES[letter].kinds | ({"dyn", "string"} if letter in "fe" else {"dyn"})
    if found.kind not in taken:
        return element
    if letter != "s":
        return None
    return next((wrong for part in _parts(element) if (wrong := _unfit(letter, part, checked))), None)


def _parts(element: Expr) -> tuple[Expr, ...]:
    """What a list or a map holds that stands in the text."""
    return children(element) if isinstance(element, ListExpr | MapExpr) else ()
