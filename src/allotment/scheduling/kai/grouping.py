"""Which pod group KAI's pod-grouper makes of a workload, and how many of its pods are the least.

By the kind of the owner: a batch Job is one group that needs one pod unless an annotation says more, a JobSet
is a tree of its replicated jobs (before 0.16 it was one flat group), the training jobs of Kubeflow are gangs.
Facts from ``pkg/podgrouper`` of KAI; the built-in priority classes are those of its chart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from allotment.scheduling.state.pod_groups import DEFAULT, SubGroup, Together

Object = Mapping[str, Any]
Version = tuple[int, int]

MIN_MEMBER: Final = "kai.scheduler/batch-min-member"
QUEUE: Final = "kai.scheduler/queue"
PREEMPTIBILITY: Final = "kai.scheduler/preemptibility"
TOPOLOGY: Final = "kai.scheduler/topology"
REQUIRED: Final = "kai.scheduler/topology-required-placement"
PREFERRED: Final = "kai.scheduler/topology-preferred-placement"
DEFAULT_QUEUE: Final = "default-queue"
PRIORITIES: Final = {"train": 50, "build-preemptible": 75, "build": 100, "inference": 125}
LATEST: Final[Version] = (0, 17)
_LEAST_FIRM: Final = 100
_TREES_SINCE: Final[Version] = (0, 16)
_ONE_SINCE: Final[Version] = (0, 15)


@dataclass(frozen=True, slots=True)
class Grouping:
    """A group as the pod-grouper would write it down."""

    name: str
    queue: str
    priority_class: str
    priority: int
    preemptible: bool
    tree: SubGroup


def grouping(owner: Object, version: Version = LATEST, node_pool: str = "") -> Grouping:
    """The group of a workload; ``owner`` is the topmost object above the pods."""
    metadata = owner.get("metadata", {})
    kind = str(owner.get("kind", ""))
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    priority_class = labels.get("priorityClassName") or _CLASSES.get(kind, "train")
    priority = PRIORITIES.get(priority_class, PRIORITIES["train"])
    stated = labels.get(PREEMPTIBILITY)
    tree = _TREES.get(kind, _one_pod)(owner, version)
    return Grouping(
        name=f"pg-{metadata.get('name', '')}-{metadata.get('uid', '')}",
        queue=_queue(labels, node_pool),
        priority_class=priority_class,
        priority=priority,
        preemptible=stated == "preemptible" if stated else priority < _LEAST_FIRM,
        tree=SubGroup(tree.name, tree.minimum, tree.children, together=_together(annotations)),
    )


def _queue(labels: Mapping[str, str], node_pool: str) -> str:
    """The label; an annotation of that name is not looked at."""
    if labels.get(QUEUE):
        return labels[QUEUE]
    project = labels.get("project")
    if not project:
        return DEFAULT_QUEUE
    return f"{project}-{node_pool}" if node_pool else project


def _together(annotations: Mapping[str, str]) -> Together | None:
    topology = annotations.get(TOPOLOGY)
    required, preferred = annotations.get(REQUIRED), annotations.get(PREFERRED)
    if not topology or not (required or preferred):
        return None
    return Together(topology, required, preferred)


def _annotations(owner: Object) -> Mapping[str, str]:
    return (owner.get("metadata") or {}).get("annotations") or {}


def _flat(minimum: int) -> SubGroup:
    return SubGroup(children=(SubGroup(DEFAULT, minimum, leaf=True),))


def _one_pod(_owner: Object, _version: Version) -> SubGroup:
    return _flat(1)


def _batch_job(owner: Object, _version: Version) -> SubGroup:
    return _flat(int(_annotations(owner).get(MIN_MEMBER, 1)))


def _job_set(owner: Object, version: Version) -> SubGroup:
    spec = owner.get("spec") or {}
    jobs: Sequence[Object] = spec.get("replicatedJobs") or ()
    if version < _ONE_SINCE:
        return _flat(sum(_replicas(job) * _parallelism(job) for job in jobs))
    if version < _TREES_SINCE:
        return _flat(1)
    override = _annotations(owner).get(MIN_MEMBER)
    in_order = (spec.get("startupPolicy") or {}).get("startupPolicyOrder") == "InOrder"
    least = 1 if in_order else len(jobs)
    if override is not None:
        least = min(int(override), len(jobs))
    return SubGroup(minimum=least, children=tuple(_replicated(job) for job in jobs))


def _replicated(job: Object) -> SubGroup:
    """A replicated job, with a leaf for each replica; all of them are needed."""
    template = (job.get("template") or {}).get("metadata") or {}
    annotations = template.get("annotations") or {}
    least = int(annotations.get(MIN_MEMBER, _parallelism(job)))
    together, count = _together(annotations), _replicas(job)
    leaves = (
        SubGroup(f"{job['name']}-replica-{number}", least, leaf=True, together=together)
        for number in range(count)
    )
    return SubGroup(str(job["name"]), count, tuple(leaves))


def _replicas(job: Object) -> int:
    return int(job.get("replicas", 1))


def _parallelism(job: Object) -> int:
    return int(((job.get("template") or {}).get("spec") or {}).get("parallelism", 1))


def _leader_worker_set(owner: Object, _version: Version) -> SubGroup:
    """One of its groups: the leader and the workers, all of them."""
    template = (owner.get("spec") or {}).get("leaderWorkerTemplate") or {}
    workers = int(template.get("size", 1)) - 1
    parts = [SubGroup("leader", 1, leaf=True)]
    if workers > 0:
        parts.append(SubGroup("workers", workers, leaf=True))
    return SubGroup(children=tuple(parts))


def _training(replica_specs: str) -> Callable[[Object, Version], SubGroup]:
    """A training job: what its policy says is the least, else all of its replicas."""

    def tree(owner: Object, _version: Version) -> SubGroup:
        spec = owner.get("spec") or {}
        policy = ((spec.get("runPolicy") or {}).get("schedulingPolicy") or {}).get("minAvailable")
        elastic = (spec.get("elasticPolicy") or {}).get("minReplicas")
        replicas = sum(int(each.get("replicas", 1)) for each in (spec.get(replica_specs) or {}).values())
        return _flat(int(next(least for least in (policy, elastic, replicas) if least is not None)))

    return tree


def _ray_cluster(owner: Object, _version: Version) -> SubGroup:
    """The head, and a leaf for each group of workers with the least number of its hosts."""
    spec = owner.get("spec") or {}
    cluster = spec.get("rayClusterSpec") or spec.get("rayClusterConfig") or spec
    leaves = [SubGroup("headgroup", 1, leaf=True)]
    for number, workers in enumerate(cluster.get("workerGroupSpecs") or ()):
        least = workers.get("minReplicas")
        hosts = int(workers.get("numOfHosts", 1))
        count = int(workers.get("replicas", 0) if least is None else least) * hosts
        leaves.append(SubGroup(str(workers.get("groupName", f"workers-{number}")), count, leaf=True))
    return SubGroup(children=tuple(leaves))


_CLASSES: Final = {"Deployment": "inference"}
_TREES: Final[Mapping[str, Callable[[Object, Version], SubGroup]]] = {
    "Job": _batch_job,
    "JobSet": _job_set,
    "LeaderWorkerSet": _leader_worker_set,
    "PyTorchJob": _training("pytorchReplicaSpecs"),
    "TFJob": _training("tfReplicaSpecs"),
    "XGBoostJob": _training("xgbReplicaSpecs"),
    "JAXJob": _training("jaxReplicaSpecs"),
    "MPIJob": _training("mpiReplicaSpecs"),
    "RayCluster": _ray_cluster,
    "RayJob": _ray_cluster,
    "RayService": _ray_cluster,
}
