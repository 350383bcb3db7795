"""Jobs that need not be tried, because one like them that asks for less has failed already in this action.

``MinimalJobRepresentatives`` of KAI: jobs are alike if their waiting pods could go to the same nodes.
"""

from __future__ import annotations

from collections import Counter
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
    """Equal for jobs whose waiting pods could go to the same nodes; remembered until a pod changes."""
    if group.signature is None:
        group.signature = tuple(sorted(_of_leaf(leaf, group) for leaf in group.leaves.values()))
    return group.signature


def _of_leaf(leaf: Leaf, group: Group) -> str:
    pods = Counter(_of_pod(task) for task in leaf.tasks.values() if not task.active)
    if group.more is not None and group.more[0].leaf == leaf.name:
        pods[_of_pod(group.more[0])] += group.more[1]
    if not pods:
        return ""
    levels: list[object] = [leaf.together]
    above: Branch | None = leaf.parent
    while above is not None:
        levels.append(above.together)
        above = above.parent
    return repr((levels, sorted(pods.items())))


def _of_pod(task: Task) -> str:
    """Where a pod could go, in words."""
    if not task.where:
        pod = task.pod
        task.where = repr((sorted(pod.node_selector.items()), pod.affinity, pod.tolerations, pod.claims))
    return task.where


def _waiting(group: Group) -> list[list[float]]:
    """What the pods that wait ask for, the least first."""
    if group.vectors is None:
        vectors = [task.vector for task in group.tasks.values() if task.status is PodStatus.PENDING]
        if group.more is not None:
            vectors += [group.more[0].vector] * group.more[1]
        if any(vector is not vectors[0] for vector in vectors):
            vectors.sort(key=cmp_to_key(_compare))
        group.vectors = vectors
    return group.vectors


def _compare(left: list[float], right: list[float]) -> int:
    return -1 if _within(left, right) else 1


def _within(left: Sequence[float], right: Sequence[float]) -> bool:
    return left is right or all(mine <= other for mine, other in zip(left, right, strict=True))


def _easier(group: Group, failed: Group) -> bool:
    mine, other = _waiting(group), _waiting(failed)
    if not mine or not other:
        return False
    if len(other) > len(mine):
        return True
    for number, vector in enumerate(mine):
        if number >= len(other):
            return False
        least = other[number]
        if vector is not least and _within(vector, least) and not _within(least, vector):
            return True
    return False


def _smaller(group: Group, than: Group) -> bool:
    mine, other = _waiting(group), _waiting(than)
    if not mine or not other or len(mine) > len(other):
        return False
    return all(_within(vector, other[number]) for number, vector in enumerate(mine))
