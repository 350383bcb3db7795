"""Sizes that are known before a device is met: of constants, of scalars, of a device's declared fields."""

from __future__ import annotations

from typing import Final, NamedTuple

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import devices
from allotment.devices.cel.costs.ranges import ONE, Range, exactly
from allotment.devices.cel.syntax import Expr, ListExpr, Literal, MapExpr

_SCALARS: Final = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
_UNBOUNDED: Final = 2**63 - 1


class Entries(NamedTuple):
    """The sizes of what a list or map holds."""

    kind: str
    key: Range
    value: Range

    def union(self, other: Entries) -> Entries:
        """The sizes of what either holds."""
        return Entries(self.kind, self.key.union(other.key), self.value.union(other.value))


def literal_size(node: Expr) -> Range | None:
    """The size of a constant, a list or a map that stands in the text."""
    if isinstance(node, Literal):
        return exactly(len(node.value)) if isinstance(node.value, str | bytes) else ONE
    if isinstance(node, ListExpr):
        return exactly(len(node.elements))
    return exactly(len(node.entries)) if isinstance(node, MapExpr) else None


def scalar_size(one: t.CelType) -> Range | None:
    """The size of values of a type that has only one."""
    if t.is_optional(one):
        return scalar_size(one.parameters[0])
    return ONE if t.unboxed(one).kind in _SCALARS else None


def declared_size(path: tuple[str, ...]) -> Range | None:
    """The size of what a path leads to, by the API's limits."""
    if not path or path[0] != devices.NAME:
        return None
    size = devices.Size(0)
    for place, step in enumerate(path[1:]):
        if place == 0:
            found = devices.FIELD_SIZES.get(step)
        elif step in ("@items", "@values"):
            found = size.element
        elif step == "@keys":
            found = size.key
        else:
            found = size.element if size.element == devices.ATTRIBUTE_SIZE else None
        if found is None:
            return None
        size = found
    return Range(0, _UNBOUNDED if size.most is None else size.most)
