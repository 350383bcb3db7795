"""Memory of a card as a CEL selector, and back into words.

Three traps are known. ``isGreaterThan`` is strict, so "at least" is ``compareTo(…) >= 0``: a card of
exactly 40Gi has 40Gi. A device that publishes no memory makes a selector that reads it an error, and one
such device keeps a pod off every node: the optional ``.?memory`` with a value in its place never fails. And
a device without memory must not pass for one with little: without a lower bound the selector asks for more
than nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from allotment.devices.classes import GPU_CLASS
from allotment.platform.need import MemoryRange
from allotment.quantities import format_bytes, parse_bytes

_MEMORY = f"device.capacity['{GPU_CLASS}'].?memory.orValue(quantity('0'))"
_OURS = re.compile(re.escape(_MEMORY) + r"\.compareTo\(quantity\('([0-9A-Za-z]+)'\)\) (>=|>|<=) 0")
_UNITS = {"Ki": "KiB", "Mi": "MiB", "Gi": "GiB", "Ti": "TiB", "Pi": "PiB", "Ei": "EiB"}
_NOTHING = "0"


def memory_selectors(memory: MemoryRange | None) -> tuple[str, ...]:
    """CEL expressions that a card with this much memory passes; none when any will do."""
    if memory is None:
        return ()
    bounds = ((">=", memory.at_least), (">", memory.more_than), ("<=", memory.at_most))
    asked = [_compared(sign, format_bytes(amount)) for sign, amount in bounds if amount is not None]
    has_lower = bool(memory.at_least) or memory.more_than is not None
    return tuple(asked) if has_lower or not asked else (_compared(">", _NOTHING), *asked)


def _compared(sign: str, amount: str) -> str:
    return f"{_MEMORY}.compareTo(quantity('{amount}')) {sign} 0"


def memory_words(selectors: Iterable[str]) -> tuple[str, list[str]]:
    """``of at least 8 GiB`` for the selectors that were made here, and the selectors that were not."""
    bounds: dict[str, str] = {}
    others = []
    for selector in selectors:
        found = _OURS.fullmatch(selector)
        if found is None:
            others.append(selector)
        elif found[1] != _NOTHING:
            bounds[found[2]] = _in_words(found[1])
    if ">=" in bounds and "<=" in bounds:
        return f" of {bounds['>=']} to {bounds['<=']}", others
    words = {">=": "at least", ">": "more than", "<=": "at most"}
    said = " and ".join(f"{words[sign]} {amount}" for sign, amount in bounds.items())
    return (f" of {said}" if said else ""), others


def _in_words(quantity: str) -> str:
    suffix = quantity[-2:]
    return f"{quantity[:-2]} {_UNITS[suffix]}" if suffix in _UNITS else f"{parse_bytes(quantity)} bytes"
