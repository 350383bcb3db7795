"""A cluster with Kueue in it, played as it was seen to behave, for tests of the window controller.

Kueue and the Job controller are told to act by `World.play`; what they do is what a real control plane with
Kueue's own manager did (see `docs/elastic-indexed-job.md`). Nothing here is asked for its opinion: the tests
hold what is decided against `World.used` and what became of the Jobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.operate import Decision

START = 1_800_000_000.0
FLAVOR = "allotment"
MANAGED = {"app.kubernetes.io/managed-by": "allotment"}


def stamp(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class Workload:
    """A slice. ``count`` is its spec's, ``granted`` its admission's."""

    number: int
    count: int
    created: float
    granted: int | None = None
    since: float = 0.0
    evicted: bool = False
    finished: str = ""
    reclaimable: int = 0
    active: bool = True
    reason: str = ""

    @property
    def charged(self) -> int:
        return 0 if self.granted is None or self.finished else max(0, self.count - self.reclaimable)


@dataclass
class Work:
    """A Job of a queue, or of none."""

    name: str
    queue: str | None = "archive"
    window: tuple[int, int] | None = (2, 8)
    width: int = 2
    completions: int = 20
    done: int = 0
    cards: int = 1
    created: float = START
    stepped: float = START
    owners: tuple[str, ...] = ("allotment-window",)
    annotations: dict[str, str] = field(default_factory=dict)
    elastic: bool = True
    unplaced: int = 0
    scheduler: str = "default-scheduler"
    suspended: bool = False
    ours: bool = True
    slices: list[Workload] = field(default_factory=list)

    @property
    def left(self) -> int:
        return self.completions - self.done

    @property
    def namespace(self) -> str:
        return self.queue or "archive"

    @property
    def granted(self) -> Workload | None:
        return next((each for each in self.slices if each.granted is not None and not each.finished), None)

    @property
    def asked(self) -> Workload | None:
        return next((each for each in self.slices if each.granted is None and not each.finished), None)

    @property
    def running(self) -> int:
        granted = self.granted
        if self.queue is None:
            return min(self.width, self.left)
        if granted is None or granted.evicted:
            return 0
        return min(granted.count, self.width, self.left)


@dataclass
class Queue:
    """A ClusterQueue of one resource. ``limit`` bounds what it uses, borrowed and all."""

    quota: int
    limit: int | None = None
    stopped: bool = False


@dataclass
class World:
    """All of it. ``devices`` are cards of one node; None: none are published."""

    works: dict[str, Work] = field(default_factory=dict)
    queues: dict[str, Queue] = field(default_factory=lambda: {"archive": Queue(4), "laboratory": Queue(4)})
    devices: int | None = 64
    clock: float = START + 1000
    reclaims: bool = True
    victims: int = 0

    def add(self, work: Work) -> Work:
        self.works[work.name] = work
        return work

    def admitted(self, work: Work) -> Work:
        """A Job that has been admitted at its width, a while ago."""
        work.slices.append(Workload(1, work.width, work.created, work.width, work.created))
        return self.add(work)

    def used(self, queue: str) -> int:
        return sum(each.charged * work.cards for work in self._in(queue) for each in work.slices)

    @property
    def total(self) -> int:
        return sum(each.quota for each in self.queues.values())

    def free(self, queue: str) -> int:
        """What a queue could have without a victim."""
        idle = self.total - sum(map(self.used, self.queues))
        limit = self.queues[queue].limit
        return idle if limit is None else min(idle, limit - self.used(queue))

    def write(self, decisions: Sequence[Decision]) -> list[Decision]:
        """Write what was decided, as the API server would: only what was looked at."""
        moves = [each for each in decisions if each.is_move]
        for each in moves:
            work = self.works[each.name]
            assert work.width == each.width
            work.width, work.stepped = each.to, self.clock
        return moves

    def play(self, seconds: float = 1.0) -> None:
        """The Job controller's and Kueue's turn, after so long."""
        self.clock += seconds
        for work in self.works.values():
            if work.queue is not None:
                self._reconcile(work)
        waiting = [work for work in self.works.values() if work.asked is not None and work.asked.active]
        for work in sorted(waiting, key=lambda each: (each.asked.created if each.asked else 0, each.name)):
            self._try(work)

    def _reconcile(self, work: Work) -> None:
        granted, asked = work.granted, work.asked
        if granted is not None and granted.evicted:
            granted.granted, granted.evicted = None, True
            granted.reason = "WaitingForQuota"
            return
        if granted is None and asked is None:
            work.slices.append(Workload(len(work.slices) + 1, work.width, self.clock))
        elif asked is not None and granted is None:
            asked.count = work.width
        elif granted is not None and work.width <= granted.count:
            granted.count = work.width
            if asked is not None:
                asked.finished = "OutOfSync"
        elif asked is not None:
            asked.count = work.width
        else:
            work.slices.append(Workload(len(work.slices) + 1, work.width, self.clock))
        if work.width > 1 and work.left < work.width:
            for each in work.slices:
                if not each.finished:
                    each.reclaimable = max(each.reclaimable, work.width - work.left)

    def _try(self, work: Work) -> None:
        asked, granted, queue = work.asked, work.granted, work.queue
        assert asked is not None
        assert queue is not None
        if self.queues[queue].stopped:
            asked.reason = "Suspended"
            return
        need = (asked.count - asked.reclaimable) * work.cards - (
            granted.charged * work.cards if granted else 0
        )
        if need > self.free(queue) and not self._reclaimed(queue, need):
            asked.reason = "WaitingForQuota"
            return
        asked.granted, asked.since, asked.evicted = asked.count, self.clock, False
        if granted is not None:
            granted.finished = "WorkloadSliceReplaced"

    def _reclaimed(self, queue: str, need: int) -> bool:
        """Evict whole Jobs of queues that borrow, for one that only wants its own."""
        own = self.queues[queue].quota - self.used(queue)
        if not self.reclaims or need > own:
            return False
        for name in self.queues:
            for work in self._in(name):
                granted = work.granted
                if name != queue and granted is not None and self.used(name) > self.queues[name].quota:
                    granted.granted, granted.evicted, granted.reason = None, True, "WaitingForQuota"
                    self.victims += 1
                    if need <= self.free(queue):
                        return True
        return need <= self.free(queue)

    def _in(self, queue: str) -> Iterator[Work]:
        return (work for work in self.works.values() if work.queue == queue)

    def snapshot(self) -> Snapshot:
        return Snapshot(self.clock, tuple(self._objects()))

    def _objects(self) -> Iterator[Object]:
        if any(work.queue for work in self.works.values()):
            yield _object("kueue.x-k8s.io/v1beta2", "Cohort", "all", None, spec={})
            for name, queue in self.queues.items():
                yield from self._queue(name, queue)
        for work in self.works.values():
            yield job(work)
            for each in work.slices:
                yield workload(work, each)
            for number in range(work.unplaced):
                yield pod(work, number)
        yield from self._of_devices()

    def _queue(self, name: str, queue: Queue) -> Iterator[Object]:
        quota: dict[str, Any] = {"name": "gpus", "nominalQuota": str(queue.quota)}
        if queue.limit is not None:
            quota["borrowingLimit"] = str(queue.limit - queue.quota)
        spec: dict[str, Any] = {
            "cohortName": "all",
            "resourceGroups": [
                {"coveredResources": ["gpus"], "flavors": [{"name": FLAVOR, "resources": [quota]}]}
            ],
        }
        if queue.stopped:
            spec["stopPolicy"] = "Hold"
        total = {"name": "gpus", "total": str(self.used(name))}
        status = {"flavorsReservation": [{"name": FLAVOR, "resources": [total]}]}
        yield _object("kueue.x-k8s.io/v1beta2", "ClusterQueue", name, None, spec=spec, status=status)
        local = {"clusterQueue": name}
        yield _object("kueue.x-k8s.io/v1beta2", "LocalQueue", name, name, spec=local)

    def _of_devices(self) -> Iterator[Object]:
        if self.devices is None:
            return
        api = "resource.k8s.io/v1"
        driver, node = "gpu.nvidia.com", "node-1"
        devices = [{"name": f"gpu-{number}", "attributes": {}} for number in range(self.devices)]
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": devices}
        yield _object(api, "ResourceSlice", "slice-1", None, spec=spec)
        selector = {"cel": {"expression": f"device.driver == '{driver}'"}}
        yield _object(api, "DeviceClass", driver, None, spec={"selectors": [selector]})
        yield _object("v1", "Node", node, None, spec={})
        number = 0
        for work in self.works.values():
            exactly = {"deviceClassName": driver, "count": work.cards}
            wanted = {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}
            yield _object(api, "ResourceClaimTemplate", work.name, work.namespace, spec={"spec": wanted})
            for index in range(work.running):
                results = [
                    {"request": "gpu", "driver": driver, "pool": node, "device": f"gpu-{number + card}"}
                    for card in range(work.cards)
                ]
                number += work.cards
                if number > self.devices:
                    return
                status = {"allocation": {"devices": {"results": results}}}
                name = f"{work.name}-{index}"
                yield _object(api, "ResourceClaim", name, work.namespace, spec=wanted, status=status)


def _object(api: str, kind: str, name: str, namespace: str | None, **parts: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "uid": f"{kind}-{namespace}-{name}".lower()}
    if namespace is not None:
        metadata["namespace"] = namespace
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **parts}


def job(work: Work) -> Object:
    value = _object("batch/v1", "Job", work.name, work.namespace)
    labels = {
        **MANAGED,
        "allotment/team": work.namespace,
        "allotment/campaign": work.name,
        "allotment/part": "1",
    }
    annotations = dict(work.annotations)
    if work.window is not None:
        annotations["allotment/window"] = f"{work.window[0]}..{work.window[1]}"
    if work.queue is not None:
        labels["kueue.x-k8s.io/queue-name"] = work.queue
        if work.elastic:
            annotations["kueue.x-k8s.io/elastic-job"] = "true"
    owned: dict[str, Any] = {"f:spec": {"f:parallelism": {}}}
    rendered: dict[str, Any] = {"f:spec": {"f:completions": {}}}
    managed = [
        {"manager": name, "operation": "Apply", "time": stamp(work.stepped), "fieldsV1": owned}
        for name in work.owners
    ]
    if not work.ours:
        rendered["f:spec"]["f:parallelism"] = {}
    managed.append({"manager": "allotment", "operation": "Apply", "time": stamp(0), "fieldsV1": rendered})
    value["metadata"] |= {
        "labels": labels,
        "annotations": annotations,
        "creationTimestamp": stamp(work.created),
        "managedFields": managed,
        "resourceVersion": "7",
    }
    claims = [{"name": "gpu", "resourceClaimTemplateName": work.name}]
    template = {"spec": {"schedulerName": work.scheduler, "resourceClaims": claims}}
    value["spec"] = {
        "completions": work.completions,
        "parallelism": work.width,
        "suspend": work.suspended,
        "template": template,
    }
    done = f"0-{work.done - 1}" if work.done > 1 else "0" if work.done else ""
    value["status"] = {"active": work.running, "completedIndexes": done}
    return value


def workload(work: Work, of: Workload) -> Object:
    value = _object("kueue.x-k8s.io/v1beta2", "Workload", f"job-{work.name}-{of.number}", work.namespace)
    owner = {"kind": "Job", "name": work.name, "uid": f"job-{work.namespace}-{work.name}"}
    value["metadata"] |= {"ownerReferences": [owner], "creationTimestamp": stamp(of.created)}
    claims = [{"name": "gpu", "resourceClaimTemplateName": work.name}]
    pod_set = {"name": "main", "count": of.count, "template": {"spec": {"resourceClaims": claims}}}
    value["spec"] = {"queueName": work.queue, "active": of.active, "podSets": [pod_set]}
    conditions = [
        {
            "type": "QuotaReserved",
            "status": "True" if of.granted is not None else "False",
            "reason": of.reason or "QuotaReserved",
            "lastTransitionTime": stamp(of.since or of.created),
        }
    ]
    if of.finished:
        conditions.append({"type": "Finished", "status": "True", "reason": of.finished})
    if of.evicted:
        conditions.append({"type": "Evicted", "status": "True", "reason": "Preempted"})
    status: dict[str, Any] = {"conditions": conditions}
    if of.granted is not None:
        usage = {"gpus": str(of.granted * work.cards)}
        assigned = {
            "name": "main",
            "count": of.granted,
            "flavors": {"gpus": FLAVOR},
            "resourceUsage": usage,
        }
        status["admission"] = {"clusterQueue": work.queue, "podSetAssignments": [assigned]}
    else:
        asked = (of.count - of.reclaimable) * work.cards
        status["resourceRequests"] = [{"name": "main", "resources": {"gpus": str(asked)}}]
        granted = work.granted
        if granted is not None:
            key = "kueue.x-k8s.io/workload-slice-replacement-for"
            value["metadata"]["annotations"] = {key: f"{work.namespace}/job-{work.name}-{granted.number}"}
    if of.reclaimable:
        status["reclaimablePods"] = [{"name": "main", "count": of.reclaimable}]
    value["status"] = status
    return value


def pod(work: Work, number: int) -> Object:
    value = _object("v1", "Pod", f"{work.name}-{number}-x", work.namespace)
    value["metadata"] |= {"ownerReferences": [{"kind": "Job", "uid": f"job-{work.namespace}-{work.name}"}]}
    return {**value, "spec": {}, "status": {"phase": "Pending"}}
