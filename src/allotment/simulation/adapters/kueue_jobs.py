"""A work as Kueue sees it: a Job with its Workload, or with two while it asks to grow; a fleet pod by pod.

A campaign's Job is elastic: another width is another slice, which takes the place of the one before it
(``ElasticJobsViaWorkloadSlices``). A gang that may start with fewer is admitted partially. Each pod of a
Deployment is a Workload of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from allotment.scheduling.state.workloads import Admission, PodSet, PodSetAdmission, Workload
from allotment.simulation.adapters.adapter import PodId
from allotment.simulation.work import Ask, Kind, Work

MAIN: Final = "main"
_WHOLE: Final = "nvidia.com/gpu"


@dataclass(slots=True)
class Job:
    """A work that has arrived; ``granted`` and ``asked`` are its Workloads with and without quota.

    ``width`` is the Job's parallelism, ``admitted`` for how many pods it has quota, ``left`` for how many
    there is work. ``stepped`` is when its width was moved last, ``refused`` how often a growth was in a row.
    """

    work: Work
    key: str
    queue: str
    shape: str
    created: float
    width: int
    left: int
    granted: str | None = None
    asked: str | None = None
    admitted: int = 0
    serial: int = 0
    pods: dict[PodId, float | None] = field(default_factory=dict)
    leaving: set[PodId] = field(default_factory=set)
    evicted: float | None = None
    stepped: float = float("-inf")
    paused: float = float("-inf")
    refused: int = 0
    reclaimed: bool = False
    ready: int = 0

    @property
    def elastic(self) -> bool:
        """Whether its width may be moved."""
        return self.work.kind is Kind.CAMPAIGN

    @property
    def may_move(self) -> bool:
        """Whether there is more than one width that it may have."""
        return self.elastic and self.work.most > 1

    @property
    def grows(self) -> bool:
        """Whether it asks for more than it has."""
        return self.granted is not None and self.asked is not None

    @property
    def waits(self) -> bool:
        """Whether it has no quota and asks for some."""
        return self.granted is None and self.asked is not None

    @property
    def placed(self) -> int:
        """How many of its pods stand on nodes and stay there."""
        return sum(since is not None and pod not in self.leaving for pod, since in self.pods.items())

    @property
    def unplaced(self) -> int:
        """How many have no place yet."""
        return sum(since is None for since in self.pods.values())

    def next_name(self) -> str:
        """A name for one more slice."""
        self.serial += 1
        return f"{self.work.name}.{self.serial}"

    def workload(self, name: str, count: int, now: float, replaces: str | None = None) -> Workload:
        """A Workload of it that asks for so many pods."""
        work, ask = self.work, self.work.ask
        namespace = self.key.rpartition("/")[0]
        partial = work.kind is Kind.GANG and work.least < count
        pods = PodSet(
            MAIN,
            count,
            requests=ask.charges,
            pod=pod_amounts(ask),
            min_count=max(1, work.least) if partial else None,
            node_selector=ask.node_selector,
            affinity=ask.affinity,
            tolerations=ask.tolerations,
            shape=self.shape,
        )
        return Workload(
            namespace=namespace,
            name=name,
            queue=self.queue,
            pod_sets=(pods,),
            uid=name,
            job_uid=self.key,
            priority=work.priority,
            created=now,
            replaces=replaces,
            elastic=self.elastic,
            owned_by_pod=work.kind is Kind.FLEET,
        )

    def youngest(self, count: int) -> list[PodId]:
        """The pods on nodes that go first when its width is cut, as the Job controller picks them."""
        standing = [
            (-since, pod) for pod, since in self.pods.items() if since is not None and pod not in self.leaving
        ]
        return [pod for _, pod in sorted(standing)[: max(0, count)]]


def pod_amounts(ask: Ask) -> dict[str, int]:
    """What a pod asks a node for, as amounts."""
    request = ask.request
    amounts = {"cpu": int(request.cpu), "memory": int(request.memory), _WHOLE: request.gpus}
    amounts |= {name: int(amount) for name, amount in (*request.mig, *request.others)}
    return {name: amount for name, amount in amounts.items() if amount}


def resized(workload: Workload, count: int) -> Workload:
    """The Workload with another number of pods, changed in place."""
    pods = replace(workload.pod_sets[0], count=count)
    return replace(workload, pod_sets=(pods,), generation=workload.generation + 1)


def with_done(workload: Workload, left: int) -> Workload:
    """The Workload with the pods given back for which there is no work any more (``reclaimablePods``)."""
    spare = max(0, workload.pod_sets[0].count - left)
    return replace(workload, reclaimable={MAIN: spare} if spare else {})


def admitted(workload: Workload, cluster_queue: str, flavors: Mapping[str, str], now: float) -> Workload:
    """The Workload as one that has had quota since before the beginning."""
    pods = workload.pod_sets[0]
    usage = {name: amount * pods.count for name, amount in pods.requests.items()}
    given = PodSetAdmission(pods.name, pods.count, flavors, usage)
    return replace(
        workload,
        admission=Admission(cluster_queue, (given,)),
        reserved=True,
        reserved_at=now,
        admitted=True,
        pods_ready=True,
    )
