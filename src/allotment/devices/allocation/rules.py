"""Constraints of a claim while its devices are chosen: what they have in common, and in what they differ.

A rule knows the value of every device of a node, so that the search only compares. After
``k8s.io/dynamic-resource-allocation``: an attribute is looked up by its full name, then, where its domain is
the driver, by its bare one; a device without it is refused; values are the same when type and value are
(versions as text). The experimental variant takes values for sets: a match needs something in common, a
difference needs nothing in common. Without it a list may only be the first value. With both attributes set,
``matchAttribute`` holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from allotment.devices.allocation.behaviours import Behaviour
from allotment.devices.claims import ClaimSpec, Constraint
from allotment.devices.slices import AttributeValue, Device, DeviceId

Value = tuple[str, object]
"""The type of an attribute's value, and the value: a set of values where lists are compared."""


class Rule(Protocol):
    """A constraint, and the devices that are under it."""

    def add(self, request: str, number: int) -> bool:
        """Take a device under the rule; False, and nothing taken, where the rule forbids it."""

    def remove(self, request: str, number: int) -> None:
        """Let the device go that was taken last."""

    @property
    def mark(self) -> object:
        """What the next answers depend on, as a value."""


class Match:
    """All devices have one value."""

    def __init__(self, values: Sequence[Value | None]) -> None:
        self._values = values
        self._first: Value | None = None
        self._count = 0

    def add(self, request: str, number: int) -> bool:
        """Take the device if it is the first, or has the value of the first."""
        value = self._values[number]
        if value is None:
            return False
        if not self._count:
            self._first = value
        elif value != self._first or value[0] == LIST:
            return False
        self._count += 1
        return True

    def remove(self, request: str, number: int) -> None:
        """One device fewer."""
        self._count -= 1

    @property
    def mark(self) -> object:
        """The value, once there is one."""
        return self._first if self._count else None


class MatchLists:
    """All devices have something in common."""

    def __init__(self, values: Sequence[Value | None], *, kept: bool) -> None:
        self._values = values
        self._common: list[Value] = []
        self._count = 0
        self._kept = kept

    def add(self, request: str, number: int) -> bool:
        """Take the device if something is left in common."""
        value = self._values[number]
        if value is None or value[1] == frozenset():
            return False
        if not self._count:
            self._common = [value]
        else:
            kind, common = self._common[-1]
            left = _set(common) & _set(value[1])
            if kind != value[0] or not left:
                return False
            if self._kept:
                self._common[-1] = kind, left
            else:
                self._common.append((kind, left))
        self._count += 1
        return True

    def remove(self, request: str, number: int) -> None:
        """One device fewer; what it took away from the common values comes back, but for a defect."""
        self._count -= 1
        if not self._kept:
            self._common.pop()

    @property
    def mark(self) -> object:
        """What is in common."""
        return self._common[-1] if self._count else None


class Distinct:
    """No two devices have a value in common."""

    def __init__(self, values: Sequence[Value | None], *, by_request: bool) -> None:
        self._values = values
        self._given: list[Value] = []
        self._by_request: dict[str, Value] | None = {} if by_request else None
        self._count = 0

    def add(self, request: str, number: int) -> bool:
        """Take the device if its value is new."""
        value = self._values[number]
        if value is None:
            return False
        given = self._given if self._by_request is None else self._by_request.values()
        if self._count and any(_overlap(value, other) for other in given):
            return False
        if self._by_request is None:
            self._given.append(value)
        else:
            self._by_request[request] = value
        self._count += 1
        return True

    def remove(self, request: str, number: int) -> None:
        """One device fewer."""
        self._count -= 1
        if self._by_request is None:
            self._given.pop()
        else:
            self._by_request.pop(request, None)

    @property
    def mark(self) -> object:
        """The values that are there."""
        return frozenset(self._given) if self._by_request is None else frozenset(self._by_request.items())


LIST = "list"


def rule_of(
    constraint: Constraint, values: Sequence[Value | None], behaviour: Behaviour, *, lists: bool
) -> Rule:
    """The constraint over the devices of a node, by their values of its attribute."""
    if constraint.match_attribute is None:
        return Distinct(values, by_request=behaviour.distinct_by_request)
    if lists:
        return MatchLists(values, kept=behaviour.intersection_kept)
    return Match(values)


def attribute_of(constraint: Constraint) -> str | None:
    """The attribute that a constraint is about."""
    return constraint.distinct_attribute if constraint.match_attribute is None else constraint.match_attribute


def value_of(attribute: str, device_id: DeviceId, device: Device, *, lists: bool) -> Value | None:
    """A device's value of an attribute; None where it has none."""
    domain, _, name = attribute.partition("/")
    value = device.attributes.get(attribute)
    if value is None and domain == device_id.driver:
        value = device.attributes.get(name)
    return None if value is None else _typed(value, lists=lists)


def concerns(constraint: Constraint, request: str, name: str) -> bool:
    """Whether a constraint holds for a request, under this name of one of its alternatives."""
    return not constraint.requests or request in constraint.requests or name in constraint.requests


def faults(claim: ClaimSpec, *, distinct: bool = True) -> Sequence[str]:
    """What is wrong with the constraints of a claim, whatever devices there are."""
    return [
        f"constraint #{place}: empty constraint (unsupported constraint type?)"
        for place, constraint in enumerate(claim.constraints)
        if constraint.match_attribute is None and (constraint.distinct_attribute is None or not distinct)
    ]


def words(constraint: Constraint) -> str:
    """What a constraint asks for."""
    if constraint.match_attribute is not None:
        return f"the devices must have the same {constraint.match_attribute}"
    return f"the devices must differ in {constraint.distinct_attribute}"


def _typed(value: AttributeValue, *, lists: bool) -> Value:
    if isinstance(value, tuple):
        if not lists:
            return LIST, value
        return (type(value[0]).__name__ if value else LIST), frozenset(value)
    return type(value).__name__, frozenset((value,)) if lists else value


def _overlap(one: Value, other: Value) -> bool:
    """Whether two values of a difference are too near: a list, where lists are not compared, always is."""
    if isinstance(one[1], frozenset):
        return one[0] == other[0] and bool(one[1] & _set(other[1]))
    return one[0] == LIST or one == other


def _set(value: object) -> frozenset[object]:
    return value if isinstance(value, frozenset) else frozenset()
