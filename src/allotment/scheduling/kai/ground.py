"""What a session is opened on: nodes and groups with their books, kept from one cycle to the next.

KAI builds all of it anew for each cycle. Most of a cluster is as it was, so only what differs from the state
that was seen last is built again, and what the last cycle tried on. Whatever is built again begins from
nothing, its pods in their order: the books are those of a session that is opened on that state alone, down to
the rounding of fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from allotment.scheduling.kai.alike import Alike
from allotment.scheduling.kai.axes import NOTHING, Axes, Triple, plus
from allotment.scheduling.kai.claims import Claims
from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.marks import Marks
from allotment.scheduling.kai.memory import Memory
from allotment.scheduling.kai.nodes import LEAST_MEMORY, Node
from allotment.scheduling.kai.sums import Sums
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.state.pod_groups import USING, GroupPod, PodGroup, PodRequest
from allotment.scheduling.state.state import State

_MOST_SHAPES: Final = 10_000  # requests that are known, of which many may be gone


class Ground:
    """Nodes and groups of a state. ``turn`` says which memory has left it as it is."""

    def __init__(self, state: State, memory: Memory) -> None:
        self.turn = 0
        self.seen, self.known = state, _known(memory)
        self.claims = Claims(state)
        self.axes = Axes.of(state.nodes.values(), _requests(state))
        self.marks = Marks()
        self.nodes = {
            name: Node(node, self.axes, self.claims.gpus_of_node(name)) for name, node in state.nodes.items()
        }
        self.alike = Alike(self.nodes)
        told = [node.shared.memory for node in self.nodes.values() if node.shared.memory > LEAST_MEMORY]
        self.least_memory = min(told, default=LEAST_MEMORY)
        self.most_memory = max(told, default=LEAST_MEMORY)
        allocatable = [node.allocatable for node in self.nodes.values()]
        self.largest = [max(column) for column in zip(*allocatable, strict=True)]
        self.total = self._total()
        self.groups: dict[str, Group] = {}
        self.standing: dict[str, set[Task]] = {}
        self.claiming: set[str] = set()
        self.sums = Sums(self.least_memory)
        self._build(dict.fromkeys(state.pod_groups), state, memory)
        for node in self.nodes.values():
            node.touched = self.marks.nodes

    @classmethod
    def of(cls, state: State, memory: Memory) -> Ground:
        """The ground that the memory has kept, brought up to date, or a new one."""
        kept = memory.ground
        if kept is None or not kept._is_of(state, memory):
            return cls(state, memory)
        changes = {key: new for key, _old, new in state.pod_groups.changes(kept.seen.pod_groups)}
        if not kept._has_axes(changes.values()):
            return cls(state, memory)
        kept.turn += 1
        kept._follow(state, memory, changes)
        return kept

    def _is_of(self, state: State, memory: Memory) -> bool:
        """Whether it is as this memory has left it, and its nodes are those of this state."""
        seen = self.seen
        return (
            self.turn == memory.turn
            and all(old is new for old, new in zip(self.known, _known(memory), strict=True))
            and seen.nodes is state.nodes
            and seen.devices is state.devices
        )

    def _has_axes(self, groups: Iterable[PodGroup | None]) -> bool:
        """Whether the resources of nodes are all that there are, with these groups too."""
        index = self.axes.index
        if len(Axes.of(self.seen.nodes.values(), ()).index) != len(index):
            return False
        requests = (pod.request for group in groups if group is not None for pod in group.pods)
        asking = (request for request in requests if request.mig or request.others)
        return all(name in index for request in asking for name, _ in (*request.mig, *request.others))

    def left(self, state: State, memory: Memory) -> None:
        """A cycle over a state is over, and this is what is remembered of it."""
        self.seen, self.known = state, _known(memory)
        if len(self.axes.shapes) > _MOST_SHAPES:
            self.axes.shapes.clear()

    def _total(self) -> Triple:
        total = NOTHING
        for node in self.nodes.values():
            if node.spec.ready:
                taken = self.axes.quota(self.axes.of_amounts(node.spec.taken))
                total = plus(total, self.axes.quota(node.allocatable))
                total = plus(total, (-taken[0], -taken[1], -taken[2]))
        return total

    def _follow(self, state: State, memory: Memory, changes: Iterable[str]) -> None:
        """Build again what has changed in the state, and what the last cycle has changed."""
        self.claims = Claims(state, self.claims.by_node)
        changed = dict.fromkeys(changes)
        changed.update((task.group.key, None) for task in self.marks.tasks)
        changed.update((key, None) for key in self.claiming if not self._as_given(self.groups[key]))
        for group in self.marks.groups:
            group.faults = []
        self._build(changed, state, memory)

    def _as_given(self, group: Group) -> bool:
        return all(self._has_claims(task) for task in group.tasks.values() if task.pod.claims)

    def _has_claims(self, task: Task) -> bool:
        """Whether the claims of a pod are those that it was made with."""
        return all(old is new for old, new in zip(task.given, self.claims.of(task.pod), strict=True))

    def _build(self, keys: Iterable[str], state: State, memory: Memory) -> None:
        """Build these groups, and the books of nodes on which anything is or was different."""
        built = []
        for key in keys:
            self.sums.drop(key)
            group = self._renew(key, state.pod_groups.get(key), memory)
            if group is not None:
                built.append(group)
        self.groups = {key: self.groups[key] for key in state.pod_groups}
        for name in tuple(self.marks.nodes):
            node = self.nodes[name]
            node.reopen(self.axes)
            for task in sorted(self.standing.get(name, ()), key=lambda task: task.id):
                node.add(task, self.axes)
        for group in built:
            self.sums.add(group)
        self.marks.clear()

    def _renew(self, key: str, spec: PodGroup | None, memory: Memory) -> Group | None:
        """Build a group with those of its pods that are as they were, and others."""
        old = self.groups.pop(key, None)
        self.claiming.discard(key)
        before = {} if old is None else old.tasks
        group = None if spec is None else Group.of(key, spec, self._tasks(before), self.marks)
        after = {} if group is None else group.tasks
        for name, task in before.items():
            if after.get(name) is not task:
                self._stands(task, gone=True)
        for name, task in after.items():
            if before.get(name) is not task:
                self._stands(task)
        if group is None:
            return None
        group.started = memory.started.get(key, group.started)
        group.evicted = memory.evicted.get(key, group.evicted)
        group.stale_since = memory.stale.get(key, group.stale_since)
        if any(task.pod.claims for task in after.values()):
            self.claiming.add(key)
        self.groups[key] = group
        return group

    def _tasks(self, before: Mapping[str, Task]) -> Callable[[GroupPod, Group], Task]:
        tried = self.marks.tasks

        def task_of(pod: GroupPod, group: Group) -> Task:
            task = before.get(pod.id)
            known = task is not None and task.pod is pod and task not in tried
            if task is not None and known and (not pod.claims or self._has_claims(task)):
                task.group = group
                return task
            task = Task(pod, self.axes, self.claims.gpus_of(pod) if pod.claims else 0, group)
            if pod.claims:
                self.claims.attach(task)
            return task

        return task_of

    def _stands(self, task: Task, *, gone: bool = False) -> None:
        """A pod stands on the node that the state says, or does not any more."""
        name = task.pod.node
        if name not in self.nodes or task.pod.status not in USING:
            return
        here = self.standing.setdefault(name, set())
        (here.discard if gone else here.add)(task)
        self.marks.nodes.add(name)


def _known(memory: Memory) -> tuple[object, ...]:
    return (memory.settings, memory.started, memory.evicted, memory.stale)


def _requests(state: State) -> Iterable[PodRequest]:
    """Every request once, however many pods share it."""
    pods = (pod for group in state.pod_groups.values() for pod in group.pods)
    return {id(pod.request): pod.request for pod in pods}.values()
