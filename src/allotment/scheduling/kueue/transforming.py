"""What quota a pod is charged for what it asks, where Kueue is configured to count otherwise.

Resources may be left out by a prefix of their names, and turned into others by factors, beside the original
or in its place. The rules are those of ``dropExcludedResources`` and ``applyResourceTransformations`` in
``pkg/workload``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from allotment.quantities.kubernetes import Quantity
from allotment.scheduling.state.amounts import CPU, NANOS

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Transformation:
    """What is charged for one unit of a resource; ``keep`` charges the resource itself too."""

    outputs: Mapping[str, Fraction] = field(hash=False)
    keep: bool = True
    times: str = ""


def read_transformation(raw: Raw) -> tuple[str, Transformation]:
    """A transformation of the manager's configuration, and its input."""
    outputs = {
        name: Fraction(Quantity.parse(str(factor)).nanos, NANOS)
        for name, factor in (raw.get("outputs") or {}).items()
    }
    strategy = raw.get("strategy", "Retain")
    return raw.get("input", ""), Transformation(outputs, strategy == "Retain", raw.get("multiplyBy") or "")


@dataclass(frozen=True, slots=True)
class Charging:
    """How requests become charges."""

    transformations: Mapping[str, Transformation] = field(default_factory=dict, hash=False)
    excluded: tuple[str, ...] = ()

    def __call__(self, _pod_set: Raw, requests: Mapping[str, int]) -> dict[str, int]:
        """What one pod is charged."""
        left = {
            name: amount for name, amount in requests.items() if not name.startswith(self.excluded or ("\0",))
        }
        if not left.keys() & self.transformations.keys():
            return left
        kept: dict[str, int] = {}
        made: dict[str, Fraction] = {}
        for name, amount in left.items():
            change = self.transformations.get(name)
            if change is None or change.keep:
                kept[name] = amount
            if change is None:
                continue
            value = _units(name, amount)
            if change.times in left:
                value *= _units(change.times, left[change.times])
            for output, factor in change.outputs.items():
                made[output] = made.get(output, Fraction()) + value * factor
        for name, value in made.items():
            kept[name] = kept.get(name, 0) + _amount(name, max(value, Fraction()))
        return kept


def _units(resource: str, amount: int) -> Fraction:
    return Fraction(amount, 1000) if resource == CPU else Fraction(amount)


def _amount(resource: str, value: Fraction) -> int:
    scaled = value * 1000 if resource == CPU else value
    return -(-scaled.numerator // scaled.denominator)
