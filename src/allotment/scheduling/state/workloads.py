"""Workloads: what a job asks for, and how far its admission has come.

The fields are those of ``kueue.x-k8s.io/v1beta2`` Workload, with the conditions turned into what they say.
Times are seconds. ``requests`` of a pod set is what one pod is charged in quota; ``pod`` is what its pod
really asks a node for, which placement by topology goes by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from allotment.devices.nodes import NodeSelector
from allotment.scheduling.state.nodes import Toleration


@dataclass(frozen=True, slots=True)
class SliceLayer:
    """Pods that stay together in one domain of a level, ``size`` at a time."""

    level: str
    size: int


@dataclass(frozen=True, slots=True)
class TopologyRequest:
    """Where the pods of a set may be placed in relation to each other."""

    required: str | None = None
    preferred: str | None = None
    unconstrained: bool | None = None
    group: str | None = None
    layers: tuple[SliceLayer, ...] = ()
    sliced: bool = False

    @property
    def explicit(self) -> bool:
        """Whether it asks for anything but to share a flavor with another set."""
        named = self.required is not None or self.preferred is not None or self.unconstrained is not None
        return named or self.sliced or bool(self.layers)


@dataclass(frozen=True, slots=True)
class PodSet:
    """Pods that are alike. ``shape`` is equal for pods that a scheduler cannot tell apart."""

    name: str
    count: int
    requests: Mapping[str, int] = field(default_factory=dict, hash=False)
    pod: Mapping[str, int] = field(default_factory=dict, hash=False)
    min_count: int | None = None
    node_selector: Mapping[str, str] = field(default_factory=dict, hash=False)
    affinity: NodeSelector | None = None
    preferred: tuple[tuple[int, NodeSelector], ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: TopologyRequest | None = None
    shape: str = ""


@dataclass(frozen=True, slots=True)
class DomainCount:
    """How many pods stand in one domain."""

    values: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the pods of a set stand: the levels that are told, and the domains."""

    levels: tuple[str, ...]
    domains: tuple[DomainCount, ...]


@dataclass(frozen=True, slots=True)
class PodSetAdmission:
    """What one pod set was given: a flavor and a total by resource, how many pods, and where."""

    name: str
    count: int
    flavors: Mapping[str, str] = field(default_factory=dict, hash=False)
    usage: Mapping[str, int] = field(default_factory=dict, hash=False)
    placement: Placement | None = None
    delayed: str | None = None


@dataclass(frozen=True, slots=True)
class Admission:
    """A quota reservation."""

    cluster_queue: str
    pod_sets: tuple[PodSetAdmission, ...]


@dataclass(frozen=True, slots=True)
class Eviction:
    """That a workload has to leave: Kueue's reason, and when it was told."""

    reason: str
    at: float
    message: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a workload has no quota."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class CheckState:
    """How one admission check stands, and what it adds to the pods' node selectors."""

    name: str
    state: str
    node_selectors: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    tolerations: Mapping[str, tuple[Toleration, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload; ``queue`` is the name of its LocalQueue in its namespace."""

    namespace: str
    name: str
    queue: str
    pod_sets: tuple[PodSet, ...]
    uid: str = ""
    job_uid: str = ""
    priority: int = 0
    boost: int = 0
    created: float = 0.0
    generation: int = 0
    active: bool = True
    gated: bool = False
    on_hold: bool = False
    finished: bool = False
    replaces: str | None = None
    elastic: bool = False
    allowed_flavors: tuple[str, ...] | None = None
    parent: str | None = None
    owned_by_pod: bool = False
    preemption_gated: bool = False
    faults: tuple[str, ...] = ()
    admission: Admission | None = None
    reserved: bool = False
    reserved_at: float | None = None
    admitted: bool = False
    evicted: Eviction | None = None
    preempted: Eviction | None = None
    waiting: Waiting | None = None
    held_back: bool = False
    requeue_at: float | None = None
    reclaimable: Mapping[str, int] = field(default_factory=dict, hash=False)
    checks: tuple[CheckState, ...] = ()
    unhealthy: tuple[str, ...] = ()
    pods_ready: bool = False

    @property
    def key(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"

    @property
    def queue_key(self) -> str:
        """Its LocalQueue."""
        return f"{self.namespace}/{self.queue}"
