"""Claims as plain values and back: what one engine tells another of what it asks for.

The plain form is that of ``ResourceClaim.spec``, of which only what decides where a claim fits is read; the
text comes from another user, and whatever is not right in it is a ValueError.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from allotment.devices.claims import (
    MOST_ALTERNATIVES,
    MOST_DEVICES,
    AllocationMode,
    ClaimSpec,
    Constraint,
    ExactRequest,
    Request,
    SubRequest,
    Toleration,
)
from allotment.quantities import parse_bytes

LONGEST_TEXT: Final = 10_240
_TOLERATION: Final = ("key", "operator", "value", "effect")


def claim_from(said: object) -> ClaimSpec:
    """The claim; ValueError for what is none."""
    devices = _mapping(_mapping(said).get("devices", {}))
    requests = tuple(_request(each) for each in _list(devices.get("requests"), MOST_DEVICES))
    constraints = tuple(_constraint(each) for each in _list(devices.get("constraints"), MOST_DEVICES))
    return ClaimSpec(requests, constraints)


def _request(said: object) -> Request:
    fields = _mapping(said)
    name = _text(fields.get("name"))
    if "exactly" in fields:
        return Request(name, _exact(_mapping(fields["exactly"])))
    subs = _list(fields.get("firstAvailable"), 8 * MOST_ALTERNATIVES)
    found = [(_text(_mapping(each).get("name")), _exact(_mapping(each))) for each in subs]
    return Request(name, first_available=tuple(SubRequest(sub, exact) for sub, exact in found))


def _exact(fields: Mapping[str, Any]) -> ExactRequest:
    count = fields.get("count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or not 0 < count <= MOST_DEVICES:
        raise ValueError("no count")
    cels = [_mapping(_mapping(each).get("cel", {})) for each in _list(fields.get("selectors"), MOST_DEVICES)]
    capacity = _mapping(_mapping(fields.get("capacity", {})).get("requests", {}))
    for amount in capacity.values():
        parse_bytes(_text(amount))
    return ExactRequest(
        _text(fields.get("deviceClassName")),
        tuple(_text(cel.get("expression", "")) for cel in cels),
        count,
        AllocationMode(_text(fields.get("allocationMode", "ExactCount"))),
        tuple(_toleration(_mapping(each)) for each in _list(fields.get("tolerations"), MOST_DEVICES)),
        {_text(name): _text(amount) for name, amount in capacity.items()},
        fields.get("adminAccess") is True or None,
    )


def _toleration(fields: Mapping[str, Any]) -> Toleration:
    key, operator, value, effect = (_text(fields.get(name, "")) for name in _TOLERATION)
    return Toleration(key, operator, value, effect)


def _constraint(said: object) -> Constraint:
    fields = _mapping(said)
    names = (fields.get("matchAttribute"), fields.get("distinctAttribute"))
    match, distinct = (None if each is None else _text(each) for each in names)
    return Constraint(tuple(map(_text, _list(fields.get("requests"), MOST_DEVICES))), match, distinct)


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("not a mapping")  # noqa: TRY004 - one kind of error for all that is not right
    return value


def _list(value: object, most: int) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > most:
        raise ValueError("not a list, or too long")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise ValueError("not a text, or too long")
    return value
