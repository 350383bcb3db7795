"""How much of a device's capacity a claim takes: rounding by the request policy, and what a policy forbids.

What is asked for of a capacity is rounded up: to the range's minimum, then to a whole number of steps, or to
the next of the valid values. What is not asked for takes the policy's default, or all of it. A name that the
device does not have, or an amount that the policy does not allow, makes the device unsuitable. After
``consumable_capacity.go`` of k8s.io/dynamic-resource-allocation, with its arithmetic in whole numbers, and in
thousandths where ``DRAFractionalCapacityRange`` is on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from allotment.devices.allocation.taken import quantity
from allotment.devices.slices import Capacity, RequestPolicy, ValidRange
from allotment.quantities.kubernetes import BINARY, INT64_MAX, Quantity

_BILLION: Final = 10**9
_MILLION: Final = 10**6


class Share(NamedTuple):
    """What is taken of one capacity, and how much of it there is; in billionths, beside its text."""

    name: str
    amount: int
    value: int
    text: str


@dataclass(frozen=True, slots=True)
class Demand:
    """What one request takes of one device when it gets it."""

    shares: tuple[Share, ...]

    @property
    def amounts(self) -> dict[str, int]:
        """The amounts by name."""
        return {share.name: share.amount for share in self.shares}

    @property
    def texts(self) -> dict[str, str]:
        """The amounts as the API has them."""
        return {share.name: share.text for share in self.shares}

    def fits(self, held: Mapping[str, int], giving: Mapping[str, int]) -> bool:
        """Whether there is room for it beside what is taken and what is being given."""
        return all(
            share.amount + held.get(share.name, 0) + giving.get(share.name, 0) <= share.value
            for share in self.shares
        )


def demand_of(
    requests: Mapping[str, str], capacity: Mapping[str, Capacity], *, fractions: bool
) -> Demand | None:
    """What a request takes of a device with these capacities; None where the device is unsuitable."""
    if not requests.keys() <= capacity.keys():
        return None
    shares: list[Share] = []
    for name, declared in capacity.items():
        asked = requests.get(name)
        amount = _consumed(None if asked is None else quantity(asked), declared, fractions=fractions)
        if amount is None or _violates(amount, declared.request_policy, fractions=fractions):
            return None
        shares.append(Share(name, amount.nanos, quantity(declared.value).nanos, str(amount)))
    return Demand(tuple(shares))


def _consumed(asked: Quantity | None, declared: Capacity, *, fractions: bool) -> Quantity | None:
    policy = declared.request_policy
    if asked is None:
        return quantity(declared.value if policy is None or policy.default is None else policy.default)
    if policy is None:
        return asked
    if policy.valid_range is not None:
        return _rounded_to_step(asked, policy.valid_range, fractions=fractions)
    return next((quantity(each) for each in policy.valid_values if asked <= quantity(each)), asked)


def _rounded_to_step(asked: Quantity, span: ValidRange, *, fractions: bool) -> Quantity | None:
    least = quantity(span.min)
    if asked < least:
        return least
    if span.step is None:
        return asked
    unit = _unit(span, fractions=fractions)
    step, start = _units(quantity(span.step), unit), _units(least, unit)
    if step <= 0 or asked.nanos > INT64_MAX * _BILLION:
        return None
    steps = -(-(_units(asked, unit) - start) // step)
    found = start + steps * step
    if unit == _BILLION:
        return Quantity(found, form=BINARY)
    whole, rest = divmod(found, 1000)
    form = quantity(span.step).form
    return Quantity(found, -3, form=form) if rest else Quantity(whole, form=form)


def _violates(amount: Quantity, policy: RequestPolicy | None, *, fractions: bool) -> bool:
    if policy is None or (policy.default is not None and _same(amount, quantity(policy.default))):
        return False
    span = policy.valid_range
    if span is not None:
        if span.max is not None and amount > quantity(span.max):
            return True
        if span.step is None:
            return False
        unit = _unit(span, fractions=fractions)
        step = _units(quantity(span.step), unit)
        return step <= 0 or (_units(amount, unit) - _units(quantity(span.min), unit)) % step != 0
    return bool(policy.valid_values) and all(amount != quantity(each) for each in policy.valid_values)


def _same(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities are the same thing to upstream, which compares their inner forms here."""
    return (
        one.small
        and other.small
        and (one.value, one.scale, one.form) == (other.value, other.scale, other.form)
    )


def _unit(span: ValidRange, *, fractions: bool) -> int:
    """Billionths in the unit that steps are counted in: one, or a thousandth where the range allows."""
    texts = (span.min, span.max, span.step)
    amounts = [quantity(text).nanos for text in texts if text is not None]
    exact = all(amount % _MILLION == 0 and abs(amount) <= INT64_MAX * _MILLION for amount in amounts)
    return _MILLION if fractions and exact else _BILLION


def _units(amount: Quantity, unit: int) -> int:
    """The amount in units, rounded up."""
    return -(-amount.nanos // unit)
