"""Reclaim: a queue takes back from others what is its own, or its fair share."""

from __future__ import annotations

from collections.abc import Iterator

from allotment.scheduling.kai.actions.seeking import beyond_all_nodes, seekers, solve
from allotment.scheduling.kai.axes import GPU
from allotment.scheduling.kai.easier import Failures
from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.reclaimable import Reclaim, may_lose, may_reclaim
from allotment.scheduling.kai.runtimes import leaves_enough, may_be_victim, reclaim_min_runtime, young
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.settings import Action
from allotment.scheduling.kai.solving.scenarios import Scenario
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.kai.wording import reclaimed, standings


def run(session: Session) -> None:
    """Reclaim for every job that waits and whose queue may."""
    failures: dict[str, Failures] = {}
    for group in seekers(session, Action.RECLAIM, lambda _group: True):
        if not may_reclaim(session, group):
            continue
        failed = failures.setdefault(group.queue, Failures(session))
        if failed.hopeless(group) or beyond_all_nodes(session, group):
            continue
        if not _reclaim_for(session, group):
            failed.note(group)


def _reclaim_for(session: Session, group: Group) -> bool:
    reclaim = Reclaim(session, group)

    least: dict[str, float] = {}

    def protected(victim: Group) -> bool:
        if victim.queue not in least:
            least[victim.queue] = reclaim_min_runtime(session, group, victim)
        return session.plugins.minimum_runtime and young(session, victim, least[victim.queue])

    def judge(scenario: Scenario) -> bool:
        victims = scenario.victims()
        asked = session.asked_by(scenario.preemptor)
        whole = sum(task.vector[GPU] + task.priced(session.least_memory) for task in scenario.pending)
        return reclaim.allows(asked, whole, victims) and leaves_enough(victims, protected)

    standing: dict[str, str] = {}  # the same for every scenario of this search

    def message(task: Task, by: Group) -> str:
        queue = task.group.queue
        if queue not in standing:
            standing[queue] = standings(session.accounts.get(queue), session.accounts.get(by.queue))
        return reclaimed(task, by, standing[queue])

    lend: dict[str, bool] = {group.queue: False}

    def candidates() -> Iterator[Group]:
        for victim in session.groups.values():
            queue = victim.queue
            if not victim.preemptible or not victim.active:
                continue
            if queue not in lend:
                lend[queue] = may_lose(session, group, victim)
            if lend[queue] and may_be_victim(victim, protected):
                yield victim

    return solve(session, group, list(candidates()), judge, message)
