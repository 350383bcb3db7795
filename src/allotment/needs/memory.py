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
from allotment.quantities import GI, format_bytes, format_gi, parse_bytes

_MEMORY = f"device.capacity['{GPU_CLASS}'].?memory.orValue(quantity('0'))"
_OURS = re.compile(re.escape(_MEMORY) + r"\.compareTo\(quantity\('([0-9A-Za-z]+)'\)\) (>=|>|<=) 0")
_SIGNS = {">=": "at_least", ">": "more_than", "<=": "at_most"}
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


def memory_of(selectors: Iterable[str]) -> tuple[MemoryRange, list[str]]:
    """The bounds that selectors made here say, and the selectors that were not made here."""
    bounds: dict[str, int] = {}
    others = []
    for selector in selectors:
        found = _OURS.fullmatch(selector)
        if found is None:
            others.append(selector)
        elif found[1] != _NOTHING:
            bounds[_SIGNS[found[2]]] = parse_bytes(found[1])
    return MemoryRange(**bounds), others


def memory_words(memory: MemoryRange) -> str:
    """``at least 8Gi``, ``20Gi to 40Gi``; empty when any will do."""
    least, most = memory.at_least, memory.at_most
    if least is not None and most is not None and memory.more_than is None:
        return f"{in_words(least)} to {in_words(most)}"
    bounds = (("at least", least), ("more than", memory.more_than), ("at most", most))
    return " and ".join(f"{words} {in_words(amount)}" for words, amount in bounds if amount is not None)


def in_words(amount: int) -> str:
    """Bytes for a person: ``8Gi``, ``79.64Gi (81559Mi)``; never rounded up."""
    canonical = format_bytes(amount)
    if canonical.endswith(("Gi", "Ti", "Pi", "Ei")) or amount < GI:
        return canonical if canonical[-1:] == "i" else f"{canonical} bytes"
    return f"{format_gi(amount)} ({canonical if canonical[-1:] == 'i' else f'{canonical} bytes'})"
