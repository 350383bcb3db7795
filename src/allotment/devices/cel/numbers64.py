"""CEL's integers: 64 bits, signed and unsigned, and never a silent overflow.

Unsigned numbers are a class of their own, since ``1`` and ``1u`` differ in type though not in value. Division
and remainder truncate toward zero. The messages are those of cel-go.
"""

from __future__ import annotations

from typing import Final

from allotment.devices.cel.problems import EvaluationError

INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**63 - 1
UINT_MAX: Final = 2**64 - 1


class UInt(int):
    """An unsigned number of 64 bits."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{int(self)}u"


def int64(value: int) -> int:
    """The number, if it fits."""
    if not INT_MIN <= value <= INT_MAX:
        raise EvaluationError("integer overflow")
    return value


def uint64(value: int) -> UInt:
    """The number as an unsigned one, if it fits."""
    if not 0 <= value <= UINT_MAX:
        raise EvaluationError("unsigned integer overflow")
    return UInt(value)


def quotient(one: int, other: int) -> int:
    """Division that truncates toward zero."""
    if other == 0:
        raise EvaluationError("division by zero")
    result = abs(one) // abs(other)
    return result if (one < 0) == (other < 0) else -result


def remainder(one: int, other: int) -> int:
    """What truncating division leaves: it has the sign of the dividend."""
    if other == 0:
        raise EvaluationError("modulus by zero")
    result = abs(one) % abs(other)
    return -result if one < 0 else result
