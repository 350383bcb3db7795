"""Selectors: whether a device passes a CEL expression over ``device``.

One form is understood so far, the one by which every class begins: ``device.driver == 'NAME'``. Anything else
is refused aloud rather than guessed at. Classes are tried before requests and the first refusal ends it, so a
request's selector is only ever met by devices of its class.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from allotment.devices.slices import Device

Matcher = Callable[[str, str, Device], bool]
"""``(expression, driver, device)`` to whether the device passes; SelectorError when it cannot be told."""

_BY_DRIVER = re.compile(r"""\s*device\.driver\s*==\s*(?P<quote>['"])(?P<name>[^'"\\\n]*)(?P=quote)\s*""")


class SelectorError(Exception):
    """An expression that could not be evaluated on a device: fatal for the claim, not only for the device."""


def evaluate(expression: str, driver: str, device: Device) -> bool:  # noqa: ARG001 - the form of every matcher
    """Whether a device of this driver passes the expression."""
    found = _BY_DRIVER.fullmatch(expression)
    if found is None:
        raise SelectorError(f"this version evaluates `device.driver == '…'` only, not `{expression}`")
    return found["name"] == driver
