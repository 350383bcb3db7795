"""Quantities: ``40Gi``, ``500m``, ``1e3``.

The grammar is that of Kubernetes (apimachinery, pkg/api/resource/quantity.go): a decimal number and a suffix,
binary (``Ki`` to ``Ei``), decimal (``n`` to ``E``) or an exponent. Arithmetic is exact; where whole units are
wanted, a fraction is rounded up, as Kubernetes does.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Final

KI: Final = 1024
MI: Final = 1024 * KI
GI: Final = 1024 * MI

BINARY: Final = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
LARGEST: Final = 2**63 - 1
LONGEST: Final = 64

_FORM: Final = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(.*)", re.DOTALL)
_EXPONENT: Final = re.compile(r"[eE]([+-]?[0-9]{1,3})")
_SUFFIXES: Final = "Ki, Mi, Gi, Ti or k, M, G, T"


class QuantityError(ValueError):
    """A text that is no quantity: what is wrong with it, and what to write."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def parse_exact(value: str | int | float) -> Fraction:
    """The exact value of a quantity."""
    if isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value)):
        raise QuantityError(f"`{value}` is not a quantity", "write a number and a suffix, such as 40Gi")
    if isinstance(value, int | float):
        return _bounded(Fraction(str(value)), str(value))
    if len(value) > LONGEST:
        raise QuantityError(
            f"a quantity has at most {LONGEST} characters", "write it with a suffix, such as 40Gi"
        )
    match = _FORM.fullmatch(value)
    if match is None:
        raise QuantityError(f"`{value}` is not a quantity", "write a number and a suffix, such as 40Gi")
    sign, digits, suffix = match.groups()
    number = Fraction(digits) * _factor(suffix, value, digits)
    return _bounded(-number if sign == "-" else number, value)


def parse_quantity(value: str | int | float) -> int:
    """The value of a quantity in whole units, rounded up."""
    return -(-parse_exact(value) // 1)


def parse_bytes(value: str | int | float) -> int:
    """An amount of memory in bytes, rounded up; never negative."""
    amount = parse_quantity(value)
    if amount < 0:
        raise QuantityError(f"`{value}` is less than nothing", "write a positive amount, such as 40Gi")
    return amount


def format_gi(amount: int) -> str:
    """Bytes as Gi with two decimals, rounded down: what is shown can be asked for (``79.64Gi``)."""
    whole, hundredths = divmod(amount * 100 // GI, 100)
    return f"{whole}.{hundredths:02d}Gi"


def format_bytes(amount: int) -> str:
    """Bytes in the canonical form of Kubernetes: the largest binary suffix that leaves a whole number."""
    for suffix, power in reversed(BINARY.items()):
        unit = 1024**power
        if amount and amount % unit == 0:
            return f"{amount // unit}{suffix}"
    return str(amount)


def _factor(suffix: str, value: str, digits: str) -> Fraction:
    """What a suffix multiplies by."""
    if suffix in BINARY:
        return Fraction(1024 ** BINARY[suffix])
    if suffix in DECIMAL:
        return Fraction(10) ** DECIMAL[suffix]
    if exponent := _EXPONENT.fullmatch(suffix):
        return Fraction(10) ** int(exponent.group(1))
    raise QuantityError(
        f"`{value}` is not a quantity: `{suffix.strip()}` is no suffix", _meant(digits, suffix)
    )


def _meant(digits: str, suffix: str) -> str:
    """What somebody who wrote this suffix most likely means: ``40 GB`` is 40G, ``40gi`` is 40Gi."""
    word = suffix.strip().lower()
    for known in (*BINARY, "k", "M", "G", "T", "P"):
        if word in {known.lower(), known.lower() + "b", known.lower() + "ib"[: 3 - len(known)]}:
            return f"write {digits}{known}"
    return f"the suffixes are {_SUFFIXES}"


def _bounded(number: Fraction, value: str) -> Fraction:
    """The number, if it is one that Kubernetes can hold."""
    if abs(number) > LARGEST:
        raise QuantityError(f"`{value}` is more than any machine has", "look at the suffix")
    return number
