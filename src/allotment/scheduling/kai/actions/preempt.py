"""Preempt: inside a queue the higher priority takes from the lower."""

from __future__ import annotations

from allotment.scheduling.kai.actions.seeking import beyond_all_nodes, seekers, solve
from allotment.scheduling.kai.capacity import refused_by_quota
from allotment.scheduling.kai.easier import Failures
from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.next_pods import pods_to_place
from allotment.scheduling.kai.runtimes import leaves_enough, may_be_victim, protected_from_preemption
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.settings import Action
from allotment.scheduling.kai.solving.scenarios import Scenario
from allotment.scheduling.kai.wording import preempted


def run(session: Session) -> None:
    """Preempt for every job that waits."""
    failures: dict[str, Failures] = {}
    for group in seekers(session, Action.PREEMPT, lambda _group: True):
        failed = failures.setdefault(group.queue, Failures(session))
        if failed.hopeless(group) or beyond_all_nodes(session, group):
            continue
        if not _preempt_for(session, group):
            failed.note(group)


def _preempt_for(session: Session, group: Group) -> bool:
    if refused_by_quota(session, group, pods_to_place(group, real=False)):
        return False

    def protected(victim: Group) -> bool:
        return session.plugins.minimum_runtime and protected_from_preemption(session, victim)

    def judge(scenario: Scenario) -> bool:
        return leaves_enough(scenario.victims(), protected)

    candidates = [
        victim
        for victim in session.groups.values()
        if victim.queue == group.queue and victim.priority < group.priority and victim is not group
        if may_be_victim(victim, protected)
    ]
    return solve(session, group, candidates, judge, preempted)
