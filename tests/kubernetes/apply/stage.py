"""A cluster of a team for tests of apply: the fake server with a platform's objects, and who plays in it.

Nothing runs in the fake server. `Stage.kueue` plays Kueue's manager as it was seen to behave: it suspends a
new Job of a queue, makes its Workload, admits it and takes ``spec.suspend``; `Stage.end` plays the Job
controller's end of a Job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from allotment.kubernetes.apply import Refusal, Report, Wish, World, apply
from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import (
    CLAIM_TEMPLATE,
    CONFIG_MAP,
    DEPLOYMENT,
    JOB,
    LEASE,
    SERVICE,
    WORKLOAD,
    Kind,
    Object,
)
from allotment.kubernetes.render.context import context_for
from allotment.kubernetes.render.platform import render_platform
from allotment.kubernetes.testing import FakeApiServer, faults
from allotment.kubernetes.testing.custom_kinds import KAI, KUEUE
from allotment.kubernetes.testing.transport import FakeTransport
from allotment.platform.model import Platform, Queue, Team
from allotment.platform.need import Need
from allotment.repository.model import (
    Campaign,
    Fleet,
    Gang,
    ManifestSource,
    Pipeline,
    Repository,
    StepCall,
    Volume,
    Window,
)

TEAM = Team("library", namespace="books", queue=Queue(quota=8))
PLATFORM = Platform(engine="kubernetes", bucket="s3://results", teams={"library": TEAM})
IMAGE = "registry.example.org/r@sha256:" + "a" * 64
PIPELINE = Pipeline("read", (StepCall("ocr"),), image=IMAGE, gpu=Need())
SPACE = "books"
SERVED_GPU = "gpu.nvidia.com"
OWN = (JOB, CONFIG_MAP, CLAIM_TEMPLATE, DEPLOYMENT, SERVICE)


def volumes(count: int, first: int = 0) -> tuple[Volume, ...]:
    return tuple(Volume(f"v{n}", ManifestSource(f"https://a.se/{n}")) for n in range(first, first + count))


def campaign(name: str = "a", count: int = 20, window: Window | None = None, **more: Any) -> Campaign:
    return Campaign(name, "read", volumes(count), window or Window(2, 8), **more)


def repository(*parts: Campaign | Fleet | Gang, pipeline: Pipeline = PIPELINE) -> Repository:
    def of(kind: type) -> dict[str, Any]:
        return {each.name: each for each in parts if isinstance(each, kind)}

    return Repository(Path(), {pipeline.id: pipeline}, of(Campaign), of(Fleet), of(Gang))


@dataclass
class Stage:
    """A cluster, what is applied to it, and by whom."""

    scheduler: str = "default"
    version: str = "1.36"
    plan: faults.Plan = faults.none
    platform: Platform = PLATFORM
    has_platform: bool = True
    gang_objects: bool = False
    clock: float = 1_800_000_000.0
    server: FakeApiServer = field(init=False)

    def __post_init__(self) -> None:
        self.platform = replace(
            self.platform,
            scheduler=self.scheduler,
            versions=replace(self.platform.versions, kubernetes=self.version),
        )
        self.server = FakeApiServer(self.version, now=self._now, kinds=(*KUEUE, *KAI), sleep=lambda _: None)
        if not self.has_platform:
            return
        device_class = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "spec": {}}
        for name in (SERVED_GPU, "mig.nvidia.com"):
            self.client.create({**device_class, "metadata": {"name": name}}, manager="admin")
        for each in render_platform(self.platform, self.scheduler).objects:
            if each["kind"] in {"Namespace", "LocalQueue", "ClusterQueue", "Cohort", "Queue"}:
                self.client.apply(each, manager="admin")

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock, UTC)

    @property
    def client(self) -> Client:
        """A client without faults."""
        self.server.plan = faults.none
        return Client(FakeTransport(self.server))

    def apply(
        self,
        *parts: Campaign | Fleet | Gang,
        pipeline: Pipeline = PIPELINE,
        plan: faults.Plan = faults.none,
        holder: str = "me",
        mark: str | None = "here",
        dry_run: bool = False,
        sleep: Callable[[float], None] | None = None,
        impossible: Mapping[str, tuple[Refusal, ...]] | None = None,
        **wish: Any,
    ) -> Report:
        """Apply a repository of these."""
        context = context_for(
            self.platform, self.platform.teams["library"], self.scheduler, gang_objects=self.gang_objects
        )
        wished = Wish(repository(*parts, pipeline=pipeline), mark, **wish)
        self.server.requests.clear()
        client = Client(FakeTransport(self.server), jitter=lambda: 0.0)
        self.server.plan = plan
        try:
            return apply(
                client,
                context,
                wished,
                World(holder, lambda: self.clock, sleep or (lambda _: None)),
                impossible=lambda _: impossible or {},
                dry_run=dry_run,
            )
        finally:
            self.server.plan = faults.none

    def get(self, kind: Kind, name: str) -> Any:
        """A live object, or None."""
        return self.client.get(kind, name, SPACE if kind.is_namespaced else None)

    def job(self, name: str = "a") -> Any:
        """A live Job, or None."""
        return self.get(JOB, name)

    def all(self, *kinds: Kind) -> list[Any]:
        """The team's live objects."""
        return [each for kind in kinds or OWN for each in self.client.listed(kind, SPACE)]

    def state(self) -> Mapping[str, Any]:
        """Every object of the team's as it is, without what differs between two clusters."""
        return {f"{each['kind']}/{each['metadata']['name']}": _bare(each) for each in self.all()}

    def writes(self) -> list[str]:
        """What was written in the last apply, beside the lease."""
        return [
            f"{request.method} {request.path.rpartition('/')[2]}"
            for request in self.server.requests
            if request.method not in {"GET"}
            and LEASE.plural not in request.path
            and "/authorization" not in request.path
            and "dryRun" not in request.query
        ]

    def status(self, job: str, status: Mapping[str, Any]) -> None:
        """Play a controller that writes a Job's status."""
        self.client.patch(JOB, job, SPACE, {"status": status}, manager="controller", subresource="status")

    def end(self, job: str = "a", *, failed: bool = False, succeeded: int = 20) -> None:
        """Play the end of a Job."""
        at = self._now().strftime("%Y-%m-%dT%H:%M:%SZ")
        said = {
            "status": "True",
            "lastTransitionTime": at,
            "lastProbeTime": at,
            "reason": "x",
            "message": "x",
        }
        first = "FailureTarget" if failed else "SuccessCriteriaMet"
        self.status(job, {"startTime": at, "conditions": [{"type": first, **said}]})
        last: dict[str, Any] = {"failed": 1, "failedIndexes": "3"} if failed else {"completionTime": at}
        conditions = [{"type": first, **said}, {"type": "Failed" if failed else "Complete", **said}]
        self.status(job, {"succeeded": succeeded, **last, "conditions": conditions})

    def gone(self, job: str = "a") -> None:
        """Play the end of a Job's time."""
        self.client.delete(JOB, job, SPACE)

    def kueue(self, *, admit: bool = True) -> None:
        """Play a round of Kueue's manager: Workloads for Jobs of a queue, admission, suspension."""
        for job in self.all(JOB):
            if "kueue.x-k8s.io/queue-name" not in (job["metadata"].get("labels") or {}):
                continue
            slices = self.slices(job["metadata"]["name"])
            if not slices:
                slices = [self._workload(job, 1)]
            runs = admit and all(each["spec"].get("active", True) for each in slices)
            if job["spec"].get("suspend", False) == runs:
                self.client.patch(
                    JOB, job["metadata"]["name"], SPACE, {"spec": {"suspend": not runs}}, manager="kueue"
                )

    def slices(self, job: str = "a") -> list[Any]:
        """The Workloads of a Job."""
        uid = self.job(job)["metadata"]["uid"]
        return [
            each
            for each in self.all(WORKLOAD)
            if any(owner["uid"] == uid for owner in each["metadata"].get("ownerReferences") or ())
        ]

    def _workload(self, job: Object, number: int) -> Object:
        metadata = job["metadata"]
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": metadata["name"], "uid": metadata["uid"]}
        return self.client.create(
            {
                "apiVersion": WORKLOAD.api_version,
                "kind": "Workload",
                "metadata": {
                    "name": f"job-{metadata['name']}-{number}",
                    "namespace": SPACE,
                    "ownerReferences": [{**owner, "controller": True}],
                },
                "spec": {"active": True, "queueName": TEAM.name},
            },
            manager="kueue",
        )


def _bare(value: Any) -> Any:
    """An object without uids, versions and times."""
    unstable = ("uid", "resourceVersion", "creationTimestamp", "generation", "time", "allotment/job-uid")
    if isinstance(value, Mapping):
        return {
            key: _bare(each)
            for key, each in value.items()
            if key not in unstable and not key.endswith("controller-uid")
        }
    return [_bare(each) for each in value] if isinstance(value, list) else value


def verbs(report: Report) -> dict[str, str]:
    """Each group's verb."""
    return {each.group: str(each.verb) for each in report.outcomes}


def refusals(report: Report, group: str = "campaigns/a") -> str:
    """What is refused of a group, in one text."""
    found: Iterable[Any] = next(each for each in report.outcomes if each.group == group).refusals
    return "\n".join(map(str, found))
