"""Which ways to share a card this machine's own engine can run; a cluster's are those of its platform.

Slices that are there are devices of their own; parts of cards are given to volumes, whose pages tell whose
fault it is when memory runs out, and not to fleets and gangs. What the engine cannot do is refused before
anything starts, and not passed over: a pod that asked for a part would get a card, or the reverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.errors import Finding
from allotment.needs.fault import Fault
from allotment.needs.rules import NOT_RUN_HERE
from allotment.needs.ways import way_of
from allotment.needs.ways.choosing import kept_ways
from allotment.platform.need import SHARING, WHOLE, Need
from allotment.repository.model import HasNeed, Pipeline

FOR_VOLUMES: Final = frozenset(SHARING)
FOR_PROGRAMS: Final = frozenset({WHOLE, "mig"})


def runs_here(word: str, *, volumes: bool = True) -> bool:
    """Whether the local engine can share a card in this way, for volumes or for fleets and gangs."""
    return word in (FOR_VOLUMES if volumes else FOR_PROGRAMS)


def findings_here(file: HasNeed) -> list[Finding]:
    """What of a need the local engine cannot do, each with its place; a list needs one way that it can."""
    if file.gpu is None:
        return []
    volumes = isinstance(file, Pipeline)
    faults = [*_of_one(file.gpu, (), volumes=volumes)]
    for place, fallback in enumerate(file.gpu.fallback):
        faults += _of_one(fallback, ("fallback", place), volumes=volumes)
    return [
        Finding(file.position("gpu", *fault.loc), fault.rule, fault.message, fault.hint) for fault in faults
    ]


def _of_one(need: Need, loc: tuple[str | int, ...], *, volumes: bool) -> Iterator[Fault]:
    if need.cpu is not None:
        return
    first = next(iter(kept_ways(need)), way_of(need.sharing[0])).word
    if need.count > 1 and first not in FOR_PROGRAMS:
        message = f"this machine's engine gives a worker a part of one card, and {need.count} are asked for"
        yield Fault((*loc, "count"), NOT_RUN_HERE, message, "ask for one, or for whole cards")
    if runs_here(first, volumes=volumes):
        return
    can = ", ".join(sorted(FOR_PROGRAMS))
    message = f"this machine's engine shares no card by {first} for a fleet or a gang: it knows {can}"
    hint = f"write `sharing: {WHOLE}`, or list it first"
    yield Fault((*loc, "sharing"), NOT_RUN_HERE, message, hint)
