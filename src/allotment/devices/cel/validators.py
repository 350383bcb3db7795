"""Checks of constants that Kubernetes adds since 1.29: patterns, durations, timestamps, and lists of one
type.

A typing mistake in a pattern shows when a selector is written, not when a device is met. From cel-go's
``cel/validator.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.checked import Checked
from allotment.devices.cel.format_check import format_issues
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.regex import RegexError, compile_regex
from allotment.devices.cel.source import Issue
from allotment.devices.cel.syntax import Call, Expr, ListExpr, Literal, MapExpr, children
from allotment.devices.cel.times import SECOND, Duration, Timestamp

_CONSTANTS: Final[Mapping[tuple[str, type], Callable[[Any], object]]] = {
    ("duration", str): Duration.parse,
    ("duration", int): lambda _number: Duration.parse(""),
    ("timestamp", str): Timestamp.parse,
    ("timestamp", int): lambda seconds: Timestamp(seconds * SECOND),
    ("matches", str): compile_regex,
}
_MIXED_ALLOWED: Final = frozenset({"format"})


def validate(checked: Checked, *, constants: bool) -> list[Issue]:
    """What is wrong with the constants of an expression; ``constants``: patterns and times as well."""
    issues: list[Issue] = []
    for node, exempt in _walk(checked.tree, exempt=False):
        if constants and isinstance(node, Call):
            issues.extend(_constant(node))
        if constants and isinstance(node, Call) and node.function == "format":
            issues.extend(format_issues(node, checked))
        if exempt:
            continue
        if isinstance(node, ListExpr):
            issues.extend(_list(node, checked))
        elif isinstance(node, MapExpr):
            issues.extend(_map(node, checked))
    return issues


def _constant(node: Call) -> Iterator[Issue]:
    """The first argument, where it is a constant."""
    literal = node.arguments[0] if node.arguments else None
    if not isinstance(literal, Literal):
        return
    check = _CONSTANTS.get((node.function, type(literal.value)))
    try:
        if check is not None:
            check(literal.value)
    except (EvaluationError, RegexError):
        yield Issue(literal.offset, f"invalid {node.function} argument")


def _list(node: ListExpr, checked: Checked) -> Iterator[Issue]:
    first: t.CelType | None = None
    for index, element in enumerate(node.elements):
        found = _given(checked.type_of(element), optional=index in node.optional)
        if first is None:
            first = found
        elif t.unboxed(first) != t.unboxed(found):
            yield _mismatch(element, first, found)
            return


def _map(node: MapExpr, checked: Checked) -> Iterator[Issue]:
    first: tuple[t.CelType, t.CelType] | None = None
    for entry in node.entries:
        key = checked.type_of(entry.key)
        value = _given(checked.type_of(entry.value), optional=entry.optional)
        if first is None:
            first = key, value
            continue
        for part, wanted, found in ((entry.key, first[0], key), (entry.value, first[1], value)):
            if t.unboxed(wanted) != t.unboxed(found):
                yield _mismatch(part, wanted, found)


def _given(found: t.CelType, *, optional: bool) -> t.CelType:
    return found.parameters[0] if optional and found.parameters else found


def _mismatch(node: Expr, wanted: t.CelType, found: t.CelType) -> Issue:
    return Issue(node.offset, f"expected type '{t.format_type(wanted)}' but found '{t.format_type(found)}'")


def _walk(node: Expr, *, exempt: bool) -> Iterator[tuple[Expr, bool]]:
    """Every node, and whether it stands within a call that takes lists of mixed types."""
    yield node, exempt
    within = exempt or (isinstance(node, Call) and node.function in _MIXED_ALLOWED)
    for child in children(node):
        yield from _walk(child, exempt=within)
