"""Nodes while pods are put on them: what is used, which devices are taken, who may stand where and how well.

The filters are those that bear on batch work, in the order of kube-scheduler's default profile: unschedulable
nodes, taints, node affinity, resources, devices.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from allotment.devices.allocation import Taken
from allotment.devices.claims import Allocation
from allotment.devices.nodes import Node
from allotment.devices.read_allocations import allocation_of
from allotment.scheduling.default.answers import Answers, Changes
from allotment.scheduling.default.devices import NOT_ALL, DeviceIndex, preference
from allotment.scheduling.default.kinds import Kinds
from allotment.scheduling.default.memory import Change, Memory
from allotment.scheduling.default.scoring import LEAST, Candidate, balance, room
from allotment.scheduling.state.amounts import PODS
from allotment.scheduling.state.nodes import ClusterNode, Taint, untolerated
from allotment.scheduling.state.pods import Pod
from allotment.scheduling.state.state import State

_MOST_ANSWERS: Final = 256  # kinds of pods that answers are kept for
TOO_MANY: Final = "Too many pods"
INSUFFICIENT: Final = "Insufficient "
_UNSCHEDULABLE = "node(s) were unschedulable"
_NOT_READY = Taint("node.kubernetes.io/not-ready", effect="NoSchedule")


@dataclass(frozen=True, slots=True)
class Standing:
    """A pod on a node, with what it has there."""

    pod: Pod
    node: str
    allocations: tuple[Allocation, ...]

    def same(self, other: Standing) -> bool:
        """Whether the same is held in the same place."""
        return (
            self.node == other.node
            and self.allocations == other.allocations
            and self.pod.requests == other.pod.requests
            and self.pod.claims == other.pod.claims
        )


def _standing(pod: Pod, memory: Memory) -> Standing | None:
    held = memory.held.get(pod.key)
    if pod.node is not None:
        return Standing(pod, pod.node, pod.allocations)
    return None if held is None else Standing(pod, held.node, held.allocations)


@dataclass(slots=True)
class Ground:
    """The nodes of a state with all that stands on them."""

    nodes: Sequence[ClusterNode]
    index: DeviceIndex | None
    used: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    counted: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    taken: Taken = field(default_factory=Taken)
    shared: dict[str, Allocation] = field(default_factory=dict)
    users: Counter[str] = field(default_factory=Counter)
    changes: Changes = field(default_factory=Changes)
    numbers: dict[str, int] = field(init=False)
    answers: dict[tuple[int, int | None], Answers] = field(default_factory=dict)
    kinds: Kinds = field(default_factory=Kinds)
    standing: dict[str, Standing] = field(default_factory=dict)
    moved: list[str] = field(default_factory=list)
    waiting: dict[str, Pod] = field(default_factory=dict)
    turn: int = 0
    on: dict[str, dict[str, None]] = field(default_factory=dict)
    priorities: Counter[int] = field(default_factory=Counter)
    nominated: dict[str, dict[str, Pod]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.numbers = {node.name: number for number, node in enumerate(self.nodes)}

    @classmethod
    def of(cls, state: State, before: Memory, memory: Memory, changes: Iterable[Change]) -> Ground:
        """The ground with the pods that have a node or keep one: that of the last round, if it is there.

        ``before`` is the memory that has not caught up with the changes yet.
        """
        kept, seen = before.ground, before.seen
        if (
            kept is None
            or seen is None
            or kept.turn != before.turn
            or seen.nodes is not state.nodes
            or seen.published is not state.published
        ):
            kept = cls.anew(state, memory)
            keys = list(state.pods)
        else:
            keys = [*(key for key, _old, _new in changes), *kept.moved]
        kept._follow(state, memory, keys)
        kept.turn += 1
        return kept

    @classmethod
    def anew(cls, state: State, memory: Memory) -> Ground:
        """The ground without any pods.

        Claims that are published with their devices are those of nobody here, or have a name.
        """
        ground = cls(list(state.nodes.values()), memory.index)
        for name, node in state.nodes.items():
            ground.used[name] = Counter(node.taken)
            ground.counted[name] = Counter(node.taken)
        for claim in state.published.claims if state.published else ():
            allocation = allocation_of(claim.status)
            if allocation is not None:
                ground.taken.take(allocation)
                ground.shared[f"{claim.namespace}/{claim.name}"] = allocation
                ground.users[f"{claim.namespace}/{claim.name}"] += 1
        return ground

    def _follow(self, state: State, memory: Memory, keys: Iterable[str]) -> None:
        """Put these pods where they stand now; what was taken is given back before it is taken again."""
        arriving: list[Standing] = []
        for key in dict.fromkeys(keys):
            pod = state.pods.get(key)
            known = self.standing.get(key)
            wanted = None if pod is None else _standing(pod, memory)
            if wanted is None or known is None or not known.same(wanted):
                if known is not None:
                    self.remove(known.pod, known.node, known.allocations)
                if wanted is not None:
                    arriving.append(wanted)
            if pod is None or pod.node is not None:
                self.waiting.pop(key, None)
            else:
                self.waiting[key] = pod
        for each in arriving:
            self.put(each.pod, each.node, each.allocations)
        self.moved.clear()

    def put(self, pod: Pod, node: str, allocations: tuple[Allocation, ...]) -> None:
        """A pod stands on a node."""
        self.standing[pod.key] = Standing(pod, node, allocations)
        self.on.setdefault(node, {})[pod.key] = None
        self.priorities[pod.priority] += 1
        self.moved.append(pod.key)
        self._count(pod, node, 1)
        for claim, allocation in zip(pod.claims, allocations, strict=False):
            if claim.shared is not None:
                self.users[claim.shared] += 1
                if claim.shared in self.shared:
                    continue
                self.shared[claim.shared] = allocation
                self.changes.everywhere += 1
            self.taken.take(allocation)
            self._changed(node, allocation)

    def remove(self, pod: Pod, node: str, allocations: tuple[Allocation, ...]) -> None:
        """A pod that was put on a node does not stand there any more, or not after all."""
        del self.standing[pod.key]
        del self.on[node][pod.key]
        self.priorities[pod.priority] -= 1
        if not self.priorities[pod.priority]:
            del self.priorities[pod.priority]
        self.moved.append(pod.key)
        self._count(pod, node, -1)
        for claim, allocation in zip(pod.claims, allocations, strict=False):
            if claim.shared is not None:
                self.users[claim.shared] -= 1
                if self.users[claim.shared]:
                    continue
                del self.shared[claim.shared]
                self.changes.everywhere += 1
            self.taken.release(allocation)
            self._changed(node, allocation)

    def _count(self, pod: Pod, node: str, sign: int) -> None:
        self._changed(node)
        used, counted = self.used[node], self.counted[node]
        for resource, amount in pod.requests.items():
            used[resource] += sign * amount
            counted[resource] += sign * amount
        used[PODS] += sign
        for resource, amount in LEAST.items():
            if resource not in pod.requests:
                counted[resource] += sign * amount

    def _changed(self, node: str, allocation: Allocation | None = None) -> None:
        """Answers about a node do not hold any more; about none, where devices are not of one node alone."""
        number = self.numbers.get(node)
        if number is not None:
            self.changes.log.append(number)
        if allocation is not None and not _of_one_node(allocation):
            self.changes.everywhere += 1

    def answers_for(self, pod: Pod) -> Answers:
        """What is known of the nodes for pods like this one."""
        kind = self.kinds.of(pod), pod.priority if self.nominated else None
        answers = self.answers.get(kind)
        if answers is None:
            if len(self.answers) >= _MOST_ANSWERS:
                self.answers.clear()
            answers = self.answers[kind] = Answers(len(self.nodes))
        answers.catch_up(self.changes)
        return answers

    def look(self, pod: Pod, number: int, answers: Answers) -> Candidate | None:
        """The node of this number as a candidate; AllocationError where no node can be one."""
        if number in answers.refused:
            return None
        node = self.nodes[number]
        found = self._refusal(pod, node) or self._candidate(pod, node)
        if isinstance(found, str):
            answers.is_none(number, found)
            return None
        answers.is_candidate(number, found)
        return found

    def _candidate(self, pod: Pod, node: ClusterNode) -> Candidate | str:
        allocations: tuple[Allocation, ...] = ()
        if pod.claims:
            if self.index is None:
                return NOT_ALL
            found = self.index.find(pod, node.name, self.taken, self.shared)
            if isinstance(found, str):
                return found
            allocations = found
        resources = room(pod, node, self.counted[node.name]) + balance(pod, node, self.used[node.name])
        return Candidate(node, allocations, resources, preference(pod, allocations))

    def _refusal(self, pod: Pod, node: ClusterNode) -> str | None:
        if not node.schedulable:
            return _UNSCHEDULABLE
        taints = node.taints if node.ready else (*node.taints, _NOT_READY)
        taint = untolerated(taints, pod.tolerations)
        if taint is not None:
            return f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
        selected = all(node.labels.get(key) == value for key, value in pod.node_selector.items())
        if not selected or (
            pod.affinity is not None and not pod.affinity.matches(Node(node.name, node.labels))
        ):
            return "node(s) didn't match Pod's node affinity/selector"
        used = self.used_before(pod, node) if self.nominated else self.used[node.name]
        return self.lack(pod, node, used)

    def lack(self, pod: Pod, node: ClusterNode, used: Mapping[str, int]) -> str | None:
        """What a node has too little of for a pod beside what is used."""
        if used.get(PODS, 0) + 1 > node.allocatable.get(PODS, 110):
            return TOO_MANY
        for resource, amount in sorted(pod.requests.items()):
            if amount and used.get(resource, 0) + amount > node.allocatable.get(resource, 0):
                return f"{INSUFFICIENT}{resource}"
        return None

    def used_before(self, pod: Pod, node: ClusterNode) -> Counter[str]:
        """What is used of a node, with what is kept there for pods that are no less important."""
        used = Counter(self.used[node.name])
        for each in self.nominated.get(node.name, {}).values():
            if each.priority >= pod.priority:
                used.update({**each.requests, PODS: 1})
        return used

    def nominate(self, pod: Pod, node: str) -> None:
        """Keep a place on a node for a pod."""
        self.nominated.setdefault(node, {})[pod.key] = pod
        self._changed(node)

    def forget(self, pod: str, node: str) -> None:
        """Keep it no longer."""
        kept = self.nominated.get(node, {})
        if kept.pop(pod, None) is not None:
            self._changed(node)
        if not kept:
            self.nominated.pop(node, None)

    def nominates(self, wanted: Mapping[str, str]) -> None:
        """Keep places for these pods, by key, and for no others."""
        known = {key: node for node, pods in self.nominated.items() for key in pods}
        for key, node in known.items():
            if wanted.get(key) != node:
                self.forget(key, node)
        for key, node in wanted.items():
            if known.get(key) != node:
                self.nominate(self.waiting[key], node)


def _of_one_node(allocation: Allocation) -> bool:
    selector = allocation.node_selector
    return selector is not None and all(
        term.match_fields and not term.match_expressions for term in selector.terms
    )
