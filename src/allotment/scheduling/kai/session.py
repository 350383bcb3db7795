"""What a cycle works on: the state in a form that can be tried out and taken back.

Opened from the frozen state, with the books of queues and nodes filled in and fair shares computed
(``framework`` and ``OnSessionOpen`` of the plugins of KAI).
"""

from __future__ import annotations

from allotment.scheduling.kai.accounts import Account, open_accounts, share_out
from allotment.scheduling.kai.alike import Alike
from allotment.scheduling.kai.axes import NOTHING, Axes, Triple, plus
from allotment.scheduling.kai.claims import Claims, claimed_gpus
from allotment.scheduling.kai.decisions import Decision
from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.memory import Memory
from allotment.scheduling.kai.next_pods import quota_to_place
from allotment.scheduling.kai.nodes import LEAST_MEMORY, Node
from allotment.scheduling.kai.settings import Action
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.kai.ties import Ties
from allotment.scheduling.kai.topology import Topologies
from allotment.scheduling.state.pod_groups import PodStatus
from allotment.scheduling.state.state import State


class Session:
    """A cycle under way."""

    def __init__(self, state: State, memory: Memory, now: float, ties: Ties) -> None:
        self.now, self.ties = now, ties
        self.settings = memory.settings
        self.plugins = memory.settings.plugins
        self.decisions: list[Decision] = []
        self.action = Action.ALLOCATE
        self.claims = Claims(state)
        pods = {id(pod.request): pod.request for group in state.pod_groups.values() for pod in group.pods}
        self.axes = Axes.of(state.nodes.values(), pods.values())
        self.nodes = {
            name: Node(node, self.axes, self.claims.gpus_of_node(name)) for name, node in state.nodes.items()
        }
        told = [node.shared.memory for node in self.nodes.values() if node.shared.memory > LEAST_MEMORY]
        self.least_memory = min(told, default=LEAST_MEMORY)
        self.most_memory = max(told, default=LEAST_MEMORY)
        allocatable = [node.allocatable for node in self.nodes.values()]
        self.largest = [max(column) for column in zip(*allocatable, strict=True)]
        self.groups = self._groups(state, memory)
        self.askers = [group for group in self.groups.values() if group.pending]
        self.total = self._total()
        self.accounts = open_accounts(state.share_queues)
        self.queue_specs = state.share_queues
        self._fill_accounts()
        self.alike = Alike(self.nodes)
        self.topologies = Topologies(state.topologies, self.nodes)
        self.serial = 1

    def _groups(self, state: State, memory: Memory) -> dict[str, Group]:
        claimed = {name: claimed_gpus(claim) for name, claim in state.claims.items()}
        groups: dict[str, Group] = {}
        placed: list[Task] = []
        for key, spec in state.pod_groups.items():
            group = Group.of(key, spec, self.axes, claimed)
            group.started = memory.started.get(key, group.started)
            group.evicted = memory.evicted.get(key, group.evicted)
            group.stale_since = memory.stale.get(key, group.stale_since)
            groups[key] = group
            placed += [task for task in group.tasks.values() if task.using]
        for task in sorted(placed, key=lambda task: task.id):
            self.claims.attach(task)
            node = self.nodes.get(task.node or "")
            if node is not None:
                node.add(task, self.axes)
        for group in groups.values():
            for task in group.tasks.values():
                if not task.using:
                    self.claims.attach(task)
        return groups

    def _total(self) -> Triple:
        total = NOTHING
        for node in self.nodes.values():
            if node.spec.ready:
                taken = self.axes.quota(self.axes.of_amounts(node.spec.taken))
                total = plus(total, self.axes.quota(node.allocatable))
                total = plus(total, (-taken[0], -taken[1], -taken[2]))
        return total

    def _fill_accounts(self) -> None:
        for group in self.groups.values():
            account = self.accounts.get(group.queue)
            if account is None:
                continue
            for task in group.tasks.values():
                if task.allocated:
                    account.hold(task.accepted, firmly=not group.preemptible)
                    account.ask(task.accepted)
                elif task.status is PodStatus.PENDING:
                    account.ask(plus(task.quota, (0.0, 0.0, task.priced(self.least_memory))))
        share_out(self.accounts.values(), self.total, self.settings.k)

    def leaf_of(self, group: Group) -> Account | None:
        """The books of the queue that a group is in, if it is one that runs jobs."""
        account = self.accounts.get(group.queue)
        return account if account is not None and account.leaf else None

    def taken(self, task: Task) -> None:
        """A pod got a place."""
        account = self.accounts.get(task.group.queue)
        if account is not None:
            account.hold(task.accepted, firmly=not task.group.preemptible)
        if task.pod.claims:
            self.claims.allocate(task)

    def given_back(self, task: Task) -> None:
        """A pod lost it."""
        account = self.accounts.get(task.group.queue)
        if account is not None:
            account.hold(task.accepted, firmly=not task.group.preemptible, by=-1)
        if task.pod.claims:
            self.claims.give_back(task)

    def asked_by(self, group: Group, *, real: bool = False) -> Triple:
        """What queues count of the pods of a group that come next."""
        return quota_to_place(group, real=real, gpu_memory=self.least_memory)

    def new_gpu_group(self, node: Node) -> str:
        """A name for a GPU that begins to be shared, which no other of the node has."""
        while (name := f"{node.name}+{self.serial}") in node.shared.used:
            self.serial += 1
        self.serial += 1
        return name
