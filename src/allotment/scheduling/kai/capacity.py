"""Whether a queue may hold more: its limit, and its quota for what cannot be preempted.

Both hold for every queue up the tree, and only for resources that are asked for.
``plugins/proportion/capacity_policy`` of KAI; a request by GPU memory is priced by the largest GPU here.
"""

from __future__ import annotations

from collections.abc import Iterable

from allotment.scheduling.kai.accounts import RESOURCES, Account
from allotment.scheduling.kai.axes import NOTHING, Triple, plus
from allotment.scheduling.kai.decisions import Reason
from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.nodes import Node
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.kai.wording import over_limit, over_quota
from allotment.scheduling.state.share_queues import NO_LIMIT

Refusal = tuple[Reason, str]


def refused(session: Session, group: Group, tasks: Iterable[Task]) -> Refusal | None:
    """Why the queue of a group may not hold these pods, if so."""
    asked = _priced(session, tasks)
    return _refused(session, group, asked)


def refused_by_quota(session: Session, group: Group, tasks: Iterable[Task]) -> Refusal | None:
    """The same as far as only quota counts."""
    if not session.plugins.fairness:
        return None
    return _quota_refusal(session.accounts.get(group.queue), group, _priced(session, tasks))


def refused_on_node(session: Session, task: Task, node: Node) -> Refusal | None:
    """Why it may not hold this pod on this node, where a request by memory has its price."""
    cpu, memory, _ = task.quota
    gpus = task.quota_gpus
    if not task.is_mig:
        gpus = task.devices * node.shared.part_of(node.shared.memory_of(task)) if task.devices else 0.0
    return _refused(session, task.group, (cpu, memory, gpus))


def _priced(session: Session, tasks: Iterable[Task]) -> Triple:
    total = NOTHING
    for task in tasks:
        cpu, memory, gpus = task.quota
        total = plus(total, (cpu, memory, task.priced(session.most_memory) if task.by_memory else gpus))
    return total


def _refused(session: Session, group: Group, asked: Triple) -> Refusal | None:
    if not session.plugins.fairness:
        return None
    account = session.accounts.get(group.queue)
    return _limit_refusal(account, asked) or _quota_refusal(account, group, asked)


def _limit_refusal(account: Account | None, asked: Triple) -> Refusal | None:
    for each in account.line if account is not None else ():
        for resource in RESOURCES:
            limit, more = each.limit[resource], asked[resource]
            if limit != NO_LIMIT and more != 0 and limit < each.held[resource] + more:
                return Reason.OVER_LIMIT, over_limit(each, resource, asked)
    return None


def _quota_refusal(account: Account | None, group: Group, asked: Triple) -> Refusal | None:
    if group.preemptible:
        return None
    for each in account.line if account is not None else ():
        for resource in RESOURCES:
            quota, more = each.quota[resource], asked[resource]
            if quota != NO_LIMIT and more != 0 and quota < each.held_firmly[resource] + more:
                return Reason.OVER_QUOTA, over_quota(each, resource, asked)
    return None
