"""How long a job is left alone after it has begun.

For preemption the victim's queue says it, or the nearest one above that does. For reclaim it is looked for
from the queue just below the last one that both have in common, or from the victim's own queue. What has pods
to spare may lose those at any time. ``plugins/minruntime`` of KAI.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.settings import Resolve
from allotment.scheduling.kai.tasks import Task

Protected = Callable[[Group], bool]


def protected_from_preemption(session: Session, victim: Group) -> bool:
    """Whether it is too early to preempt a job."""
    least = session.settings.preempt_min_runtime
    for name in reversed(_path(session, victim.queue)):
        told = session.queue_specs[name].preempt_min_runtime
        if told is not None:
            least = told
            break
    return young(session, victim, least)


def reclaim_min_runtime(session: Session, taker: Group, victim: Group) -> float:
    """How long a job's queue leaves its jobs alone before it gives them to this other one."""
    for name in reversed(_looked_at(session, taker.queue, victim.queue)):
        told = session.queue_specs[name].reclaim_min_runtime
        if told is not None:
            return told
    return session.settings.reclaim_min_runtime


def _looked_at(session: Session, taker: str, victim: str) -> Sequence[str]:
    mine, theirs = _path(session, taker), _path(session, victim)
    if session.settings.resolve is Resolve.QUEUE:
        return theirs
    common = 0
    for left, right in zip(mine, theirs, strict=False):
        if left != right:
            break
        common += 1
    return theirs[: max(1, common + 1)]


def _path(session: Session, queue: str) -> list[str]:
    account = session.accounts.get(queue)
    return [each.name for each in account.path] if account is not None else []


def young(session: Session, victim: Group, least: float) -> bool:
    """Whether a job began less than so long ago."""
    return victim.started is not None and session.now < victim.started + least


def may_be_victim(victim: Group, protected: Protected) -> bool:
    """Whether a job is looked at at all; of an elastic one a part may go in any case."""
    return not protected(victim) or victim.elastic


def leaves_enough(victims: Mapping[Group, Sequence[Task]], protected: Protected) -> bool:
    """Whether no protected job falls below what it needs."""
    for group, tasks in victims.items():
        if not group.elastic or not protected(group):
            continue
        for name, count in Counter(task.leaf for task in tasks).items():
            leaf = group.leaves[name]
            if leaf.minimum > leaf.using - count:
                return False
    return True
