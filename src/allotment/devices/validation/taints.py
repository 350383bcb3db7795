"""What the server holds taints, tolerations and the rules that taint devices to.

From the validation of ``DeviceTaint``, ``DeviceToleration`` and ``DeviceTaintRule`` in ``resource.k8s.io``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.devices.server import Server
from allotment.devices.validation import raw
from allotment.devices.validation.names import of_driver, of_label, of_label_key, of_label_value, of_pool
from allotment.devices.validation.problems import Loc, Problem, Reason, invalid, required
from allotment.devices.validation.raw import Raw
from allotment.errors import did_you_mean

MOST_TOLERATIONS: Final = 16
_OPERATORS: Final = ("Equal", "Exists")


def most_taints(server: Server) -> int:
    """How many taints a device may have."""
    return 16 if server.is_at_least(35) else 4


def of_taint(taint: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """A taint: its effect must be said."""
    yield from of_label_key(raw.text(taint, "key"), (*loc, "key"))
    yield from of_label_value(raw.text(taint, "value"), (*loc, "value"))
    effect = raw.text(taint, "effect")
    if not effect:
        yield required((*loc, "effect"), f"say one of {', '.join(_effects(server))}")
    else:
        yield from _of_effect(effect, (*loc, "effect"), server)


def of_tolerations(request: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """The tolerations of a request; more than 16 are against the documentation, and no server looks."""
    tolerations = raw.tables(request, "tolerations")
    if len(tolerations) > MOST_TOLERATIONS:
        words = f"the API speaks of at most {MOST_TOLERATIONS} tolerations"
        yield Problem(
            (*loc, "tolerations"), Reason.TOO_MANY, words, tolerated="no server refuses more so far"
        )
    for place, toleration in enumerate(tolerations):
        yield from _of_toleration(toleration, (*loc, "tolerations", place), server)


def _of_toleration(toleration: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    if key := raw.text(toleration, "key"):
        yield from of_label_key(key, (*loc, "key"))
    operator, value = raw.text(toleration, "operator") or "Equal", raw.text(toleration, "value")
    if operator not in _OPERATORS:
        words = f"`{operator}` is not supported: supported values: {', '.join(_OPERATORS)}"
        hint = did_you_mean(operator, _OPERATORS)
        yield Problem((*loc, "operator"), Reason.NOT_SUPPORTED, words, hint)
    elif operator == "Equal":
        yield from of_label_value(value, (*loc, "value"))
    elif value:
        yield invalid((*loc, "value"), f"`{value}` must be empty for operator `Exists`")
    if effect := raw.text(toleration, "effect"):
        yield from _of_effect(effect, (*loc, "effect"), server)


def of_rule(spec: Raw, loc: Loc, server: Server) -> Iterator[Problem]:
    """The spec of a DeviceTaintRule: what it selects, and the taint."""
    selector = raw.table(spec, "deviceSelector")
    if (driver := raw.said(selector, "driver")) is not None:
        yield from of_driver(driver, (*loc, "deviceSelector", "driver"), server)
    for key, look in (("pool", of_pool), ("device", of_label)):
        if (name := raw.said(selector, key)) is not None:
            yield from look(name, (*loc, "deviceSelector", key))
    yield from of_taint(raw.table(spec, "taint"), (*loc, "taint"), server)


def _effects(server: Server) -> tuple[str, ...]:
    return ("NoExecute", "NoSchedule", "None") if server.is_at_least(35) else ("NoExecute", "NoSchedule")


def _of_effect(effect: str, loc: Loc, server: Server) -> Iterator[Problem]:
    known = _effects(server)
    if effect not in known:
        words = f"`{effect}` is not supported: supported values: {', '.join(known)}"
        yield Problem(loc, Reason.NOT_SUPPORTED, words, did_you_mean(effect, known))
