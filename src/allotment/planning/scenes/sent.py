"""What becomes of one work in the first moments after it is sent: how many of its pods start, or why none.

The scheduler's model is played for half a minute of virtual time, in which nothing ends that has just begun.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from allotment.planning.scenes.values import Scene
from allotment.simulation.draws import Draws
from allotment.simulation.simulate import simulate
from allotment.simulation.work import Work

AT_ONCE: Final = 30.0
"""Seconds: pods that got a node by then have it at once. An image is not even pulled in that time."""


@dataclass(frozen=True, slots=True)
class Sent:
    """``started`` of ``wanted`` pods get a place at once, on ``nodes``; why the others wait, if they do."""

    work: str
    started: int
    wanted: int
    nodes: tuple[str, ...] = ()
    reason: str = ""
    message: str = ""
    never: bool = False
    notes: tuple[str, ...] = ()

    @property
    def waits(self) -> bool:
        """Whether any pod of it waits."""
        return self.started < self.wanted


def sent_now(scene: Scene, name: str) -> Sent | None:
    """What becomes of a work of the scene; None for one that is not in it."""
    work = next((each for each in scene.works if each.name == name), None)
    if work is None:
        return None
    outcome = simulate(scene.setting, scene.works, scene.run_times, Draws(1), AT_ONCE)
    placed = {(each.index, each.attempt): each.node for each in outcome.spans if each.work == name}
    waits = [each for each in outcome.waits if each.work == name]
    last = waits[-1] if waits else None
    ends = next(each for each in outcome.ends if each.work == name)
    return Sent(
        work=name,
        started=len({index for index, _ in placed}),
        wanted=wanted(work),
        nodes=tuple(sorted(set(placed.values()))),
        reason="" if last is None else last.reason,
        message="" if last is None else last.message,
        never=bool(ends.never),
        notes=outcome.notes,
    )


def wanted(work: Work) -> int:
    """How many pods it would have at once."""
    packs = -(-len(work.units) // work.pack)
    return min(work.most, packs) if work.units and work.kind == "campaign" else work.most
