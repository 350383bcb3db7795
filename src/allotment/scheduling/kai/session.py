"""What a cycle works on: the state in a form that can be tried out and taken back.

Opened from the frozen state, with the books of queues and nodes filled in and fair shares computed
(``framework`` and ``OnSessionOpen`` of the plugins of KAI). ``ground`` is what there is of it already.
"""

from __future__ import annotations

from allotment.scheduling.kai.accounts import Account, open_accounts, share_out
from allotment.scheduling.kai.axes import Triple
from allotment.scheduling.kai.decisions import Decision
from allotment.scheduling.kai.ground import Ground
from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.memory import Memory
from allotment.scheduling.kai.next_pods import quota_to_place
from allotment.scheduling.kai.nodes import Node
from allotment.scheduling.kai.settings import Action
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.kai.ties import Ties
from allotment.scheduling.kai.topology import Topologies
from allotment.scheduling.state.state import State


class Session:
    """A cycle under way."""

    def __init__(
        self, state: State, memory: Memory, now: float, ties: Ties, ground: Ground | None = None
    ) -> None:
        ground = ground or Ground(state, memory)
        self.now, self.ties = now, ties
        self.settings = memory.settings
        self.plugins = memory.settings.plugins
        self.decisions: list[Decision] = []
        self.action = Action.ALLOCATE
        self.claims, self.axes, self.nodes = ground.claims, ground.axes, ground.nodes
        self.least_memory, self.most_memory = ground.least_memory, ground.most_memory
        self.largest, self.total = ground.largest, ground.total
        self.groups = ground.groups
        self.askers = [group for group in self.groups.values() if group.pending]
        self.accounts = open_accounts(state.share_queues)
        self.queue_specs = state.share_queues
        ground.sums.fill(self.accounts, self.groups.values())
        share_out(self.accounts.values(), self.total, self.settings.k)
        self.alike = ground.alike
        self.topologies = Topologies(state.topologies, self.nodes)
        self.serial = 1

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
