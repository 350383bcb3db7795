"""Which ways to share a card this machine's own engine can run; a cluster's are those of its platform.

The engine gives devices out whole unless it knows how to share them. What it cannot do is refused before
anything starts, and not passed over: a pod that asked for a part would get a card, or the reverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.errors import Finding
from allotment.needs.fault import Fault
from allotment.needs.rules import NOT_RUN_HERE
from allotment.platform.need import WHOLE, Need
from allotment.repository.model import HasNeed

RUNS_HERE: Final = frozenset({WHOLE})


def runs_here(word: str) -> bool:
    """Whether the local engine can share a card in this way."""
    return word in RUNS_HERE


def findings_here(file: HasNeed) -> list[Finding]:
    """What of a need the local engine cannot do, each with its place; a list needs one way that it can."""
    if file.gpu is None:
        return []
    faults = [*_of_one(file.gpu, ())]
    for place, fallback in enumerate(file.gpu.fallback):
        faults += _of_one(fallback, ("fallback", place))
    return [
        Finding(file.position("gpu", *fault.loc), fault.rule, fault.message, fault.hint) for fault in faults
    ]


def _of_one(need: Need, loc: tuple[str | int, ...]) -> Iterator[Fault]:
    if need.cpu is not None or any(runs_here(word) for word in need.sharing):
        return
    asked, can = " or ".join(need.sharing), ", ".join(sorted(RUNS_HERE))
    message = f"this machine's engine cannot share a card by {asked}: it knows {can}"
    hint = f"add a way that it knows: `sharing: [{', '.join((*need.sharing, WHOLE))}]`"
    yield Fault((*loc, "sharing"), NOT_RUN_HERE, message, hint)
