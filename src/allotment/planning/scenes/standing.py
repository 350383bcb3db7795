"""What a snapshot shows running and waiting: of the repository itself, of other teams, and of others.

Pods of Jobs that the repository makes are the first runs of its works. What other campaigns of ours have left
to do their Jobs tell; for how long anybody else's work goes on nobody can know: it stays, unless the caller
says for how long. Work that the scheduler in question does not manage only takes its devices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.devices.claim_objects import ResourceClaim
from allotment.kubernetes import kinds
from allotment.kubernetes.apply.memory import ending_of, had_job
from allotment.kubernetes.cluster.kai_pods import claims_of
from allotment.kubernetes.cluster.pod_request import request_of
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.pods import INDEX
from allotment.kubernetes.follow.ranges import indexes_of
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.render.names import PREFIX
from allotment.kubernetes.render.placing import KAI_PREEMPTIBLE, KAI_QUEUE, QUEUE_NAME
from allotment.pictures.counts import counted
from allotment.planning.scenes.asks import Asks
from allotment.planning.scenes.left_over import left_of
from allotment.planning.scenes.owners import (
    Owner,
    goes_on,
    has_succeeded,
    is_finished,
    is_of_node,
    key_of,
    least,
    name_of,
    owned,
    owner_of,
    width,
)
from allotment.planning.scenes.stage import Stage
from allotment.planning.scenes.values import THEY_STAY, Assumption, Choices, Source
from allotment.planning.scenes.works import LiveJob, together_of
from allotment.scheduling.state.read_workloads import seconds
from allotment.simulation.run_times import Times
from allotment.simulation.setting import Scheduler, TeamShare
from allotment.simulation.work import Kind, Running, Work

_WITHOUT_QUEUES: Final = frozenset({Scheduler.DEFAULT, Scheduler.SIMPLE})
_OVER: Final = frozenset({"Succeeded", "Failed"})


@dataclass(slots=True)
class Standing:
    """What stands. ``live`` are the repository's own Jobs and Deployments, ``placed`` the pods of works.

    ``times`` are those of indexes of other Jobs, where those tell.
    """

    live: dict[Owner, LiveJob] = field(default_factory=dict)
    works: list[Work] = field(default_factory=list)
    placed: set[str] = field(default_factory=set)
    shares: dict[str, TeamShare] = field(default_factory=dict)
    times: dict[str, Times] = field(default_factory=dict)
    assumptions: list[Assumption] = field(default_factory=list)


def standing_of(
    stage: Stage, asks: Asks, mine: frozenset[Owner], teams: Mapping[str, str], choices: Choices
) -> Standing:
    """What stands on the cluster; ``mine`` are Jobs and Deployments of the repository, ``teams`` the teams of
    namespaces."""
    found = Standing()
    if stage.real is not None:
        _Desk(stage, stage.real, asks, teams, choices, found).look(mine)
    return found


@dataclass(slots=True)
class _Desk:
    stage: Stage
    snapshot: Snapshot
    asks: Asks
    teams: Mapping[str, str]
    choices: Choices
    found: Standing
    claims: dict[str, ResourceClaim] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    aside: int = 0

    def look(self, mine: frozenset[Owner]) -> None:
        """At every pod with devices, and at every workload that has none yet."""
        self.claims = {f"{each.namespace}/{each.name}": each for each in self.stage.world.claims}
        pods: dict[Owner, list[Object]] = {}
        succeeded: dict[Owner, frozenset[int]] = {}
        for pod in self.snapshot.of(kinds.POD):
            owner = owner_of(pod)
            index = fields.number(pod, "metadata", "annotations", INDEX)
            if owner in mine and index is not None and has_succeeded(pod):
                succeeded[owner] = succeeded.get(owner, frozenset()) | {index}
            if fields.text(pod, "status", "phase") not in _OVER and (owner in mine or self._has_devices(pod)):
                pods.setdefault(owner, []).append(pod)
        workloads = {owned(each): each for each in self.snapshot.of(kinds.WORKLOAD) if not is_finished(each)}
        for owner in sorted(mine):
            self.found.live[owner] = self._live(owner, pods.get(owner, []), succeeded.get(owner, frozenset()))
            self.found.placed.update(map(name_of, pods.get(owner, ())))
        jobs = {key_of(each) for each in self.snapshot.of(kinds.JOB) if goes_on(each)}
        for owner in sorted((pods.keys() | workloads.keys() | jobs) - mine):
            self._other(owner, pods.get(owner, []), workloads.get(owner))
        self._told()

    def _live(self, owner: Owner, pods: list[Object], succeeded: frozenset[int]) -> LiveJob:
        """How a Job of the repository stands; one that has ended, or is gone, does not come back.

        Indexes whose pods have ``succeeded`` are done, though the Job may not say so for a second.
        """
        job = self.snapshot.named(kinds.JOB, owner[1], owner[0])
        if job is None:
            remembered = (
                self.snapshot.named(kinds.CONFIG_MAP, f"{owner[1]}-volumes", owner[0]),
                self.snapshot.named(kinds.SERVICE, owner[1], owner[0]),
            )
            running = self._running(pods)
            since = min((each.since for each in running.values()), default=None)
            return LiveJob(running=running, over=any(map(had_job, remembered)), arrival=since)
        lists = (fields.text(job, "status", each) for each in ("completedIndexes", "failedIndexes"))
        done = succeeded.union(*map(indexes_of, lists))
        return LiveJob(done, self._running(pods), ending_of(job) is not None, self._arrival(job))

    def _has_devices(self, pod: Object) -> bool:
        spec = pod.get("spec") or {}
        request = request_of(spec, fields.mapping(pod, "metadata", "annotations"))
        return bool(spec.get("resourceClaims") or request.gpus or request.mig or request.shared)

    def _running(self, pods: Iterator[Object] | list[Object] | tuple[Object, ...]) -> dict[int, Running]:
        """The pods that have a node, by index (or in their order)."""
        found: dict[int, Running] = {}
        for number, pod in enumerate(sorted(pods, key=name_of)):
            node = fields.text(pod, "spec", "nodeName")
            if not node or fields.text(pod, "metadata", "deletionTimestamp"):
                continue
            index = fields.number(pod, "metadata", "annotations", INDEX)
            place = number if index is None else index
            found[place] = Running(place, node, tuple(self._devices(pod)), self._since(pod))
        return found

    def _devices(self, pod: Object) -> Iterator[str]:
        for name in claims_of(pod):
            if name in self.claims:
                yield from map(str, self.claims[name].devices)

    def _arrival(self, value: Object | None) -> float:
        """When something was sent: before what is planned, though nobody says when."""
        told = fields.text(value, "metadata", "creationTimestamp")
        return min(-1.0, seconds(told) - self.snapshot.time) if told else -1.0

    def _since(self, pod: Object) -> float:
        began = fields.text(pod, "status", "startTime")
        return min(0.0, seconds(began) - self.snapshot.time) if began else 0.0

    def _other(self, owner: Owner, pods: list[Object], workload: Object | None) -> None:
        """Work of somebody else: a work of its own if the scheduler manages it."""
        job = self.snapshot.named(kinds.JOB, owner[1], owner[0])
        team = self._team(owner[0], pods, job, workload)
        template = self._template(pods, job, workload)
        if team is None or template is None:
            self.aside += any(fields.text(pod, "spec", "nodeName") and not is_of_node(pod) for pod in pods)
            return
        running = self._running(pods)
        count = max(len(pods), width(job, workload))
        labels = fields.mapping(job or (pods[0] if pods else workload), "metadata", "labels")
        left = left_of(job, labels, count, self.snapshot.time, self.choices.stays)
        if left.kind is Kind.CAMPAIGN and not left.units:
            return
        self.found.placed.update(map(name_of, pods))
        name = self._name(labels, owner)
        if left.times is not None:
            self.found.times[left.recipe] = left.times
            self.found.assumptions += filter(None, [left.assumption(name)])
        self.found.works.append(
            Work(
                name=name,
                team=team,
                kind=left.kind,
                ask=self.asks.of(template, owner[0], count),
                units=left.units,
                arrival=self._arrival(job or workload or (pods[0] if pods else None)),
                least=least(workload, count),
                most=count,
                priority=self._priority(pods, workload),
                preemptible=labels.get(KAI_PREEMPTIBLE) != "non-preemptible",
                together=together_of(job) if job is not None else None,
                recipe=left.recipe,
                running=tuple(
                    Running(place, each.node, each.devices, each.since)
                    for place, each in enumerate(running.values())
                ),
            )
        )

    def _team(
        self, namespace: str, pods: list[Object], job: Object | None, workload: Object | None
    ) -> str | None:
        """The team whose work it is, with a share of its own where it is unknown; None: not managed."""
        labels = [fields.mapping(each, "metadata", "labels") for each in (job, *pods[:1]) if each is not None]
        said = {key: value for each in reversed(labels) for key, value in each.items()}
        local = fields.text(workload, "spec", "queueName") or str(said.get(QUEUE_NAME, ""))
        share = str(said.get(KAI_QUEUE, ""))
        known = self.teams.get(namespace)
        queued = {
            Scheduler.KUEUE: bool(local),
            Scheduler.BOTH: bool(local),
            Scheduler.KAI: bool(share),
        }.get(self.stage.scheduler, True)
        if not queued and self._is_its_own:
            return None
        if known is not None:
            return known
        if not queued or (self.stage.scheduler in _WITHOUT_QUEUES and self.choices.stays is None):
            return None
        name = namespace
        while name in self.found.shares and (local, share) != (
            self.found.shares[name].local_queue,
            self.found.shares[name].share_queue,
        ):
            name = f"{name}/{local or share}"
        self.found.shares[name] = TeamShare(name, namespace, local, share)
        return name

    @property
    def _is_its_own(self) -> bool:
        """Whether the cluster has the queues of the scheduler itself, so that what is in none is not its."""
        kind = kinds.KAI_QUEUE if self.stage.scheduler is Scheduler.KAI else kinds.CLUSTER_QUEUE
        return bool(self.snapshot.of(kind))

    def _template(
        self, pods: list[Object], job: Object | None, workload: Object | None
    ) -> Mapping[str, Any] | None:
        """The template of its pods: of its Job, of its Workload, or what one of them says itself."""
        if job is not None:
            return fields.mapping(job, "spec", "template")
        sets = fields.items(workload, "spec", "podSets")
        if sets:
            return fields.mapping(sets[0], "template")
        return {"metadata": pods[0]["metadata"], "spec": pods[0].get("spec") or {}} if pods else None

    def _priority(self, pods: list[Object], workload: Object | None) -> int:
        told = fields.at(workload, "spec", "priority")
        if told is None and pods:
            told = fields.at(pods[0], "spec", "priority")
        return told if isinstance(told, int) else 0

    def _name(self, labels: Mapping[str, Any], owner: Owner) -> str:
        """What people call it; the namespace is added, for another team may have the same name."""
        told = (labels.get(f"{PREFIX}{what}") for what in ("campaign", "fleet", "gang"))
        own = next(filter(None, told), owner[1])
        name = f"{own} of {owner[0]}"
        while name in self.names:
            name += "'"
        self.names.add(name)
        return name

    def _told(self) -> None:
        """What is taken of those whose end nobody knows: of works, and of who only has room or devices."""
        stays = self.choices.stays
        unknown = sum(not each.recipe for each in self.found.works)
        aside = self.aside + sum(bool(each.devices) and not each.users for each in self.claims.values())
        if unknown and stays is not None:
            said = f"each pod takes {stays:,.0f} s; those that run have had a part of it, by chance"
            self.found.assumptions.append(Assumption(_others(unknown), "they end", Source.STATED, said))
            unknown = 0
        if not unknown + aside:
            return
        said, remedy = (
            "nobody can tell when they end; their devices come free only by reclaim or preemption",
            "",
        )
        if unknown or (self.stage.scheduler in _WITHOUT_QUEUES and stays is None):
            remedy = "take a time for them: `--set others_stay=4h`"
        elif not unknown:
            said = (
                "they are in no queue that is planned for; nobody can tell when they end, or takes from them"
            )
        subject = _others(unknown + aside)
        self.found.assumptions.append(Assumption(subject, THEY_STAY, Source.DEFAULT, said, remedy=remedy))


def _others(many: int) -> str:
    return f"{counted(many, 'work')} of others that run or wait"
