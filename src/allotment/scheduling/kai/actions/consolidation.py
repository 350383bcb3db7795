"""Consolidation: others are moved so that what is free in pieces becomes enough for a job.

Only if everybody who is moved finds a place. The number of jobs that are looked at is bounded; KAI passes the
bound by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from allotment.scheduling.kai.actions.seeking import beyond_all_nodes, seekers, solve
from allotment.scheduling.kai.axes import mig_size
from allotment.scheduling.kai.easier import Failures
from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.next_pods import pods_to_place
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.settings import Action
from allotment.scheduling.kai.solving.scenarios import Scenario
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.kai.wording import consolidated
from allotment.scheduling.state.pod_groups import PodStatus


def run(session: Session) -> None:
    """Consolidate for every job that waits and can be preempted."""
    if session.settings.relocations == 0:
        return
    failed = Failures(session)
    for group in seekers(session, Action.CONSOLIDATION, lambda group: group.preemptible):
        if failed.hopeless(group) or beyond_all_nodes(session, group):
            continue
        if not _consolidate_for(session, group):
            failed.note(group)


def _consolidate_for(session: Session, group: Group) -> bool:
    if not _enough_gpus(session, pods_to_place(group, real=False)):
        return False
    movable: Iterable[Group] = (
        each for each in session.groups.values() if each.preemptible and each.active and each is not group
    )
    most = session.settings.relocations
    if most is not None:
        movable = islice(movable, most + 1)
    return solve(session, group, list(movable), _all_placed, lambda task, _by: consolidated(task))


def _all_placed(scenario: Scenario) -> bool:
    return not any(
        task.status is PodStatus.RELEASING for tasks in scenario.victims().values() for task in tasks
    )


def _enough_gpus(session: Session, tasks: Iterable[Task]) -> bool:
    """Whether so many GPUs, and so much of their memory, are free or become free in all."""
    gpus = memory = 0.0
    for node in session.nodes.values():
        if node.spec.ready:
            for count, mebibytes in (node.idle_gpus(session.axes), node.releasing_gpus(session.axes)):
                gpus += count
                memory += mebibytes
    for task in tasks:
        gpus -= task.gpus + task.claimed
        memory -= task.by_memory
        for name, count in task.pod.request.mig:
            slices, gigabytes = mig_size(name)
            gpus -= slices * count
            memory -= gigabytes * count
    return gpus >= 0 and memory >= 0
