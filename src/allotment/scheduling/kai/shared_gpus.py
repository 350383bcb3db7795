"""The books of one node about GPUs that pods share.

A shared GPU is a group of pods with a name. Its memory is counted three ways: used by anybody, allocated to
pods that sit there, and releasing by pods that leave, from which what waits for that memory is taken off
again. Whole GPUs pass between the node's idle and releasing ones as groups begin and end. The rules are those
of ``api/node_info`` (GpuSharingNodeInfo) of KAI, its rounding included.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from allotment.scheduling.kai.axes import GPU
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.state.pod_groups import PodStatus

if TYPE_CHECKING:
    from allotment.scheduling.kai.nodes import Node


class SharedGpus:
    """Shared GPUs of a node, by group."""

    __slots__ = ("allocated", "marked", "memory", "node", "releasing", "used")

    def __init__(self, node: Node, memory: int) -> None:
        self.node = node
        self.memory = memory
        self.used: dict[str, int] = {}
        self.releasing: dict[str, int] = {}
        self.allocated: dict[str, int] = {}
        self.marked: set[str] = set()

    def memory_of(self, task: Task) -> int:
        """The memory of one GPU that a pod asks for, in MiB."""
        return task.by_memory or int(task.portion * self.memory)

    def part_of(self, memory: int) -> float:
        """Memory as part of a GPU of this node, rounded up to hundredths."""
        return math.ceil(memory / self.memory * 100) / 100

    def portion_of(self, task: Task) -> float:
        """The part of a GPU that a pod asks for, on this node."""
        return self.part_of(task.by_memory) if task.by_memory else task.portion

    def valid(self, task: Task) -> bool:
        """Whether that is at most a GPU, or whole ones."""
        portion = self.portion_of(task)
        return portion <= 1 or portion == int(portion)

    def fits(self, task: Task, group: str) -> bool:
        """Whether a pod fits beside the others on a shared GPU, once those that leave have left."""
        if self.used.get(group, 0) == 0:
            return False
        allocated, releasing = self.allocated.get(group, 0), self.releasing.get(group, 0)
        return allocated != releasing and self.memory - allocated + releasing >= self.memory_of(task)

    def fits_now(self, task: Task, group: str) -> bool:
        """Whether it fits at once."""
        return group in self.allocated and self.memory - self.allocated[group] >= self.memory_of(task)

    def matching(self, task: Task) -> int:
        """On how many shared GPUs a pod fits, as far as it needs to know."""
        count = 0
        for group in self.used:
            if self.fits(task, group):
                count += 1
                if count >= task.devices:
                    break
        return count

    @property
    def profile(self) -> tuple[tuple[int, int, int], ...]:
        """How full its shared GPUs are, whatever their names."""
        allocated, releasing = self.allocated, self.releasing
        full = (
            (used, allocated.get(group, 0), releasing.get(group, 0))
            for group, used in self.used.items()
            if used
        )
        return tuple(sorted(full))

    def used_part(self, group: str) -> float:
        """How full a shared GPU is."""
        return self.used.get(group, 0) / self.memory

    @property
    def in_use(self) -> int:
        """How many GPUs are shared now."""
        return sum(used > 0 for used in self.used.values())

    def idle_sum(self) -> tuple[float, int]:
        """What is free on shared GPUs, in GPUs and in MiB."""
        taken = [memory for memory in self.allocated.values() if memory > 0]
        return sum(1 - self.part_of(memory) for memory in taken), sum(self.memory - each for each in taken)

    def releasing_sum(self) -> tuple[float, int]:
        """What becomes free on shared GPUs that stay shared, in GPUs and in MiB."""
        going = [
            memory for group, memory in self.releasing.items() if memory > 0 and not self._leaves_whole(group)
        ]
        return sum(self.part_of(memory) for memory in going), sum(going)

    def available(self) -> float:
        """What is free or becomes free on shared GPUs, in GPUs and not rounded."""
        free = 0.0
        for group, used in self.used.items():
            left = self.memory - self.allocated.get(group, 0) + self.releasing.get(group, 0)
            if used > 0 and left > 0:
                free += left / self.memory
        return free

    def _leaves_whole(self, group: str) -> bool:
        used = self.used.get(group, 0)
        return used != 0 and self.releasing.get(group) == used

    def _too_many_idle(self) -> bool:
        idle, used = self.node.idle[GPU], self.node.used[GPU]
        return self.node.gpu_count < int(idle) + int(used) + self.in_use

    def add(self, groups: tuple[str, ...], memory: int, status: PodStatus) -> None:
        """A pod comes to share GPUs."""
        for group in groups:
            self.used[group] = self.used.get(group, 0) + memory
            _COMING.get(status, SharedGpus._comes)(self, group, memory)

    def remove(self, groups: tuple[str, ...], memory: int, status: PodStatus) -> None:
        """A pod goes."""
        for group in groups:
            self.used[group] = self.used.get(group, 0) - memory
            _GOING.get(status, SharedGpus._goes)(self, group, memory)

    def _comes(self, group: str, memory: int) -> None:
        self.allocated[group] = self.allocated.get(group, 0) + memory
        if self.used[group] <= memory and self._too_many_idle():
            self.node.idle[GPU] -= 1
        if group in self.marked:
            self.node.releasing[GPU] -= 1
            self.marked.discard(group)

    def _comes_leaving(self, group: str, memory: int) -> None:
        self.releasing[group] = self.releasing.get(group, 0) + memory
        self.allocated[group] = self.allocated.get(group, 0) + memory
        if self.used[group] != self.releasing[group]:
            return
        if group not in self.marked:
            self.node.releasing[GPU] += 1
            self.marked.add(group)
        if self._too_many_idle():
            self.node.idle[GPU] -= 1

    def _comes_waiting(self, group: str, memory: int) -> None:
        self.releasing[group] = self.releasing.get(group, 0) - memory
        if self.used[group] - memory == self.releasing[group] + memory:
            self.node.releasing[GPU] -= 1

    def _goes(self, group: str, memory: int) -> None:
        self.allocated[group] = self.allocated.get(group, 0) - memory
        if self.used[group] <= 0 and not self._too_many_idle():
            self.node.idle[GPU] += 1
        if self._leaves_whole(group) and group not in self.marked:
            self.node.releasing[GPU] += 1
            self.marked.add(group)

    def _goes_leaving(self, group: str, memory: int) -> None:
        self.releasing[group] = self.releasing.get(group, 0) - memory
        self.allocated[group] = self.allocated.get(group, 0) - memory
        if self.used[group] > 0:
            return
        if not self._too_many_idle():
            self.node.idle[GPU] += 1
        if group in self.marked:
            self.node.releasing[GPU] -= 1
            self.marked.discard(group)

    def _goes_waiting(self, group: str, memory: int) -> None:
        self.releasing[group] = self.releasing.get(group, 0) + memory
        used, releasing = self.used[group], self.releasing[group]
        if used + memory == releasing - memory or used == releasing == 0:
            self.node.releasing[GPU] += 1


_COMING = {PodStatus.RELEASING: SharedGpus._comes_leaving, PodStatus.PIPELINED: SharedGpus._comes_waiting}
_GOING = {PodStatus.RELEASING: SharedGpus._goes_leaving, PodStatus.PIPELINED: SharedGpus._goes_waiting}
