"""Vectors of resources: what pods ask for and nodes have, an axis for each resource of the cluster.

Queues count cpu, memory and GPUs only; a MIG instance counts there as many GPUs as its profile has compute
slices (``mig-3g.20gb`` is three). ``api/resource_info`` of KAI.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pod_groups import PodRequest

CPU: Final = 0
MEMORY: Final = 1
GPU: Final = 2
PODS: Final = 3
MIG_PREFIX: Final = "nvidia.com/mig-"
GPU_RESOURCE: Final = "nvidia.com/gpu"
_FIRST: Final = ("cpu", "memory", GPU_RESOURCE, "pods")
_PROFILE: Final = re.compile(r"nvidia\.com/mig-(\d+)g\.(\d+)gb")

Triple = tuple[float, float, float]
NOTHING: Final[Triple] = (0.0, 0.0, 0.0)


def plus(left: Triple, right: Triple) -> Triple:
    """The sum."""
    return (left[0] + right[0], left[1] + right[1], left[2] + right[2])


def mig_size(resource: str) -> tuple[int, int]:
    """Compute slices and gigabytes of a MIG profile; nothing for a name that is none."""
    found = _PROFILE.fullmatch(resource)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def hundredths(portion: float, count: int) -> float:
    """So many equal portions of a GPU, each in whole hundredths."""
    return int(portion * 100 + 0.5) * count / 100


def requested_gpus(request: PodRequest) -> float:
    """Whole GPUs or fractions of them; a request by memory has no number before it has a node."""
    if request.gpu_memory:
        return 0.0
    return hundredths(request.fraction, request.devices) if request.fraction else float(request.gpus)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What pods of one request ask for in all the ways it is looked at; ``amounts`` are what is not 0."""

    request: PodRequest
    shared: bool
    is_mig: bool
    devices: int
    portion: float
    gpus: float
    claimed: int
    vector: list[float]
    amounts: tuple[tuple[int, float], ...]
    quota: Triple
    quota_gpus: float
    asks_gpu: bool


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes of a cluster, by resource name; shapes are made once for each request."""

    index: Mapping[str, int]
    mig: tuple[tuple[int, int], ...]
    shapes: dict[tuple[int, int], Shape] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, nodes: Iterable[ClusterNode], requests: Iterable[PodRequest]) -> Axes:
        """Those of everything that a node has or a pod asks for."""
        names = {name for node in nodes for name in node.allocatable}
        for request in requests:
            names.update(name for name, _ in (*request.mig, *request.others))
        order = [*_FIRST, *sorted(names.difference(_FIRST))]
        index = {name: number for number, name in enumerate(order)}
        sizes = ((number, mig_size(name)[0]) for name, number in index.items() if name.startswith(MIG_PREFIX))
        return cls(index, tuple((number, size) for number, size in sizes if size))

    def shape_of(self, request: PodRequest, claimed: int) -> Shape:
        """A pod's request, looked at from all sides; ``claimed`` GPUs come through its claims."""
        key = (id(request), claimed)
        known = self.shapes.get(key)
        if known is None:
            known = self.shapes[key] = self._shape(request, claimed)
        return known

    def _shape(self, request: PodRequest, claimed: int) -> Shape:
        vector, gpus = self.of_request(request, claimed), requested_gpus(request)
        mig = sum(mig_size(name)[0] * count for name, count in request.mig)
        return Shape(
            request=request,
            shared=request.shared,
            is_mig=bool(request.mig),
            devices=request.devices if request.shared else request.gpus,
            portion=request.fraction if request.shared else (1.0 if request.gpus else 0.0),
            gpus=gpus,
            claimed=claimed,
            vector=vector,
            amounts=tuple((number, amount) for number, amount in enumerate(vector) if amount),
            quota=self.quota(vector),
            quota_gpus=mig + claimed + gpus,
            asks_gpu=gpus > 0 or claimed > 0 or request.gpu_memory > 0 or bool(request.mig),
        )

    def of_request(self, request: PodRequest, claimed: int) -> list[float]:
        """A pod's vector; ``claimed`` GPUs come through its claims."""
        vector = [0.0] * len(self.index)
        vector[CPU], vector[MEMORY], vector[PODS] = request.cpu, request.memory, 1.0
        vector[GPU] = requested_gpus(request) + claimed
        for name, amount in (*request.mig, *request.others):
            vector[self.index[name]] = float(amount)
        return vector

    def of_amounts(self, amounts: Mapping[str, float]) -> list[float]:
        """A node's vector."""
        vector = [0.0] * len(self.index)
        for name, amount in amounts.items():
            vector[self.index[name]] = float(amount)
        return vector

    def quota(self, vector: list[float]) -> Triple:
        """What queues count of a vector."""
        return (vector[CPU], vector[MEMORY], self.gpus(vector))

    def gpus(self, vector: list[float]) -> float:
        """Whole GPUs and MIG instances of a vector."""
        total = vector[GPU]
        for number, size in self.mig:
            total += size * vector[number]
        return total
