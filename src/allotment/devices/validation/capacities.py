"""What the server holds capacities to, and the policies by which shares of them may be asked for.

From the validation of ``DeviceCapacity`` and ``CapacityRequestPolicy`` in ``resource.k8s.io``. Kubernetes
1.37 takes steps of a thousandth; before it, whole numbers are what is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Final

from allotment.devices.rules import amount
from allotment.devices.server import Gate, Server
from allotment.devices.validation import raw
from allotment.devices.validation.attributes import LONGEST_KEY, of_key
from allotment.devices.validation.problems import (
    Key,
    Loc,
    Problem,
    Reason,
    each,
    invalid,
    required,
)
from allotment.devices.validation.raw import Raw
from allotment.devices.validation.requests import of_quantity
from allotment.quantities.kubernetes import Quantity

MOST_VALUES: Final = 10
_LARGEST: Final = 2**63 - 1
_UNIT: Final = 10**9  # quantities are kept in billionths
_MILLI: Final = 10**6
_DEFAULT: Final = "default value is not valid according to the requestPolicy"
_BOTH: Final = (
    'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
)


def of_capacities(device: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """The capacities of a device."""
    shared = bool(raw.flag(device, "allowMultipleAllocations"))
    for name, capacity in raw.entries(device, "capacity"):
        yield from of_key(name, (*loc, "capacity"), server)
        here = (*loc, "capacity", Key(name, LONGEST_KEY))
        value = raw.quantity(capacity, "value")
        yield from of_quantity(value, (*here, "value"))
        policy = raw.part(capacity, "requestPolicy")
        if policy is None:
            continue
        if not shared:
            words = "allowMultipleAllocations must be true"
            yield Problem((*here, "requestPolicy"), Reason.FORBIDDEN, words)
        elif (whole := amount(value or "0")) is not None:
            yield from _of_policy(policy, whole, (*here, "requestPolicy"), server)


def _of_policy(policy: Raw, whole: Quantity, loc: Loc, server: Server) -> Iterator[Problem]:
    values, span = raw.listed(policy, "validValues") or [], raw.part(policy, "validRange")
    unread = tuple(_unread(policy, loc))
    if unread:
        yield from unread
    elif values and span is not None:
        yield Problem(loc, Reason.FORBIDDEN, _BOTH)
    elif not values and span is None:
        return
    elif (default := _parsed(policy, "default")) is None:
        name = "validValues" if values else "validRange"
        yield required((*loc, "default"), f"required when {name} is defined")
    elif values:
        texts = [text for text in (raw.quantity({"": value}, "") for value in values) if text is not None]
        yield from _of_values(texts, default, whole, (*loc, "validValues"), server)
    elif span is not None:
        yield from _of_range(span, default, whole, (*loc, "validRange"), server)


def _unread(policy: Raw, loc: Loc) -> Iterator[Problem]:
    """The texts that are no quantities."""
    yield from of_quantity(raw.quantity(policy, "default"), (*loc, "default"))
    for place, value in enumerate(raw.listed(policy, "validValues") or ()):
        yield from of_quantity(raw.quantity({"": value}, ""), (*loc, "validValues", place))
    for key in ("min", "max", "step"):
        span = raw.table(policy, "validRange")
        yield from of_quantity(raw.quantity(span, key), (*loc, "validRange", key))


def _parsed(value: Raw, key: str) -> Quantity | None:
    text = raw.quantity(value, key)
    return None if text is None else amount(text)


def _whole(quantity: Quantity) -> int:
    return -(-quantity.nanos // _UNIT)


def _of_values(
    texts: list[str], default: Quantity, whole: Quantity, loc: Loc, server: Server
) -> Iterator[Problem]:
    values = [value for text in texts if (value := amount(text)) is not None]
    for place, (earlier, later) in enumerate(pairwise(values)):
        if earlier > later:
            yield invalid((*loc, place + 1), f"{texts[place + 1]}: values must be sorted in ascending order")
    exact = server.has(Gate.FRACTIONAL_RANGE)
    yield from each(
        values,
        loc,
        lambda value, where: _of_option(value, where, whole),
        server=server,
        most=MOST_VALUES,
        key=lambda value: value.nanos if exact else _whole(value),
    )
    unseen = len(values) > MOST_VALUES and server.is_at_least(
        35
    )  # of a list that is too long nothing is seen
    if unseen or default not in values:
        yield invalid(loc, f"{default}: {_DEFAULT}")


def _of_option(value: Quantity, loc: Loc, whole: Quantity) -> Iterator[Problem]:
    if value > whole:
        yield invalid(loc, f"option {value} is larger than capacity value: {whole}")


def _of_range(span: Raw, default: Quantity, whole: Quantity, loc: Loc, server: Server) -> Iterator[Problem]:
    least, most, step = (_parsed(span, key) for key in ("min", "max", "step"))
    if least is None:
        yield required((*loc, "min"), "required when validRange is defined")
        return
    yield from _of_ends(least, most, whole, loc)
    yield from _of_default(default, least, most, loc, server)
    parts = {"default": default, "min": least, "max": most, "step": step}
    given = {key: part for key, part in parts.items() if part is not None}
    milli = server.has(Gate.FRACTIONAL_RANGE) and any(part.nanos % _UNIT for part in given.values())
    if milli and (unfit := tuple(_unfit(given, loc, _no_milli))):
        yield from unfit
        return
    if step is None:
        return
    if step.nanos == 0 or (step.nanos < 0 and server.is_at_least(37)):
        yield invalid((*loc, "step"), f"{step} must be greater than zero")
        return
    if least.nanos + step.nanos > whole.nanos:
        yield invalid((*loc, "step"), f"one step above {least} is larger than capacity value: {whole}")
    if server.is_at_least(37) and not milli and (unfit := tuple(_unfit(given, loc, _no_number))):
        yield from unfit
        return
    for value in (default, most):
        if value is not None and _is_between_steps(value, least, step, milli=milli):
            words = f"{value}: value is not a multiple of a given step ({step}) from ({least})"
            yield invalid((*loc, "step"), words)


def _of_ends(least: Quantity, most: Quantity | None, whole: Quantity, loc: Loc) -> Iterator[Problem]:
    if least > whole:
        yield invalid((*loc, "min"), f"min {least} is larger than capacity value: {whole}")
    if most is None:
        return
    if least > most:
        yield invalid((*loc, "max"), f"min {least} is larger than max: {most}")
    if most > whole:
        yield invalid((*loc, "max"), f"max {most} is larger than capacity value: {whole}")


def _of_default(
    default: Quantity, least: Quantity, most: Quantity | None, loc: Loc, server: Server
) -> Iterator[Problem]:
    """The server says it at the bound that is broken; 1.37 and later at the default, which is elsewhere."""
    at = (*loc[:-1], "default")
    names = ("default", "default") if server.is_at_least(37) else ("min", "max")
    if default < least:
        words = f"default {default} is less than min: {least}"
        yield Problem((*loc, names[0]), Reason.INVALID, words, at=at)
    if most is not None and default > most:
        words = f"default {default} is more than max: {most}"
        yield Problem((*loc, names[1]), Reason.INVALID, words, at=at)


def _unfit(given: Mapping[str, Quantity], loc: Loc, fault: Callable[[Quantity], str]) -> Iterator[Problem]:
    """The amounts that the server cannot reckon with."""
    for key, part in given.items():
        if words := fault(part):
            yield invalid((*loc, key), f"{part}: {words}")


def _no_milli(part: Quantity) -> str:
    return "value cannot be represented as a milli value" if part.nanos % _MILLI else ""


def _no_number(part: Quantity) -> str:
    if part.nanos < 0:
        return "must be greater than or equal to 0"
    return f"must not be larger than {_LARGEST}" if part.nanos > _LARGEST * _UNIT else ""


def _is_between_steps(value: Quantity, least: Quantity, step: Quantity, *, milli: bool) -> bool:
    if milli:
        return (value.nanos - least.nanos) % step.nanos != 0
    return (_whole(value) - _whole(least)) % (_whole(step) or 1) != 0
