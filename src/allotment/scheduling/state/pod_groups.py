"""Pod groups: pods that are scheduled together, as ``scheduling.run.ai/v2alpha2`` PodGroup tells of them.

A group is a tree. Its leaves hold pods and say how many of them are the least; what lies above says how many
of its children are. A flat group has one leaf, named ``default``. Times are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from allotment.devices.nodes import NodeSelector
from allotment.scheduling.state.nodes import Toleration

DEFAULT: Final = "default"


class PodStatus(StrEnum):
    """How far a pod has come, as the scheduler sees it."""

    PENDING = "Pending"
    GATED = "Gated"
    ALLOCATED = "Allocated"
    PIPELINED = "Pipelined"
    BINDING = "Binding"
    BOUND = "Bound"
    RUNNING = "Running"
    RELEASING = "Releasing"
    STUCK = "StuckInReleasing"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


ALLOCATED: Final = frozenset({PodStatus.ALLOCATED, PodStatus.BOUND, PodStatus.BINDING, PodStatus.RUNNING})
ACTIVE: Final = ALLOCATED | {PodStatus.PIPELINED}
USING: Final = ACTIVE | {PodStatus.RELEASING, PodStatus.STUCK}
ALIVE: Final = ACTIVE | {PodStatus.PENDING, PodStatus.GATED}


@dataclass(frozen=True, slots=True)
class PodRequest:
    """What a pod asks for: cpu in thousandths, memory in bytes, and GPUs in one of several ways.

    ``gpus`` are whole ones; ``fraction`` of a GPU or ``gpu_memory`` of it in MiB, on ``devices`` of them;
    ``mig`` instances by resource name; ``others`` are further resources.
    """

    cpu: float = 0.0
    memory: float = 0.0
    gpus: int = 0
    fraction: float = 0.0
    gpu_memory: int = 0
    devices: int = 1
    mig: tuple[tuple[str, int], ...] = ()
    others: tuple[tuple[str, float], ...] = ()

    @property
    def shared(self) -> bool:
        """Whether it asks for part of a GPU."""
        return self.fraction > 0 or self.gpu_memory > 0


@dataclass(frozen=True, slots=True)
class GroupPod:
    """A pod of a group; ``id`` is unique in the cluster, ``leaf`` the part of the group that it belongs to.

    ``order`` is the label ``kai.scheduler/task-priority``; ``leader`` is a master or head pod, which goes
    first. ``gpu_groups`` names the shared GPUs that it sits on, ``claims`` the ResourceClaims that it uses.
    """

    id: str
    status: PodStatus = PodStatus.PENDING
    node: str | None = None
    gpu_groups: tuple[str, ...] = ()
    leaf: str = DEFAULT
    request: PodRequest = PodRequest()
    claims: tuple[str, ...] = ()
    node_selector: Mapping[str, str] = field(default_factory=dict, hash=False)
    affinity: NodeSelector | None = None
    tolerations: tuple[Toleration, ...] = ()
    order: int | None = None
    leader: bool = False
    created: float = 0.0
    legacy_mig: bool = False


@dataclass(frozen=True, slots=True)
class Together:
    """Which level of a topology pods must share, and which they had better share."""

    topology: str
    required: str | None = None
    preferred: str | None = None


@dataclass(frozen=True, slots=True)
class SubGroup:
    """A node of a group's tree: a leaf for pods, or one with children.

    ``minimum`` is that of pods in a leaf; above it that of children, where None stands for all.
    """

    name: str = ""
    minimum: int | None = None
    children: tuple[SubGroup, ...] = ()
    leaf: bool = False
    together: Together | None = None


def flat(minimum: int, together: Together | None = None) -> SubGroup:
    """The tree of a group without sub-groups."""
    return SubGroup(children=(SubGroup(DEFAULT, minimum, leaf=True),), together=together)


@dataclass(frozen=True, slots=True)
class PodGroup:
    """A PodGroup and its pods. What the scheduler writes down about it itself is None where it has not.

    ``delay`` is its preemption delay, ``grace`` its own grace period when it is stale (negative: never).
    ``more`` pods that are not listed wait as well: each asks for what ``like`` does, and comes after all that
    are listed.
    """

    name: str
    queue: str
    pods: tuple[GroupPod, ...] = field(default=(), hash=False)
    tree: SubGroup = field(default_factory=lambda: flat(1))
    priority: int = 0
    preemptible: bool = True
    created: float = 0.0
    started: float | None = None
    evicted: float | None = None
    stale_since: float | None = None
    delay: float | None = None
    grace: float | None = None
    namespace: str = ""
    more: int = 0
    like: GroupPod | None = None

    def with_pods(self, changes: Mapping[str, GroupPod]) -> PodGroup:
        """The group in which these pods are so."""
        return replace(self, pods=tuple(changes.get(pod.id, pod) for pod in self.pods))
