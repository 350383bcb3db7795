"""Amounts of resources as Kueue computes with them: 64-bit whole numbers with one that stands for no limit.

cpu counts in thousandths, everything else in ones; what has more digits is rounded up. Sums stop at the ends
of the range, and the upper end is "unlimited", which stays so whatever is taken from it. The rules are those
of ``pkg/resources`` (Amount, ResourceFormatter) of Kueue 0.19 and 0.20.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from allotment.quantities.kubernetes import BINARY, DECIMAL, INT64_MAX, INT64_MIN, Quantity

UNLIMITED: Final = INT64_MAX
CPU: Final = "cpu"
PODS: Final = "pods"
NANOS: Final = 10**9
_BINARY: Final = frozenset({"memory", "ephemeral-storage"})
_HUGE: Final = "hugepages-"
_MILLI: Final = -3

Amounts = Mapping[str, int]


def plus(left: int, right: int) -> int:
    """The sum; unlimited if either is."""
    if left == UNLIMITED or right == UNLIMITED:  # noqa: PLR1714 - asked very often
        return UNLIMITED
    return max(INT64_MIN, min(INT64_MAX, left + right))


def minus(left: int, right: int) -> int:
    """The difference; an unlimited amount is not used up, and nothing is left of a bounded one without it."""
    if left == UNLIMITED:
        return 0 if right == UNLIMITED else UNLIMITED
    if right == UNLIMITED:
        return INT64_MIN
    return max(INT64_MIN, min(INT64_MAX, left - right))


def times(amount: int, factor: int) -> int:
    """The product, kept within 64 bits."""
    return max(INT64_MIN, min(INT64_MAX, amount * factor))


@lru_cache(maxsize=4096)
def amount_of(resource: str, text: str) -> int:
    """A quantity as a whole number of this resource's units, rounded up."""
    return amount_of_quantity(resource, Quantity.parse(text))


def amount_of_quantity(resource: str, quantity: Quantity) -> int:
    """The same for a quantity that is read already."""
    unit = NANOS // 1000 if resource == CPU else NANOS
    return max(INT64_MIN, min(INT64_MAX, -(-quantity.nanos // unit)))


def amounts_of(quantities: Mapping[str, object]) -> dict[str, int]:
    """Amounts by resource, as an object lists them."""
    return {name: amount_of(name, str(value)) for name, value in quantities.items()}


@lru_cache(maxsize=4096)
def amount_text(resource: str, amount: int) -> str:
    """An amount as Kueue's messages and statuses write it: ``500m``, ``2Gi``, ``3``."""
    if resource == CPU:
        return str(Quantity(amount, _MILLI))
    if resource in _BINARY or resource.startswith(_HUGE):
        return str(Quantity.parse(str(Quantity(amount, form=BINARY))))
    return str(Quantity(amount, form=DECIMAL))


def limit_text(resource: str, amount: int) -> str:
    """The same for an amount that may be unlimited."""
    return "<unlimited>" if amount == UNLIMITED else amount_text(resource, amount)


@lru_cache(maxsize=1024)
def walking_order(resource: str) -> tuple[int, str]:
    """Where a resource comes when Kueue walks over requests: by the 64-bit FNV-1a hash of its name."""
    value = 0xCBF29CE484222325
    for byte in resource.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value, resource


def in_walking_order(requests: Amounts) -> dict[str, int]:
    """Requests in that order."""
    if len(requests) < 2:
        return dict(requests)
    return {name: requests[name] for name in sorted(requests, key=walking_order)}
