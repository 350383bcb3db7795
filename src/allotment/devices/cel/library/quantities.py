"""Quantities in selectors: ``quantity('40Gi')``, ``compareTo``, ``asInteger`` (apiserver's
``library/quantity.go``).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.declarations import Library, Overload, member
from allotment.devices.cel.numbers64 import INT_MIN
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.values import ComputedQuantity
from allotment.quantities.kubernetes import Quantity
from allotment.quantities.quantity_text import QuantityTextError


@lru_cache(maxsize=1024)
def parse_quantity(text: str) -> Quantity:
    """A quantity from its text; what is no quantity is an error of the evaluation."""
    try:
        return Quantity.parse(text)
    except QuantityTextError as error:
        raise EvaluationError(str(error)) from error


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityTextError:
        return False
    return True


def _sign(amount: Quantity) -> int:
    return amount.sign


def _is_greater(one: Quantity, other: Quantity) -> bool:
    return one.nanos > other.nanos


def _is_less(one: Quantity, other: Quantity) -> bool:
    return one.nanos < other.nanos


def _as_integer(amount: Quantity) -> int:
    number = amount.as_integer()
    if number is None:
        raise EvaluationError("cannot convert value to integer")
    return number


def _is_integer(amount: Quantity) -> bool:
    return amount.as_integer() is not None


def _computed(amount: Quantity) -> ComputedQuantity:
    return ComputedQuantity(amount.value, amount.scale, form=amount.form, small=amount.small)


def _add(amount: Quantity, other: Quantity) -> Quantity:
    return _computed(amount.add(other))


def _sub(amount: Quantity, other: Quantity) -> Quantity:
    return _computed(amount.sub(other))


def _add_integer(amount: Quantity, number: int) -> Quantity:
    return _computed(amount.add(Quantity.of_integer(number)))


def _sub_integer(amount: Quantity, number: int) -> Quantity:
    """The difference; the least number has no counterpart in 64 bits, and upstream adds it where it fits."""
    whole = amount.as_integer()
    if number == INT_MIN and whole is not None and whole >= 0:
        return _computed(amount.add(Quantity.of_integer(number)))
    return _computed(amount.sub(Quantity.of_integer(number)))


_Q: Final = t.QUANTITY
QUANTITIES: Final = Library(
    {
        "quantity": (Overload("string_to_quantity", (t.STRING,), _Q, parse_quantity),),
        "isQuantity": (Overload("is_quantity_string", (t.STRING,), t.BOOL, _is_quantity),),
        "sign": (Overload("quantity_sign", (_Q,), t.INT, _sign),),
        "isGreaterThan": (member("quantity_is_greater_than", (_Q, _Q), t.BOOL, _is_greater),),
        "isLessThan": (member("quantity_is_less_than", (_Q, _Q), t.BOOL, _is_less),),
        "compareTo": (member("quantity_compare_to", (_Q, _Q), t.INT, Quantity.compare),),
        "asApproximateFloat": (member("quantity_get_float", (_Q,), t.DOUBLE, Quantity.as_float),),
        "asInteger": (member("quantity_get_int", (_Q,), t.INT, _as_integer),),
        "isInteger": (member("quantity_is_integer", (_Q,), t.BOOL, _is_integer),),
        "add": (
            member("quantity_add", (_Q, _Q), _Q, _add),
            member("quantity_add_int", (_Q, t.INT), _Q, _add_integer),
        ),
        "sub": (
            member("quantity_sub", (_Q, _Q), _Q, _sub),
            member("quantity_sub_int", (_Q, t.INT), _Q, _sub_integer),
        ),
    },
)
