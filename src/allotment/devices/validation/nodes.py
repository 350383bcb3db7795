"""What the server holds node selectors to, and the choice of the nodes that a slice or a device serves.

From ``ValidateNodeSelector`` of core/v1 and the validation of ``ResourceSlice``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from allotment.devices.rules import is_subdomain
from allotment.devices.validation import raw
from allotment.devices.validation.names import of_label_key, of_label_value, of_subdomain
from allotment.devices.validation.problems import Loc, Problem, Reason, invalid, required
from allotment.devices.validation.raw import Raw
from allotment.errors import did_you_mean

NODE_NAME: Final = "metadata.name"
_TERMS: Final = "nodeSelectorTerms"
_SLICE: Final = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_DEVICE: Final = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is "
    "set to true in the ResourceSlice spec"
)
_NOT_HERE: Final = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in "
    "the ResourceSlice spec"
)


class _Values(NamedTuple):
    """How many values an operator takes, and what is said of another number."""

    least: int
    most: int | None
    reason: Reason
    text: str


_SOME: Final = _Values(1, None, Reason.REQUIRED, "must be specified when `operator` is 'In' or 'NotIn'")
_NONE: Final = _Values(
    0, 0, Reason.FORBIDDEN, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
)
_ONE: Final = _Values(1, 1, Reason.REQUIRED, "must be specified single value when `operator` is 'Lt' or 'Gt'")
_OPERATORS: Final[Mapping[str, _Values]] = {
    "In": _SOME,
    "NotIn": _SOME,
    "Exists": _NONE,
    "DoesNotExist": _NONE,
    "Gt": _ONE,
    "Lt": _ONE,
}


def of_slice_nodes(spec: Raw, loc: Loc) -> Iterator[Problem]:
    """Which nodes a slice serves: one way of saying so, and one only."""
    chosen = sum(bool(spec.get(key)) for key in ("nodeName", "allNodes", "perDeviceNodeSelection"))
    name = raw.said(spec, "nodeName")
    if name == "":
        yield invalid((*loc, "nodeName"), "must be either unset or set to a non-empty string")
    elif name is not None:
        yield from of_subdomain(name, (*loc, "nodeName"))
    if (selector := raw.part(spec, "nodeSelector")) is not None:
        chosen += 1
        yield from of_node_selector(selector, (*loc, "nodeSelector"))
        if len(raw.tables(selector, _TERMS)) != 1:
            yield invalid((*loc, "nodeSelector", _TERMS), "must have exactly one node selector term")
    for key in ("allNodes", "perDeviceNodeSelection"):
        yield from _unset_or_true(spec, key, loc)
    if chosen == 0:
        yield required(loc, _SLICE)
    elif chosen > 1:
        yield invalid(loc, f"{_SLICE}, but multiple fields are set")


def of_device_nodes(device: Raw, loc: Loc, *, per_device: bool) -> Iterator[Problem]:
    """Which nodes a device serves: it says so where its slice leaves it to the devices, and only there."""
    keys = [key for key in ("nodeName", "nodeSelector", "allNodes") if device.get(key) is not None]
    if not per_device:
        if keys:
            yield Problem(loc, Reason.INVALID, _NOT_HERE, at=(*loc, keys[0]))
        return
    name = raw.said(device, "nodeName")
    if name == "":
        yield invalid((*loc, "nodeName"), "must not be empty")
    elif name is not None:
        yield from of_subdomain(name, (*loc, "nodeName"))
    selector = raw.part(device, "nodeSelector")
    if selector is not None:
        yield from of_node_selector(selector, (*loc, "nodeSelector"))
    yield from _unset_or_true(device, "allNodes", loc)
    chosen = bool(name) + (selector is not None) + bool(device.get("allNodes"))
    if chosen == 0:
        yield required(loc, _DEVICE)
    elif chosen > 1:
        yield invalid(loc, _DEVICE)


def _unset_or_true(value: Raw, key: str, loc: Loc) -> Iterator[Problem]:
    if raw.flag(value, key) is False:
        yield invalid((*loc, key), "must be either unset or set to true")


def of_node_selector(selector: Raw, loc: Loc) -> Iterator[Problem]:
    """A node selector as such."""
    terms = raw.tables(selector, _TERMS)
    if not terms:
        yield required((*loc, _TERMS), "must have at least one node selector term")
    for place, term in enumerate(terms):
        here = (*loc, _TERMS, place)
        for number, need in enumerate(raw.tables(term, "matchExpressions")):
            yield from _of_label_need(need, (*here, "matchExpressions", number))
        for number, need in enumerate(raw.tables(term, "matchFields")):
            yield from _of_field_need(need, (*here, "matchFields", number))


def _of_label_need(need: Raw, loc: Loc) -> Iterator[Problem]:
    operator, values = raw.text(need, "operator"), raw.texts(need, "values")
    wanted = _OPERATORS.get(operator)
    if wanted is None:
        words = f"`{operator}` is not a valid selector operator"
        yield invalid((*loc, "operator"), words, did_you_mean(operator, _OPERATORS))
    elif len(values) < wanted.least or (wanted.most is not None and len(values) > wanted.most):
        yield Problem((*loc, "values"), wanted.reason, wanted.text)
    yield from of_label_key(raw.text(need, "key"), (*loc, "key"))
    for place, value in enumerate(values):
        yield from of_label_value(value, (*loc, "values", place))


def _of_field_need(need: Raw, loc: Loc) -> Iterator[Problem]:
    operator, values, key = raw.text(need, "operator"), raw.texts(need, "values"), raw.text(need, "key")
    if operator not in {"In", "NotIn"}:
        yield invalid((*loc, "operator"), f"`{operator}` is not a valid selector operator", "In or NotIn")
    elif len(values) != 1:
        words = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required((*loc, "values"), words)
    if key != NODE_NAME:
        yield invalid((*loc, "key"), f"`{key}` is not a valid field selector key", f"write {NODE_NAME}")
        return
    for place, value in enumerate(values):
        if not is_subdomain(value):
            yield invalid((*loc, "values", place), f"`{value}` is no name of a node")
