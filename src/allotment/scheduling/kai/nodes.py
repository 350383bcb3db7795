"""A node while a cycle is under way: what is idle, used and being released on it.

A pod that waits for what others release is taken off what is releasing, not off what is idle. What a pod was
counted with is written down, so that it can be taken back. ``api/node_info`` of KAI.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from allotment.scheduling.kai.axes import GPU, GPU_RESOURCE, MIG_PREFIX, Axes, hundredths
from allotment.scheduling.kai.shared_gpus import SharedGpus
from allotment.scheduling.kai.tasks import Task
from allotment.scheduling.state.claimed_devices import is_gpu
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pod_groups import PodStatus

LEAST_MEMORY: Final = 100
_MEMORY_LABEL: Final = "nvidia.com/gpu.memory"
_COUNT_LABEL: Final = "nvidia.com/gpu.count"
_STRATEGY_LABEL: Final = "nvidia.com/mig.strategy"
_MIG_LABEL: Final = "node-role.kubernetes.io/mig-enabled"
_TEBI: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """How a pod was counted."""

    status: PodStatus
    amounts: tuple[tuple[int, float], ...]
    groups: tuple[str, ...] | None
    memory: int
    devices: tuple[str, ...]
    received: tuple[str, ...]


def _number(text: str | None) -> int | None:
    try:
        return int(text or "")
    except ValueError:
        return None


def gpu_memory(labels: Mapping[str, str]) -> tuple[int, bool]:
    """Memory of each GPU in whole hundreds of MiB, and whether the node really says it.

    A label of less than a hundred says nothing: no part of such a GPU is a number.
    """
    told = _number(labels.get(_MEMORY_LABEL))
    mebibytes = 0 if told is None else told if told < _TEBI else told // _TEBI
    if mebibytes < LEAST_MEMORY:
        return LEAST_MEMORY, False
    return mebibytes - mebibytes % 100, True


def _devices_of(task: Task) -> tuple[str, ...]:
    if not task.claims:
        return ()
    keys = (key for devices in task.claims.values() for key in devices or ())
    return tuple(key for key in keys if is_gpu(key))


class Node:
    """A node in the session."""

    __slots__ = (
        "allocatable",
        "changed",
        "device_users",
        "from_claims",
        "gpu_count",
        "gpus_free",
        "idle",
        "kind",
        "labels",
        "legacy",
        "likeness",
        "memory_known",
        "mig",
        "name",
        "releasing",
        "scores",
        "shared",
        "spec",
        "strategy",
        "tasks",
        "touched",
        "used",
    )

    def __init__(self, spec: ClusterNode, axes: Axes, claimable: int) -> None:
        self.spec, self.name, self.labels = spec, spec.name, spec.labels
        self.allocatable = axes.of_amounts(spec.allocatable)
        self.allocatable[GPU] += claimable
        self.from_claims = claimable > 0
        memory, self.memory_known = gpu_memory(spec.labels)
        counted = _number(spec.labels.get(_COUNT_LABEL))
        self.gpu_count = int(spec.allocatable.get(GPU_RESOURCE, 0)) if counted is None else counted
        self.mig = self._is_mig(spec)
        strategy = spec.labels.get(_STRATEGY_LABEL, "") if self.mig else ""
        self.strategy = strategy if strategy in {"single", "mixed"} else ""
        self.kind = (
            *self.allocatable,
            memory,
            self.memory_known,
            self.gpu_count,
            self.mig,
            self.strategy,
            self.from_claims,
        )
        self.changed: set[str] | None = None
        self.touched: set[str] | None = None
        self._open(axes, memory)

    def _open(self, axes: Axes, memory: int) -> None:
        """The books without any pods."""
        taken = axes.of_amounts(self.spec.taken)
        self.used = taken
        self.idle = [have - gone for have, gone in zip(self.allocatable, taken, strict=True)]
        self.releasing = [0.0] * len(taken)
        self.tasks: dict[str, Entry] = {}
        self.shared = SharedGpus(self, memory)
        self.legacy: set[str] = set()
        self.device_users: dict[str, int] = {}
        self.likeness: object = None
        self.scores: dict[object, float] = {}
        self.gpus_free: tuple[float, int, float, int] | None = None

    def reopen(self, axes: Axes) -> None:
        """Begin the books anew."""
        self._open(axes, self.shared.memory)
        self._note()

    def _note(self) -> None:
        if self.changed is not None:
            self.changed.add(self.name)
        if self.touched is not None:
            self.touched.add(self.name)

    @staticmethod
    def _is_mig(spec: ClusterNode) -> bool:
        label = spec.labels.get(_MIG_LABEL)
        if label is not None:
            return label in {"1", "t", "T", "TRUE", "true", "True"}
        return any(name.startswith(MIG_PREFIX) and amount > 0 for name, amount in spec.allocatable.items())

    def like(self) -> object:
        """Equal for nodes that give every pod the same room and the same score."""
        if self.likeness is None:
            shared = self.shared.profile if self.shared.used else ()
            alike = (self.kind, *self.idle, *self.releasing, shared)
            self.likeness = self.name if self.device_users else alike
        return self.likeness

    @property
    def cpu_only(self) -> bool:
        """Whether it has no GPUs of any kind."""
        return not self.mig and self.allocatable[GPU] <= 0 and not self.from_claims

    def not_allocated(self) -> list[float]:
        """What is idle or being released."""
        return [idle + releasing for idle, releasing in zip(self.idle, self.releasing, strict=True)]

    def fits_now(self, task: Task) -> bool:
        """Whether a pod fits into what is idle."""
        return self._fits(task, self.idle)

    def fits(self, task: Task) -> bool:
        """Whether it fits into what is idle or being released."""
        return self._fits(task, self.not_allocated())

    def _fits(self, task: Task, free: list[float]) -> bool:
        if not task.shared:
            spare = self._already_counted(task)
            for number, wanted in enumerate(task.vector):
                have = free[number] + spare if number == GPU else free[number]
                if wanted > have:
                    return False
            return True
        for number, wanted in enumerate(task.vector):
            if number != GPU and wanted > free[number]:
                return False
        if not self.shared.valid(task):
            return False
        return int(free[GPU] // 1) + self.shared.matching(task) >= task.devices

    def _already_counted(self, task: Task) -> int:
        """GPUs of its claims that another pod on the node has brought into the books."""
        if not task.claims:
            return 0
        return sum(key in self.device_users for key in _devices_of(task))

    def accept(self, task: Task, axes: Axes) -> None:
        """What the pod counts for on this node: a request by memory gets its price here."""
        if not task.using:
            return
        if not task.shared and not task.is_mig:
            task.accepted_vector, task.accepted = task.vector, task.quota
            task.accepted_gpus = task.gpus + task.claimed
            return
        if task.is_mig:
            gpus = 0.0
        elif task.shared:
            gpus = hundredths(self.shared.portion_of(task), task.devices)
        else:
            gpus = task.gpus + task.claimed
        task.accepted_vector = [*task.vector[:GPU], gpus, *task.vector[GPU + 1 :]]
        task.accepted = axes.quota(task.accepted_vector)
        task.accepted_gpus = task.quota_gpus if task.is_mig else gpus

    def add(self, task: Task, axes: Axes, *, moved_on_node: bool = False) -> bool:
        """Count a pod; no if it is counted already. One that changes its shared GPU is counted on both."""
        self.accept(task, axes)
        if task.id in self.tasks and not (task.shared and moved_on_node):
            return False
        amounts = self._amounts(task)
        devices = _devices_of(task) if task.claims and any(number == GPU for number, _ in amounts) else ()
        groups = task.gpu_groups if task.shared else None
        entry = Entry(task.status, amounts, groups, self.shared.memory_of(task), devices, task.gpu_groups)
        self.tasks[task.id] = entry
        if task.pod.legacy_mig:
            self.legacy.add(task.id)
        self._count(entry, self._bring_in(devices), 1)
        if groups is not None:
            self.shared.add(groups, entry.memory, entry.status)
            self._forget()
        self._note()
        return True

    def _amounts(self, task: Task) -> tuple[tuple[int, float], ...]:
        """What is counted of a pod: of what the node has, and no GPU that is shared."""
        have = self.allocatable
        if task.accepted_vector is task.vector:
            whole = task.shape.amounts
            if all(have[number] for number, _ in whole):
                return whole
        return tuple(
            (number, amount)
            for number, amount in enumerate(task.accepted_vector)
            if amount and have[number] and not (task.shared and number == GPU)
        )

    def remove(self, task: Task) -> bool:
        """Take a pod back; no if it is not there."""
        entry = self.tasks.pop(task.id, None)
        if entry is None:
            return False
        self._count(entry, self._take_out(entry.devices), -1)
        if entry.groups is not None:
            self.shared.remove(entry.groups, entry.memory, entry.status)
            self._forget()
        self._note()
        return True

    def update(self, task: Task, axes: Axes) -> bool:
        """Count a pod anew as it stands now."""
        return self.remove(task) and self.add(task, axes)

    def _count(self, entry: Entry, others: int, by: int) -> None:
        """``others`` of its GPUs are in the books through other pods."""
        self._forget()
        for number, amount in entry.amounts:
            change = by * (max(0.0, amount - others) if number == GPU else amount)
            self.used[number] += change
            if entry.status is PodStatus.PIPELINED:
                self.releasing[number] -= change
                continue
            self.idle[number] -= change
            if entry.status is PodStatus.RELEASING:
                self.releasing[number] += change

    def _forget(self) -> None:
        """What was found out about it holds no more."""
        self.likeness = self.gpus_free = None
        self.scores.clear()

    def _bring_in(self, devices: tuple[str, ...]) -> int:
        """One more user of each device; how many had one before."""
        before = 0
        for key in devices:
            before += key in self.device_users
            self.device_users[key] = self.device_users.get(key, 0) + 1
        return before

    def _take_out(self, devices: tuple[str, ...]) -> int:
        """One user less of each device; how many still have one."""
        after = 0
        for key in devices:
            left = self.device_users.get(key, 0) - 1
            if left > 0:
                self.device_users[key] = left
                after += 1
            else:
                self.device_users.pop(key, None)
        return after

    def _free(self, axes: Axes) -> tuple[float, int, float, int]:
        if self.gpus_free is None:
            part, memory = self.shared.idle_sum()
            whole = axes.gpus(self.idle)
            part_going, memory_going = self.shared.releasing_sum()
            going = axes.gpus(self.releasing)
            self.gpus_free = (
                part + whole,
                memory + int(whole) * self.shared.memory,
                part_going + going,
                memory_going + int(going) * self.shared.memory,
            )
        return self.gpus_free

    def idle_gpus(self, axes: Axes) -> tuple[float, int]:
        """Idle GPUs of all kinds, and their memory in MiB."""
        return self._free(axes)[:2]

    def releasing_gpus(self, axes: Axes) -> tuple[float, int]:
        """GPUs of all kinds that become free, and their memory in MiB."""
        return self._free(axes)[2:]

    def free_gpus(self, axes: Axes) -> float:
        """Both together."""
        idle, _, going, _ = self._free(axes)
        return idle + going
