"""Lists as sets: whether one contains, equals or meets another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import values as v
from allotment.devices.cel.declarations import Library, Overload
from allotment.devices.cel.library.operators import in_list


def _contains(values: Sequence[v.Value], others: Sequence[v.Value]) -> bool:
    return all(in_list(other, values) for other in others)


def _equivalent(values: Sequence[v.Value], others: Sequence[v.Value]) -> bool:
    return _contains(values, others) and _contains(others, values)


def _intersects(values: Sequence[v.Value], others: Sequence[v.Value]) -> bool:
    return any(in_list(value, others) for value in values)


_LIST: Final = t.list_of(t.parameter("T"))
SETS: Final = Library(
    {
        f"sets.{name}": (Overload(f"list_sets_{name}_list", (_LIST, _LIST), t.BOOL, compute),)
        for name, compute in (
            ("contains", _contains),
            ("equivalent", _equivalent),
            ("intersects", _intersects),
        )
    }
)
