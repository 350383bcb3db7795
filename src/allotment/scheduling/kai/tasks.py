"""A pod while a cycle is under way: what it asks for in all the ways it is looked at, and where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allotment.scheduling.kai.axes import Axes, Triple
from allotment.scheduling.state.claimed_devices import Claim
from allotment.scheduling.state.pod_groups import ACTIVE, ALLOCATED, USING, GroupPod, PodStatus

if TYPE_CHECKING:
    from allotment.scheduling.kai.groups import Group

_LAST = float("inf")


class Task:
    """A pod in the session. What does not change comes first, then its place, then what a node accepted."""

    __slots__ = (
        "accepted",
        "accepted_gpus",
        "accepted_vector",
        "asks_gpu",
        "claimed",
        "claims",
        "devices",
        "given",
        "gpu_groups",
        "gpus",
        "group",
        "id",
        "is_mig",
        "key",
        "leaf",
        "node",
        "pod",
        "portion",
        "quota",
        "quota_gpus",
        "shape",
        "shared",
        "status",
        "vector",
        "virtual",
        "where",
    )

    def __init__(self, pod: GroupPod, axes: Axes, claimed: int, group: Group) -> None:
        shape = self.shape = axes.shape_of(pod.request, claimed)
        self.pod, self.id, self.leaf, self.group = pod, pod.id, pod.leaf, group
        self.shared, self.is_mig, self.asks_gpu = shape.shared, shape.is_mig, shape.asks_gpu
        self.devices, self.portion = shape.devices, shape.portion
        self.gpus, self.claimed, self.quota_gpus = shape.gpus, shape.claimed, shape.quota_gpus
        self.vector: list[float] = shape.vector
        self.quota: Triple = shape.quota
        order = _LAST if pod.order is None else -pod.order
        self.key = (not pod.leader, order, pod.created, pod.id)
        self.status = pod.status
        self.node = pod.node
        self.gpu_groups = pod.gpu_groups
        self.virtual = False
        self.where = ""
        self.claims: dict[str, tuple[str, ...] | None] = {}
        self.given: tuple[Claim | None, ...] = ()
        self.accepted_vector: list[float] = []
        self.accepted: Triple = (0.0, 0.0, 0.0)
        self.accepted_gpus = 0.0

    @property
    def by_memory(self) -> int:
        """The GPU memory that is asked for in MiB, or 0 if it is not asked for so."""
        return self.pod.request.gpu_memory

    @property
    def whole(self) -> bool:
        """Whether it asks neither for a part of a GPU nor for MIG instances."""
        return not self.shared and not self.is_mig

    @property
    def active(self) -> bool:
        """Whether it has a place, or is about to get one."""
        return self.status in ACTIVE

    @property
    def allocated(self) -> bool:
        """Whether it has a place now."""
        return self.status in ALLOCATED

    @property
    def using(self) -> bool:
        """Whether a node accounts for it."""
        return self.status in USING

    def priced(self, memory: int) -> float:
        """A request by memory in GPUs of this memory."""
        if self.by_memory <= 0 or memory <= 0:
            return 0.0
        return self.devices * (self.by_memory / memory)

    def to_place(self, *, real: bool) -> bool:
        """Whether it waits for a place; in a simulation what was just evicted waits too."""
        if self.status is PodStatus.PENDING:
            return True
        return self.virtual and not real and self.status is PodStatus.RELEASING

    def __repr__(self) -> str:
        return f"Task({self.id} {self.status}@{self.node})"
