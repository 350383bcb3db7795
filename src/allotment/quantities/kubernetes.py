"""Quantities exactly as Kubernetes computes with them: ``Quantity`` of apimachinery.

A selector that compares memory must come to the same answer as the scheduler, odd corners included: two
inner forms (a 64-bit number with a power of ten, or an unbounded decimal), rounding up to a billionth,
a cap on binary amounts, and the canonical text. The rules are those of ``pkg/api/resource/quantity.go`` and
``amount.go`` of k8s.io/apimachinery. For what people write in Allotment's own files, with hints when it is
wrong, see ``quantity.py``.
"""

from __future__ import annotations

from functools import total_ordering
from typing import Final, Self

from allotment.quantities.quantity_text import QuantityParts, split_quantity

INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1
NANO: Final = -9
LONGEST_FAST: Final = 18
LARGEST_POWER: Final = 1000
"""Amounts beyond ten to this power are all alike: nobody has them, and writing them out would take for ever.
"""

DECIMAL: Final = "DecimalSI"
BINARY: Final = "BinarySI"
EXPONENT: Final = "DecimalExponent"

_DECIMAL_SUFFIXES: Final = {
    -9: "n",
    -6: "u",
    -3: "m",
    0: "",
    3: "k",
    6: "M",
    9: "G",
    12: "T",
    15: "P",
    18: "E",
}
_BINARY_SUFFIXES: Final = {0: "", 1: "Ki", 2: "Mi", 3: "Gi", 4: "Ti", 5: "Pi", 6: "Ei"}


