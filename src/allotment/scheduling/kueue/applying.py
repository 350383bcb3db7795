"""What the decisions make of the state: what Kueue writes into the objects, and its job controllers act on.

A workload that is evicted keeps its quota until its pods have stopped; ``released`` says that they have. It
is then in line again, at its old place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import singledispatch

from allotment.scheduling.kueue.decisions import Admitted, Decision, Evicted, Kept, Waits
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import Eviction, Waiting, Workload

Change = Callable[[Workload], Workload]


def applied(state: State, decisions: Iterable[Decision], now: float) -> State:
    """The state in which the decisions are carried out."""
    changes: dict[str, Workload | None] = {}
    for decision in decisions:
        for key, change in _changes(decision, now):
            known = changes.get(key) or state.workloads.get(key)
            if known is not None:
                changed = change(known)
                if changed != known:
                    changes[key] = changed
    return state.with_workloads(changes)


@singledispatch
def _changes(decision: Decision, _now: float) -> list[tuple[str, Change]]:
    raise TypeError(decision)


@_changes.register
def _admitted(decision: Admitted, now: float) -> list[tuple[str, Change]]:
    def admit(workload: Workload) -> Workload:
        return replace(
            workload,
            admission=decision.admission,
            reserved=True,
            reserved_at=workload.reserved_at if workload.reserved else now,
            admitted=workload.admitted or decision.complete,
            evicted=None,
            preempted=None,
            waiting=None,
            unhealthy=(),
        )

    changes: list[tuple[str, Change]] = [(decision.workload, admit)]
    if decision.replaces is not None:
        changes.append((decision.replaces, lambda workload: replace(workload, finished=True)))
    return changes


@_changes.register
def _evicted(decision: Evicted, now: float) -> list[tuple[str, Change]]:
    def evict(workload: Workload) -> Workload:
        preempted = Eviction(str(decision.cause), now, decision.message) if decision.cause else None
        return replace(
            workload,
            evicted=Eviction(decision.reason, now, decision.message),
            preempted=preempted or workload.preempted,
        )

    return [(decision.workload, evict)]


@_changes.register
def _waits(decision: Waits, _now: float) -> list[tuple[str, Change]]:
    waiting = Waiting(str(decision.reason) or "Pending", decision.message)
    return [(decision.workload, lambda workload: replace(workload, waiting=waiting))]


@_changes.register
def _kept(_decision: Kept, _now: float) -> list[tuple[str, Change]]:
    return []


def released(workload: Workload) -> Workload:
    """A workload whose pods have stopped after it was evicted: it has no quota and is in line again."""
    evicted = workload.evicted
    return replace(
        workload,
        admission=None,
        reserved=False,
        reserved_at=None,
        admitted=False,
        waiting=Waiting("Pending", evicted.message if evicted else ""),
    )
