"""The whole of what a scheduler decides on, at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from allotment.devices.world import World
from allotment.scheduling.state.claimed_devices import Claim, DeviceOfNode
from allotment.scheduling.state.copying import copied
from allotment.scheduling.state.nodes import ClusterNode, Flavor, Topology
from allotment.scheduling.state.pod_groups import PodGroup
from allotment.scheduling.state.pods import Gang, Pod
from allotment.scheduling.state.queues import ClusterQueue, Cohort, LocalQueue
from allotment.scheduling.state.share_queues import ShareQueue
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.workloads import Workload

_NO_WORKLOADS: Shelf[str, Workload] = Shelf()
_NO_PODS: Shelf[str, Pod] = Shelf()
_NO_GROUPS: Shelf[str, PodGroup] = Shelf()


@dataclass(frozen=True, slots=True)
class State:
    """Queues, quotas, nodes and workloads, by name; what is of a namespace by ``namespace/name``.

    ``namespaces`` has the labels of each; a namespace that is not there has none. What Kueue goes by are
    ``cluster_queues`` and ``workloads``; KAI goes by ``share_queues``, ``pod_groups`` and the ``devices``,
    the default scheduler by ``pods``, ``gangs`` and what devices are ``published``.
    """

    cluster_queues: Mapping[str, ClusterQueue] = field(default_factory=dict, hash=False)
    cohorts: Mapping[str, Cohort] = field(default_factory=dict, hash=False)
    local_queues: Mapping[str, LocalQueue] = field(default_factory=dict, hash=False)
    flavors: Mapping[str, Flavor] = field(default_factory=dict, hash=False)
    topologies: Mapping[str, Topology] = field(default_factory=dict, hash=False)
    nodes: Mapping[str, ClusterNode] = field(default_factory=dict, hash=False)
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    workloads: Shelf[str, Workload] = field(default=_NO_WORKLOADS, hash=False)
    share_queues: Mapping[str, ShareQueue] = field(default_factory=dict, hash=False)
    pod_groups: Shelf[str, PodGroup] = field(default=_NO_GROUPS, hash=False)
    devices: tuple[DeviceOfNode, ...] = field(default=(), hash=False)
    device_classes: frozenset[str] = frozenset()
    claims: Mapping[str, Claim] = field(default_factory=dict, hash=False)
    pods: Shelf[str, Pod] = field(default=_NO_PODS, hash=False)
    gangs: Mapping[str, Gang] = field(default_factory=dict, hash=False)
    published: World | None = field(default=None, hash=False)

    def with_workloads(self, changes: Mapping[str, Workload | None]) -> State:
        """The state in which these workloads are so; None takes one away."""
        return copied(self, workloads=self.workloads.put(changes)) if changes else self

    def with_pods(self, changes: Mapping[str, Pod | None]) -> State:
        """The state in which these pods are so; None takes one away."""
        return copied(self, pods=self.pods.put(changes)) if changes else self

    def with_pod_groups(self, changes: Mapping[str, PodGroup | None]) -> State:
        """The state in which these pod groups are so; None takes one away."""
        return copied(self, pod_groups=self.pod_groups.put(changes)) if changes else self
