"""One cycle: a session is opened on the state, and its actions run one after the other.

A pure function of the state and of what is remembered: what the memory has kept of the last session only
spares work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from allotment.scheduling.kai.actions import allocate, consolidation, preempt, reclaim, stale
from allotment.scheduling.kai.decisions import Decision, Reason, Waits
from allotment.scheduling.kai.ground import Ground
from allotment.scheduling.kai.memory import Memory
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.settings import Action
from allotment.scheduling.kai.ties import Ties
from allotment.scheduling.state.state import State

RUN: Final[Mapping[Action, Callable[[Session], None]]] = MappingProxyType(
    {
        Action.ALLOCATE: allocate.run,
        Action.CONSOLIDATION: consolidation.run,
        Action.RECLAIM: reclaim.run,
        Action.PREEMPT: preempt.run,
        Action.STALE: stale.run,
    }
)


def decide(
    state: State, memory: Memory, now: float, ties: Ties = Ties.FIRST_USED
) -> tuple[tuple[Decision, ...], Memory]:
    """What is decided in this cycle, and what is to be remembered."""
    ground = Ground.of(state, memory)
    session = Session(state, memory, now, ties, ground)
    for action in memory.settings.actions:
        act(session, action)
    after = replace(remembered(session, memory), ground=ground, turn=ground.turn)
    ground.left(state, after)
    return (*session.decisions, *_waiting(session)), after


def act(session: Session, action: Action) -> None:
    """Run one action."""
    session.action = action
    RUN[action](session)


def _waiting(session: Session) -> list[Waits]:
    waits: list[Waits] = []
    for key, group in session.groups.items():
        if group.pending and session.leaf_of(group) is None:
            message = f"Queue '{group.queue}' does not exist or does not run jobs"
            waits.append(Waits(key, Reason.NO_QUEUE, message))
        if group.faults:
            waits += [Waits(key, Reason(reason), message) for reason, message in dict.fromkeys(group.faults)]
    return waits


def remembered(session: Session, memory: Memory) -> Memory:
    """The memory after a session: of groups that are still there."""
    groups = session.groups
    return replace(
        memory,
        started={key: group.started for key, group in groups.items() if group.started is not None},
        evicted={key: group.evicted for key, group in groups.items() if group.evicted is not None},
        stale={key: group.stale_since for key, group in groups.items()},
    )
