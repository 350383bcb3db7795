"""One value of memory to write: that of the world where one is looked at, and not the catalogue's beside it.

What a card reports is not the same everywhere: where cards are cut on demand, a whole one reports less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from allotment.errors import Finding, Position
from allotment.needs.rules import MISSES_CARDS, NEVER_FITS

_OF_MEMORY = "`memory: "


def agreeing(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings; the catalogue's advice on memory is the world's where that has one at the same place."""
    found = list(findings)
    values = {each.position: each.hint for each in found if each.rule == NEVER_FITS}
    for finding in found:
        yield with_value(finding, finding.position, values.get(finding.position, ""))


def with_value(finding: Finding, position: Position, hint: str) -> Finding:
    """A finding with this hint, where it advises on memory at this place and so does the hint."""
    advises = finding.rule == MISSES_CARDS and _OF_MEMORY in finding.hint and _OF_MEMORY in hint
    return replace(finding, hint=hint) if advises and finding.position == position else finding
