"""Which pods of a group come next, and which go first.

Until a group has what it needs, all that is missing comes at once; from then on one pod at a time, or one
sub-group. Going is the reverse: first what is above the least number, one by one, then everything.
``GetTasksToAllocate`` and ``GetTasksToEvict`` of KAI's ``api/podgroup_info``, and the ``subgrouporder`` and
``taskorder`` plugins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from allotment.scheduling.kai.axes import NOTHING, Triple, plus
from allotment.scheduling.kai.groups import Branch, Group, Leaf, Member
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.state.pod_groups import PodStatus

M = TypeVar("M", bound=Member)


def _urgency(member: Member) -> tuple[int, int, float, str]:
    """Who lacks something first, then those that are needed, then who has least for its need."""
    have, need = member.have, member.need
    if have < need:
        return (0, 0, 0.0, member.name)
    return (1, 1, have, member.name) if need == 0 else (1, 0, have / need, member.name)


def by_urgency(members: Iterable[M], *, least_first: bool = False) -> list[M]:
    """Sub-groups in order, or in the reverse."""
    return sorted(members, key=_urgency, reverse=least_first)


def pods_to_place(group: Group, *, real: bool) -> list[Task]:
    """The pods that are to get a place together; remembered until some pod of the group changes."""
    if group.to_place is None:
        group.to_place = _of_branch(group.root, real=real)
    return group.to_place


def quota_to_place(group: Group, *, real: bool, gpu_memory: int | None) -> Triple:
    """What queues count of them; a request by memory is priced by the smallest GPU."""
    if group.to_place_quota is None:
        total = NOTHING
        for task in pods_to_place(group, real=real):
            if task.to_place(real=real):
                total = plus(total, task.quota)
                if task.by_memory and gpu_memory:
                    total = plus(total, (0.0, 0.0, task.priced(gpu_memory)))
        group.to_place_quota = total
    return group.to_place_quota


def _of_branch(branch: Branch, *, real: bool) -> list[Task]:
    members = by_urgency(branch.members)
    if not branch.satisfied:
        missing = [member for member in members[: branch.need] if not member.satisfied]
        return [task for member in missing for task in _of_member(member, real=real)]
    for member in members:
        tasks = _of_member(member, real=real)
        if tasks:
            return tasks
    return []


def _of_member(member: Member, *, real: bool) -> list[Task]:
    return _of_branch(member, real=real) if isinstance(member, Branch) else _of_leaf(member, real=real)


def _of_leaf(leaf: Leaf, *, real: bool) -> list[Task]:
    pending = PodStatus.PENDING
    going = None if real else PodStatus.RELEASING
    waiting = [
        task
        for task in leaf.tasks.values()
        if task.status is pending or (task.virtual and task.status is going)
    ]
    if leaf.satisfied:
        return [min(waiting, key=lambda task: task.key)] if waiting else []
    return in_order(waiting)[: leaf.minimum - leaf.active]


def in_order(tasks: Iterable[Task], *, last_first: bool = False) -> list[Task]:
    """Pods in order: leaders, then by label, age and name."""
    return sorted(tasks, key=lambda task: task.key, reverse=last_first)


def pods_to_evict(group: Group) -> tuple[list[Task], bool]:
    """The pods that would go next, and whether the group would still have some."""
    tasks = _surplus_of_branch(group.root) or _all_of(group.root.leaves)
    return tasks, len(tasks) < group.active


def _surplus_of_branch(branch: Branch) -> list[Task]:
    have = branch.have
    if have == 0:
        return []
    members = by_urgency(branch.members, least_first=True)
    if _has_surplus(branch):
        for member in members:
            tasks = _surplus_of(member)
            if tasks:
                return tasks
    if branch.need < have:
        for member in members:
            tasks = _all_of(member.leaves)
            if tasks:
                return tasks
    return []


def _has_surplus(member: Member) -> bool:
    if isinstance(member, Leaf):
        return member.active > member.minimum
    return member.have > member.need or any(_has_surplus(child) for child in member.members)


def _surplus_of(member: Member) -> list[Task]:
    if isinstance(member, Branch):
        return _surplus_of_branch(member)
    if member.active <= member.minimum:
        return []
    return in_order(_placed(member), last_first=True)[:1]


def _all_of(leaves: Sequence[Leaf]) -> list[Task]:
    return [task for leaf in leaves for task in in_order(_placed(leaf), last_first=True)]


def _placed(leaf: Leaf) -> list[Task]:
    return [task for task in leaf.tasks.values() if task.active]
