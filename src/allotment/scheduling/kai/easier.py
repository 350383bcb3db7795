"""Jobs that need not be tried, because one like them that asks for less has failed already in this action.

``MinimalJobRepresentatives`` of KAI: jobs are alike if their waiting pods could go to the same nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key

from allotment.scheduling.kai.groups import Branch, Group, Leaf
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.state.pod_groups import PodStatus


class Failures:
    """The least job of each kind that failed."""

    def __init__(self, session: Session) -> None:
        self.on = session.settings.signatures
        self.least: dict[object, Group] = {}

    def hopeless(self, group: Group) -> bool:
        """Whether a job like this, and not harder, has failed."""
        other = self.least.get(signature(group)) if self.on else None
        return other is not None and not _easier(group, other)

    def note(self, group: Group) -> None:
        """This one has failed."""
        key = signature(group) if self.on else None
        current = self.least.get(key)
        if self.on and (current is None or _smaller(group, current)):
            self.least[key] = group


def signature(group: Group) -> object:
    """Equal for jobs whose waiting pods could go to the same nodes."""
    return tuple(sorted(_of_leaf(leaf) for leaf in group.leaves.values()))


def _of_leaf(leaf: Leaf) -> str:
    if leaf.active == len(leaf.tasks):
        return ""
    levels: list[object] = [leaf.together]
    above: Branch | None = leaf.parent
    while above is not None:
        levels.append(above.together)
        above = above.parent
    pods = sorted(_of_pod(task) for task in leaf.tasks.values() if not task.active)
    return repr((levels, pods))


def _of_pod(task: Task) -> str:
    pod = task.pod
    return repr((sorted(pod.node_selector.items()), pod.affinity, pod.tolerations, pod.claims))


def _waiting(group: Group) -> list[list[float]]:
    vectors = [task.vector for task in group.tasks.values() if task.status is PodStatus.PENDING]
    return sorted(vectors, key=cmp_to_key(_compare))


def _compare(left: list[float], right: list[float]) -> int:
    return -1 if _within(left, right) else 1


def _within(left: Sequence[float], right: Sequence[float]) -> bool:
    return all(mine <= other for mine, other in zip(left, right, strict=True))


def _easier(group: Group, failed: Group) -> bool:
    mine, other = _waiting(group), _waiting(failed)
    if not mine or not other:
        return False
    if len(other) > len(mine):
        return True
    for number, vector in enumerate(mine):
        if number >= len(other):
            return False
        if _within(vector, other[number]) and not _within(other[number], vector):
            return True
    return False


def _smaller(group: Group, than: Group) -> bool:
    mine, other = _waiting(group), _waiting(than)
    if not mine or not other or len(mine) > len(other):
        return False
    return all(_within(vector, other[number]) for number, vector in enumerate(mine))
