"""How much of a counter or capacity devices are charged: the most of any that would do, as policies round it.

The rules are those of ``counters.go`` and ``capacity.go`` in ``pkg/dra``. What a policy cannot give is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from allotment.devices.slices import Capacity, Device, RequestPolicy
from allotment.quantities.kubernetes import Quantity
from allotment.scheduling.state.amounts import amount_of_quantity, times

ANY = ""


def whole(quantity: Quantity) -> int:
    """A quantity in ones, rounded up; 64 bits and no more."""
    return amount_of_quantity(ANY, quantity)


def counter_charge(name: str, devices: Iterable[Device], count: int) -> int | None:
    """What so many of these devices draw of a counter at most; None where none says."""
    drawn = [
        Quantity.parse(consumption.counters[name])
        for device in devices
        for consumption in device.consumes_counters
        if name in consumption.counters
    ]
    return charged(max(drawn), count) if drawn else None


def charged(value: Quantity, count: int) -> int:
    """A published value for so many devices; less than nothing is nothing."""
    return times(max(whole(value), 0), max(count, 1))


def capacity_charge(name: str, devices: Iterable[Device], asked: str | None) -> Quantity | str:
    """What a device of these is charged of a capacity at most; a text where none has it or can give it."""
    having = [device.capacity[name] for device in devices if name in device.capacity]
    if not having:
        return f'matched devices have no capacity dimension "{name}"'
    given = [amount for amount in (_given(capacity, asked) for capacity in having) if amount is not None]
    if not given:
        return UNSATISFIABLE.format(name)
    return max(given)


UNSATISFIABLE = (
    'capacity request cannot be satisfied by any matched device\'s RequestPolicy for dimension "{}"'
)


def _given(capacity: Capacity, asked: str | None) -> Quantity | None:
    policy = capacity.request_policy or RequestPolicy()
    value = Quantity.parse(asked or policy.default or capacity.value)
    if policy.valid_values:
        return to_values(value, policy.valid_values)
    if policy.valid_range is not None:
        span = policy.valid_range
        return to_range(value, span.min, span.max, span.step)
    return value


def to_values(value: Quantity, valid: Sequence[str]) -> Quantity | None:
    """The first of the valid values that is enough."""
    return next((each for each in map(Quantity.parse, valid) if each >= value), None)


def to_range(value: Quantity, least: str | None, most: str | None, step: str | None) -> Quantity | None:
    """The value from the least upwards in whole steps, if that is not too much."""
    amount = whole(value)
    if least is not None:
        start = whole(Quantity.parse(least))
        amount = max(amount, start)
        width = whole(Quantity.parse(step)) if step is not None else 0
        if width > 0:
            amount = start + -(-(amount - start) // width) * width
    if most is not None and amount > whole(Quantity.parse(most)):
        return None
    return Quantity(amount, form=value.form)
