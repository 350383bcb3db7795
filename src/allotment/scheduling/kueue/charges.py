"""What a workload asks of quota, or holds of it: Kueue's ``workload.Info``.

A pending workload asks for the requests of its pods times their number, less those that are done
(``reclaimablePods``). One with a reservation holds what its admission says, scaled down likewise. Pods that
are placed also use their domains, by what they really ask a node for. The rules are those of
``totalRequestsFrom*``, ``Info.Usage`` and ``computeSchedulingHash`` in ``pkg/workload``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.settings import Settings
from allotment.scheduling.kueue.tree import Cell
from allotment.scheduling.state.amounts import in_walking_order, plus, times
from allotment.scheduling.state.workloads import Placement, PodSet, PodSetAdmission, Workload


@dataclass(frozen=True, slots=True)
class DomainUse:
    """Pods in one domain: how many, and what each asks for."""

    values: tuple[str, ...]
    pod: Mapping[str, int]
    count: int


@dataclass(frozen=True, slots=True)
class PodSetTotal:
    """A pod set: how many pods, what they ask for in all, and what they hold if they do."""

    name: str
    count: int
    requests: Mapping[str, int]
    flavors: Mapping[str, str] = field(default_factory=dict)
    placed: tuple[DomainUse, ...] | None = None
    placement: Placement | None = None
    delayed: str | None = None

    def scaled(self, count: int) -> PodSetTotal:
        """The same for another number of pods; pods that have a place stay as they are."""
        if self.placed is not None or self.count in {0, count}:
            return self
        requests = {name: times(amount // self.count, count) for name, amount in self.requests.items()}
        return PodSetTotal(self.name, count, requests, self.flavors)


@dataclass(frozen=True, eq=False)
class Info:
    """A workload in (or for) a ClusterQueue, with its totals. Two of them are the same if they are one."""

    workload: Workload
    cluster_queue: str
    totals: tuple[PodSetTotal, ...]
    shape: str | None = None
    priority: int = 0

    @property
    def key(self) -> str:
        """The workload's namespace and name."""
        return self.workload.key

    @cached_property
    def cells(self) -> Mapping[Cell, int]:
        """What it holds of each flavor and resource."""
        held: dict[Cell, int] = {}
        for total in self.totals:
            for resource, amount in total.requests.items():
                flavor = total.flavors.get(resource)
                if flavor:
                    cell = (flavor, resource)
                    held[cell] = plus(held.get(cell, 0), amount)
        return held

    @cached_property
    def uses(self) -> frozenset[Cell]:
        """The cells that it was given anything of, even nothing."""
        return frozenset((flavor, name) for total in self.totals for name, flavor in total.flavors.items())

    @cached_property
    def placed(self) -> Mapping[str, tuple[DomainUse, ...]]:
        """What its pods use of domains, by flavor."""
        uses: dict[str, tuple[DomainUse, ...]] = {}
        for total in self.totals:
            if total.placed is not None:
                for flavor in dict.fromkeys(total.flavors.values()):
                    uses[flavor] = (*uses.get(flavor, ()), *total.placed)
        return uses

    @property
    def partly(self) -> bool:
        """Whether it would do with fewer pods."""
        return any(
            pods.min_count is not None and pods.count > pods.min_count for pods in self.workload.pod_sets
        )


def info_of(workload: Workload, cluster_queue: str, settings: Settings) -> Info:
    """The totals of a workload: what it holds, or what it asks for."""
    counts, priority = _counts(workload, settings), priority_of(workload, settings)
    if workload.admission is not None:
        placed = settings.on(Gate.TOPOLOGY)
        totals = tuple(
            _held(workload, given, counts.get(given.name, 0), placed=placed)
            for given in workload.admission.pod_sets
        )
        return Info(workload, cluster_queue, totals, _shape(workload, totals, settings), priority)
    totals = tuple(_asked(pods, counts[pods.name]) for pods in workload.pod_sets)
    return Info(workload, cluster_queue, totals, _shape(workload, totals, settings), priority)


def _counts(workload: Workload, settings: Settings) -> dict[str, int]:
    counts = {pods.name: pods.count for pods in workload.pod_sets}
    if settings.on(Gate.RECLAIMABLE):
        for name, done in workload.reclaimable.items():
            if name in counts:
                counts[name] -= min(done, counts[name])
    return counts


def _asked(pods: PodSet, count: int) -> PodSetTotal:
    requests = {name: times(max(amount, 0), count) for name, amount in pods.requests.items()}
    return PodSetTotal(pods.name, count, in_walking_order(requests))


def _held(workload: Workload, given: PodSetAdmission, left: int, *, placed: bool) -> PodSetTotal:
    usage, count = in_walking_order(given.usage), given.count
    uses = None
    if placed and given.placement is not None:
        pod = next((pods.pod for pods in workload.pod_sets if pods.name == given.name), None)
        one = (
            {name: amount // count if count else amount for name, amount in usage.items()}
            if pod is None
            else pod
        )
        uses = tuple(DomainUse(each.values, one, each.count) for each in given.placement.domains)
    if left < count:
        usage = {name: times(amount // count, left) for name, amount in usage.items()}
        count = left
    delayed = given.delayed if placed else None
    return PodSetTotal(given.name, count, usage, given.flavors, uses, given.placement, delayed)


def _shape(workload: Workload, totals: tuple[PodSetTotal, ...], settings: Settings) -> str | None:
    """Equal for workloads that the scheduler cannot tell apart; None where it does not look."""
    if not settings.on(Gate.HASHING):
        return None
    sets = [
        (pods.name, pods.shape, total.count, sorted(total.requests.items()))
        for pods, total in zip(workload.pod_sets, totals, strict=False)
    ]
    allowed = workload.allowed_flavors if settings.on(Gate.CONCURRENT) else None
    return repr((priority_of(workload, settings), sets, allowed))


def priority_of(workload: Workload, settings: Settings) -> int:
    """A workload's priority, with what an annotation adds where that counts (``EffectivePriority``)."""
    return workload.priority + (workload.boost if settings.on(Gate.BOOST) else 0)


def queue_time(workload: Workload, settings: Settings) -> float:
    """When a workload got in line: one that was put out for its own slowness does anew.

    (``GetQueueOrderTimestamp`` of pkg/workload.)
    """
    evicted = workload.evicted
    if evicted is not None:
        if evicted.reason == "PodsReadyTimeout" and settings.requeue_by_eviction:
            return evicted.at
        if evicted.reason == "AdmissionCheck":
            return evicted.at
    if not settings.on(Gate.PRIORITIES):
        preempted = workload.preempted
        if preempted is not None and preempted.reason == "InCohortReclaimWhileBorrowing":
            return preempted.at + 0.001
    return workload.created
