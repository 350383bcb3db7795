"""Where cel-go fails itself: it reckons what some calls did cost from values that are not what it thinks.

Such a failure ends the whole evaluation, whatever ``&&`` and ``||`` would have made of an error. It befalls
``distinct``, ``sort``, ``sortBy`` and ``flatten`` (``ext/lists.go``) when what they are given has failed, or
is no list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from allotment.devices.cel import values as v
from allotment.devices.cel.numbers64 import UInt
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.times import Duration, Timestamp
from allotment.devices.cel.values import Value

_ADDABLE: Final = frozenset({int, UInt, float, str, bytes, Duration, Timestamp})


class PanicError(Exception):
    """An evaluation that upstream would break off."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = f"internal error: interface conversion: {message}"


def may_panic(overload: str) -> bool:
    """Whether a form of a function is one of those."""
    return overload in ("list_distinct", "list_flatten_int") or overload.endswith(
        ("_sort", "_sortByAssociatedKeys")
    )


def check_reckoning(overload: str, values: Sequence[Value]) -> None:
    """Raises PanicError where the cost of a call cannot be reckoned; errors stand among the values."""
    if overload == "list_flatten_int":
        if type(values[1]) is not int:
            raise PanicError(f"ref.Val is {_go_name(values[1])}, not types.Int")
        return
    given = values[1 if overload.endswith("_sortByAssociatedKeys") else 0]
    if not v.is_list(given):
        missing = "Contains" if type(given) in _ADDABLE else "Add"
        raise PanicError(f"{_go_name(given)} is not traits.Lister: missing method {missing}")


def _go_name(value: Value) -> str:
    return "*types.Err" if isinstance(value, EvaluationError) else v.go_name(value)