@total_ordering
class Quantity:
    """An amount: ``value`` times ten to ``scale``; ``small`` says that it is kept as a 64-bit number."""

    __slots__ = ("_text", "form", "nanos", "scale", "small", "value")

    def __init__(
        self, value: int, scale: int = 0, *, form: str = DECIMAL, small: bool = True, text: str = ""
    ) -> None:
        self.value = value
        self.scale = scale
        self.form = form
        self.small = small
        self.nanos: int = value * 10 ** min(scale - NANO, LARGEST_POWER)
        self._text = text

    @classmethod
    def parse(cls, text: str) -> Self:
        """The quantity that a text says; QuantityTextError where Kubernetes refuses it."""
        if text == "0":
            return cls(0, text=text)
        parts = split_quantity(text)
        fast = cls._fast(parts, text)
        return cls._exact(parts) if fast is None else fast

    @classmethod
    def _fast(cls, parts: QuantityParts, text: str) -> Self | None:
        """The 64-bit form, where the digits are few enough for it."""
        digits = parts.whole + parts.fraction
        if parts.form == BINARY:
            if parts.fraction:
                return None
            spare, scale, factor = 15 - len(parts.whole) - parts.power * 3 // 10 - 1, 0, 2**parts.power
        else:
            spare, scale, factor = LONGEST_FAST - len(digits), parts.power - len(parts.fraction), 1
        if spare < 0 or scale < NANO:
            return None
        value = int(digits)
        result = value * factor
        if result > INT64_MAX:
            return None
        if parts.form == BINARY:
            canonical = parts.power % 10 == 0 and value & 7 != 0
        else:
            canonical = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
        signed = -result if parts.negative else result
        return cls(signed, scale, form=parts.form, text=text if canonical else "")

    @classmethod
    def _exact(cls, parts: QuantityParts) -> Self:
        """The unbounded form, rounded up to a billionth and capped when it is binary."""
        digits = int(parts.whole + parts.fraction)
        scale = -len(parts.fraction) if digits else 0
        form = parts.form
        if form == BINARY:
            digits *= 2**parts.power
        elif digits:
            scale += parts.power
        if digits:
            digits, scale = _rounded_up(digits, scale)
        if form == BINARY:
            if digits * 10 ** (scale - NANO) > INT64_MAX * 10**9:
                digits, scale = INT64_MAX, 0
            if 0 < digits * 10 ** (scale - NANO) < 10**9:
                form = DECIMAL
        return cls(-digits if parts.negative else digits, scale, form=form, small=False)

    @classmethod
    def of_integer(cls, value: int) -> Self:
        """A whole number as a quantity, as ``add`` and ``sub`` of selectors take it."""
        return cls(value, form=EXPONENT)

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.value > 0) - (self.value < 0)

    def as_integer(self) -> int | None:
        """The whole number that this is, where Kubernetes finds it without effort (so not for ``1.0``)."""
        if not self.small or self.scale < 0:
            return None
        number = self.value * 10**self.scale if self.scale <= LONGEST_FAST else self.value * 10**19
        return number if INT64_MIN <= number <= INT64_MAX else None

    def as_float(self) -> float:
        """The nearest number with a floating point, infinite where there is none."""
        try:
            return float(self.value) * (10.0**self.scale if self.scale < 309 else float("inf"))
        except OverflowError:
            return float("inf") if self.value > 0 else float("-inf")

    def add(self, other: Quantity) -> Quantity:
        """The sum, in the form of this one unless this is nothing."""
        form = other.form if self.value == 0 else self.form
        if self.small and other.small:
            for first, second in ((self, other), (other, self)):
                if second.value == 0:
                    return Quantity(first.value, first.scale, form=form)
            scale = min(self.scale, other.scale)
            ours = _scaled(self, scale)
            theirs = _scaled(other, scale)
            if ours is not None and theirs is not None and INT64_MIN <= ours + theirs <= INT64_MAX:
                return Quantity(ours + theirs, scale, form=form)
        scale = min(self.scale, other.scale)
        total = sum(one.value * 10 ** min(one.scale - scale, LARGEST_POWER) for one in (self, other))
        return Quantity(total, scale, form=form, small=False)

    def sub(self, other: Quantity) -> Quantity:
        """The difference, in the form of this one unless this is nothing."""
        return self.add(Quantity(-other.value, other.scale, form=other.form, small=other.small))

    def compare(self, other: Quantity) -> int:
        """-1, 0 or 1: which is more, whatever the suffixes."""
        return (self.nanos > other.nanos) - (self.nanos < other.nanos)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nanos == other.nanos

    def __lt__(self, other: Quantity) -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def __str__(self) -> str:
        return self._text or self._canonical()

    def _canonical(self) -> str:
        """The text in which Kubernetes writes this amount."""
        if self.value == 0:
            return "0"
        whole, rest = divmod(self.nanos, 10**9)
        if self.form == BINARY and rest == 0 and abs(whole) >= 1024:
            power = 0
            while whole % 1024 == 0 and power < 6:
                whole, power = whole // 1024, power + 1
            return f"{whole}{_BINARY_SUFFIXES[power]}"
        number, power = self.value, self.scale
        while number % 10 == 0:
            number, power = number // 10, power + 1
        spare = power % 3
        number, power = number * 10**spare, power - spare
        if self.form == EXPONENT or power not in _DECIMAL_SUFFIXES:
            return f"{number}e{power}" if power else str(number)
        return f"{number}{_DECIMAL_SUFFIXES[power]}"


def _scaled(amount: Quantity, scale: int) -> int | None:
    """The number of an amount in units of a smaller scale, if it stays within 64 bits."""
    steps = amount.scale - scale
    if steps > LONGEST_FAST and amount.value:
        return None
    number = amount.value * 10**steps if amount.value else 0
    return number if INT64_MIN <= number <= INT64_MAX else None


def _rounded_up(digits: int, scale: int) -> tuple[int, int]:
    """A positive number in billionths, rounded up."""
    steps = scale - NANO
    if steps >= 0:
        return digits * 10 ** min(steps, LARGEST_POWER), NANO
    if -steps > len(str(digits)) + 1:
        return 1, NANO
    return -(-digits // 10**-steps), NANO
