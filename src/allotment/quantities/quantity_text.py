"""The text of a Kubernetes quantity, taken apart: sign, digits, suffix.

The scanner of apimachinery accepts more than its own regular expression says (``+``, ``.5``, ``1.``, ``Ki``)
and strips leading zeros before it counts digits, on which the inner form depends; both are kept here. The
three messages are those of ``pkg/api/resource/quantity.go``, which selectors pass on to their authors.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_TEXT: Final = re.compile(r"[+-]?([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[+-]?[0-9]*)")
_EXPONENT: Final = re.compile(r"[eE]([+-]?[0-9]+)")
_SUFFIXES: Final = {
    **{suffix: ("DecimalSI", power) for suffix, power in
       {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}.items()},
    **{f"{letter}i": ("BinarySI", 10 * place) for place, letter in enumerate("KMGTPE", start=1)},
}  # fmt: skip

FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
SUFFIX = "unable to parse quantity's suffix"
NUMERIC = "unable to parse numeric part of quantity"
MOST_DIGITS: Final = 4000


class QuantityTextError(ValueError):
    """A text that Kubernetes does not take for a quantity; the message is its own."""


class QuantityParts(NamedTuple):
    """What a quantity's text is made of; ``power`` is of two for binary suffixes and of ten for others."""

    negative: bool
    whole: str
    fraction: str
    form: str
    power: int


def split_quantity(text: str) -> QuantityParts:
    """The parts of a quantity's text."""
    match = _TEXT.fullmatch(text) if text else None
    if match is None:
        raise QuantityTextError(FORMAT)
    whole, fraction, suffix = match.groups()
    if len(text) > MOST_DIGITS:
        raise QuantityTextError(NUMERIC)
    form, power = _meaning(suffix)
    return QuantityParts(text.startswith("-"), whole.lstrip("0") or "0", fraction or "", form, power)


def _meaning(suffix: str) -> tuple[str, int]:
    """The form that a suffix stands for, and its power."""
    known = _SUFFIXES.get(suffix)
    if known is not None:
        return known
    exponent = _EXPONENT.fullmatch(suffix)
    if exponent is None or abs(int(exponent.group(1)[:12])) > 2**31 - 1:
        raise QuantityTextError(SUFFIX)
    return "DecimalExponent", int(exponent.group(1))
