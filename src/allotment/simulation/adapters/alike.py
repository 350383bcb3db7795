"""Pods that no filter of the default scheduler can tell apart, as the lines that they stand in."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from allotment.scheduling.default.memory import Failed
from allotment.scheduling.state.pods import Pod
from allotment.simulation.adapters.adapter import PodId
from allotment.simulation.work import Work

MANY: Final = 10**9


@dataclass(slots=True, eq=False)
class Line:
    """Pods that are alike: those that are shown, those that are not, and who is not told yet why it waits.

    ``takes``: others had to leave for one of them in the last round, so that the next may try as well.
    ``chooses_one`` is the work whose first pod chooses where the others may go, if there is one.
    """

    shown: dict[str, PodId] = field(default_factory=dict)
    hidden: OrderedDict[PodId, float] = field(default_factory=OrderedDict)
    untold: dict[str, None] = field(default_factory=dict)
    wish: int = MANY
    last: Failed | None = None
    never: bool | None = None
    takes: bool = False
    chooses_one: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """A work's pods: what they are like, and the line that they stand in."""

    work: Work
    pod: Pod
    line: Line
