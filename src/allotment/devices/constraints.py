"""Constraints of a claim: what the devices of some requests must have in common, or must differ in.

A rule knows the value of every device of a node, so that the search only compares. After
``k8s.io/dynamic-resource-allocation``: an attribute is looked up by its full name, then, if its domain is the
driver, by its bare one; a device without it is refused; values are the same when type and value are (versions
as text), and lists are compared by the alpha version of the allocator alone. With both attributes set,
``matchAttribute`` holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from allotment.devices.claims import ClaimSpec, Constraint
from allotment.devices.slices import Device

Value = tuple[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One constraint on one node. ``values`` holds each device's value by its number; None refuses it."""

    distinct: bool
    values: Sequence[Value | None]

    def allows(self, number: int, given: Sequence[int]) -> bool:
        """Whether the device may join those that were given under this rule."""
        value = self.values[number]
        if value is None:
            return False
        if self.distinct:
            return all(self.values[other] != value for other in given)
        return not given or self.values[given[0]] == value

    def room(self, numbers: Sequence[int], given: Sequence[int]) -> int:
        """How many of these devices could join together at most."""
        allowed = [self.values[number] for number in numbers if self.allows(number, given)]
        if self.distinct:
            return len(set(allowed))
        if given:
            return len(allowed)
        return max((allowed.count(value) for value in set(allowed)), default=0)


def faults(claim: ClaimSpec) -> Iterator[str]:
    """What is wrong with the constraints of a claim, whatever devices there are."""
    for place, constraint in enumerate(claim.constraints):
        if constraint.match_attribute is None and constraint.distinct_attribute is None:
            yield f"constraint #{place}: empty constraint (unsupported constraint type?)"


def rules_of(claim: ClaimSpec, devices: Sequence[tuple[str, Device]]) -> list[tuple[Constraint, Rule]]:
    """The constraints over the devices of a node, each with its driver."""
    return [(constraint, _rule(constraint, devices)) for constraint in claim.constraints]


def concerns(constraint: Constraint, request: str, name: str) -> bool:
    """Whether a constraint holds for a request, under this name of one of its alternatives."""
    return not constraint.requests or request in constraint.requests or name in constraint.requests


def words(constraint: Constraint) -> str:
    """What a constraint asks for."""
    if constraint.match_attribute is not None:
        return f"the devices must have the same {constraint.match_attribute}"
    return f"the devices must differ in {constraint.distinct_attribute}"


def _rule(constraint: Constraint, devices: Sequence[tuple[str, Device]]) -> Rule:
    attribute = constraint.match_attribute or constraint.distinct_attribute or ""
    values = [_value(attribute, driver, device) for driver, device in devices]
    return Rule(constraint.match_attribute is None, values)


def _value(attribute: str, driver: str, device: Device) -> Value | None:
    domain, _, name = attribute.partition("/")
    value = device.attributes.get(attribute)
    if value is None and domain == driver:
        value = device.attributes.get(name)
    return None if value is None or isinstance(value, tuple) else (type(value).__name__, value)
