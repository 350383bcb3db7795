"""Room by priority: which pods have to go for one that finds no place, and on which node.

kube-scheduler's plugin ``DefaultPreemption``, from its source. It helps where a node lacks processors,
memory, counted devices or places for pods, and never where it lacks devices that are claimed: the allocator
does not ask what would be free without a pod. On each node all pods of lower priority are thought away; if
the pod then fits, those are kept that may stay, the most important first. Of the nodes the one is taken on
which the least is lost. Budgets of disruptions are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from allotment.scheduling.default.answers import Answers
from allotment.scheduling.default.decisions import Preempted
from allotment.scheduling.default.ground import INSUFFICIENT, TOO_MANY, Ground
from allotment.scheduling.state.amounts import PODS
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pods import Pod

LEAST_NODES: Final = 100
PART_OF_NODES: Final = 10  # in a hundred; the larger of both is how many nodes are found at most
_BASE: Final = 2**31
"""Is added to each priority, so that two victims weigh more than one whatever their priorities are."""


@dataclass(frozen=True, slots=True)
class Room:
    """A node, and the pods that have to go from it, the most important first."""

    node: str
    victims: tuple[Pod, ...]

    @property
    def loss(self) -> tuple[int, int, int, float]:
        """The smaller, the rather; of equals those go that began last."""
        highest = self.victims[0].priority
        weights = sum(each.priority + _BASE for each in self.victims)
        since = min(each.started for each in self.victims if each.priority == highest)
        return highest, weights, len(self.victims), -since


@dataclass(slots=True)
class Rooms:
    """Whose places are kept where (``nominated``), and who is told to leave in this round."""

    ground: Ground
    pods: Mapping[str, Pod]
    nominated: dict[str, str]
    leaving: set[str] = field(default_factory=set)
    in_vain: set[tuple[int, int]] = field(default_factory=set)

    def give_up(self, pod: Pod) -> str | None:
        """Where a place was kept for a pod, which is not any more."""
        node = self.nominated.pop(pod.key, None)
        if node is not None:
            self.ground.forget(pod.key, node)
        return node

    def make(self, pod: Pod, kept: str | None, draw: Callable[[int], int]) -> list[Preempted]:
        """Have others leave for a pod, unless those that were told to are still on their way."""
        if kept is not None and any(map(self._leaves, lower_on(kept, pod, self.ground, self.pods))):
            self._nominate(pod, kept)
            return []
        if min(self.ground.priorities, default=pod.priority) >= pod.priority:
            return []
        likeness = self.ground.kinds.of(pod), pod.priority
        if likeness in self.in_vain:
            return []
        room = room_for(pod, self.ground, self.ground.answers_for(pod), self.pods, draw)
        if room is None:
            self.in_vain.add(likeness)
            return []
        for each in list(self.ground.nominated.get(room.node, {}).values()):
            if each.priority < pod.priority:
                self.give_up(each)
        self._nominate(pod, room.node)
        told = [each for each in room.victims if not self._leaves(each)]
        self.leaving.update(each.key for each in told)
        return [Preempted(each.key, pod.key, room.node) for each in told]

    def _leaves(self, pod: Pod) -> bool:
        return pod.leaving or pod.key in self.leaving

    def _nominate(self, pod: Pod, node: str) -> None:
        self.nominated[pod.key] = node
        self.ground.nominate(pod, node)


def room_for(
    pod: Pod, ground: Ground, answers: Answers, pods: Mapping[str, Pod], draw: Callable[[int], int]
) -> Room | None:
    """Where room can be made for a pod that every node refuses; ``pods`` are those of the state, as they are.

    ``draw`` is one of so many: the node from which they are gone through, and which of equals is taken.
    """
    if min(ground.priorities, default=pod.priority) >= pod.priority:
        return None
    nodes = len(ground.nodes)
    most = max(nodes * PART_OF_NODES // 100, LEAST_NODES)
    start = draw(nodes) if most < nodes else 0
    found: list[Room] = []
    for number in (*range(start, nodes), *range(start)):
        victims = _victims(pod, number, ground, answers, pods)
        if victims:
            found.append(Room(ground.nodes[number].name, victims))
            if len(found) == most:
                break
    if not found:
        return None
    least = min(each.loss for each in found)
    best = [each for each in found if each.loss == least]
    return best[draw(len(best))] if len(best) > 1 else best[0]


def _victims(
    pod: Pod, number: int, ground: Ground, answers: Answers, pods: Mapping[str, Pod]
) -> tuple[Pod, ...]:
    """Who has to go from a node; nobody where that does not help."""
    if number not in answers.refused and ground.look(pod, number, answers) is not None:
        return ()
    reason = answers.refused[number]
    if reason != TOO_MANY and not reason.startswith(INSUFFICIENT):
        return ()
    node = ground.nodes[number]
    lower = sorted(lower_on(node.name, pod, ground, pods), key=lambda each: (-each.priority, each.started))
    used = ground.used_before(pod, node)
    for each in lower:
        _count(used, each, -1)
    if not lower or ground.lack(pod, node, used) or not _has_devices(pod, node, ground):
        return ()
    found = []
    for each in lower:
        _count(used, each, 1)
        if ground.lack(pod, node, used):
            _count(used, each, -1)
            found.append(each)
    return tuple(found)


def lower_on(node: str, pod: Pod, ground: Ground, pods: Mapping[str, Pod]) -> Iterator[Pod]:
    """The pods on a node that have a lower priority than another, as they are known."""
    for key in ground.on.get(node, ()):
        standing = ground.standing[key].pod
        if standing.priority < pod.priority:
            known = pods.get(key, standing)
            yield known if known.node is not None else standing


def _count(used: Counter[str], pod: Pod, sign: int) -> None:
    for resource, amount in {**pod.requests, PODS: 1}.items():
        used[resource] += sign * amount


def _has_devices(pod: Pod, node: ClusterNode, ground: Ground) -> bool:
    """Whether there are devices for its claims while everybody keeps theirs."""
    if not pod.claims:
        return True
    found = ground.index.find(pod, node.name, ground.taken, ground.shared) if ground.index else ""
    return not isinstance(found, str)
