"""The objects of one of Kueue's own test cases as a state, with the settings that the case runs under."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from allotment.scheduling.kueue import Memory, Settings
from allotment.scheduling.kueue.catching_up import caught_up
from allotment.scheduling.kueue.charges import Info, info_of
from allotment.scheduling.kueue.gates import LATEST, Gate, gates_of
from allotment.scheduling.kueue.ground import Ground
from allotment.scheduling.kueue.topology.places import places_of
from allotment.scheduling.kueue.usage import Usage
from allotment.scheduling.state.amounts import amount_text
from allotment.scheduling.state.limit_ranges import Range, adjusted, faults_of, ranges_of
from allotment.scheduling.state.nodes import Flavor
from allotment.scheduling.state.pod_requests import pod_requests
from allotment.scheduling.state.queues import AdmissionCheck, ClusterQueue
from allotment.scheduling.state.read_queues import (
    read_cluster_queue,
    read_cohort,
    read_flavor,
    read_local_queue,
    read_node,
    read_topology,
)
from allotment.scheduling.state.read_workloads import Charge, as_asked, read_workload, seconds
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import Admission, Placement, Workload

Raw = Mapping[str, Any]
NOW = seconds("2026-01-01T00:00:00Z")
NAMESPACES = {
    "default": {},
    "eng-alpha": {"dep": "eng"},
    "eng-beta": {"dep": "eng"},
    "eng-gamma": {"dep": "eng"},
    "sales": {"dep": "sales"},
    "lend": {"dep": "lend"},
}


@dataclass(frozen=True)
class Case:
    """One case, and the fixtures that its test shares."""

    raw: Raw
    fixtures: Raw

    @property
    def given(self) -> Raw:
        """What is peculiar to the case."""
        found: Raw = self.raw["input"]
        return found

    @property
    def expected(self) -> Raw:
        """What its test asks for."""
        found: Raw = self.raw["expect"]
        return found

    def fixture(self, name: str) -> list[Raw]:
        """The objects of a variable of the test."""
        return list(self.fixtures.get(self.raw.get("fixture") or "", {}).get(name, {}).get("items", ()))

    def objects(self, kind: str) -> list[Raw]:
        """The objects of a kind: those of the test, then those of the case; the later of one name counts."""
        shared = (self.raw.get("use") or {}).get(kind)
        listed = self.fixture(shared) if shared else []
        listed = [*listed, *((self.raw.get("given") or {}).get(kind) or ())]
        return list({_key(each): each for each in listed}.values())

    def settings(self, **changes: Any) -> Settings:
        """The settings that the case is decided under."""
        gates = gates_of(LATEST, self.raw.get("featureGates"))
        return Settings(**{"gates": gates, **changes})


def _key(raw: Raw) -> tuple[str, str]:
    return raw["metadata"].get("namespace", ""), raw["metadata"].get("name", "")


@dataclass
class Scene:
    """A state that is decided on."""

    state: State
    memory: Memory
    now: float = NOW
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        """The settings."""
        return self.memory.settings

    def ground(self) -> Ground:
        """The ground of a cycle in which nothing is decided yet."""
        memory = self.memory = caught_up(self.memory, self.state, self.now)
        assert memory.tree is not None
        everyone = [info for infos in memory.held.values() for info in infos.values()]
        shared = self.settings.on(Gate.OVERLAPPING_FLAVORS)
        return Ground(
            tree=memory.tree,
            usage=(memory.usage or Usage.nothing(memory.tree)).fork(),
            held=memory.held,
            flavors=self.state.flavors,
            places=places_of(memory.domains, everyone, shared=shared)
            if self.settings.on(Gate.TOPOLOGY)
            else {},
            settings=self.settings,
            now=self.now,
        )


def scene_of(
    case: Case, settings: Settings | None = None, *, charge: Charge = as_asked, workloads: str = "workloads"
) -> Scene:
    """The state of a case."""
    settings = settings or case.settings()
    checks = {each["metadata"]["name"]: _check(each) for each in case.objects("admissionChecks")}
    ranges = [each for each in case.objects("objects") if "limits" in (each.get("spec") or {})]
    read = [read_adjusted(raw, ranges, charge) for raw in case.objects(workloads)]
    taken = taken_by_pods(case.objects("pods"))
    queues = _named(read_cluster_queue(raw, checks=checks) for raw in case.objects("clusterQueues"))
    state = State(
        cluster_queues=queues,
        cohorts=_named(map(read_cohort, case.objects("cohorts"))),
        local_queues={each.key: each for each in map(read_local_queue, case.objects("localQueues"))},
        flavors=_flavors(case, queues.values()),
        topologies=_named(map(read_topology, case.objects("topologies"))),
        nodes=_named(read_node(raw, taken.get(raw["metadata"]["name"])) for raw in case.objects("nodes")),
        namespaces=NAMESPACES,
        workloads=Shelf({each.key: each for each in read}),
    )
    return Scene(state, Memory(settings))


def _named(each: Iterable[Any]) -> dict[str, Any]:
    return {value.name: value for value in each}


def _check(raw: Raw) -> AdmissionCheck:
    return AdmissionCheck(raw["metadata"]["name"], (raw.get("spec") or {}).get("controllerName", ""))


def taken_by_pods(pods: Iterable[Raw]) -> dict[str, dict[str, int]]:
    """What pods that no workload accounts for use of nodes."""
    taken: dict[str, dict[str, int]] = {}
    for pod in pods:
        spec, status, meta = pod.get("spec") or {}, pod.get("status") or {}, pod["metadata"]
        labels = {**(meta.get("labels") or {}), **(meta.get("annotations") or {})}
        placed = any(key in labels for key in PLACED_BY_KUEUE)
        if placed or not spec.get("nodeName") or status.get("phase") in {"Succeeded", "Failed"}:
            continue
        here = taken.setdefault(spec["nodeName"], {})
        for name, amount in {**pod_requests(spec), "pods": 1}.items():
            here[name] = here.get(name, 0) + amount
    return taken


PLACED_BY_KUEUE = ("kueue.x-k8s.io/tas", "kueue.x-k8s.io/podset-topology")


def _flavors(case: Case, queues: Iterable[ClusterQueue]) -> dict[str, Any]:
    """The flavors of a case; where it tells of none, those that its queues name."""
    listed = case.objects("resourceFlavors")
    if listed:
        return _named(map(read_flavor, listed))
    names = {name for queue in queues for group in queue.groups for name in group.flavors}
    return {name: Flavor(name) for name in names}


def read_adjusted(raw: Raw, limit_ranges: Iterable[Raw] = (), charge: Charge = as_asked) -> Workload:
    """A workload as Kueue takes it in: with its namespace's defaults, and what is wrong with it."""
    raw = {"metadata": {}, **raw}
    namespace = raw["metadata"].get("namespace", "")
    ranges = ranges_of(each for each in limit_ranges if each["metadata"].get("namespace", "") == namespace)
    sets = [_filled(each, ranges) for each in (raw.get("spec") or {}).get("podSets") or ()]
    whole = {**raw, "spec": {**(raw.get("spec") or {}), "podSets": sets}}
    return read_workload(whole, charge=charge, faults=faults_of(sets, ranges))


def _filled(pod_set: Raw, ranges: Mapping[str, Range]) -> Raw:
    template = pod_set.get("template") or {}
    return {**pod_set, "template": {**template, "spec": adjusted(template.get("spec") or {}, ranges)}}


def info(scene: Scene, workload: Workload, cluster_queue: str) -> Info:
    """A workload with its totals."""
    return info_of(workload, cluster_queue, scene.settings)


def told_admission(admission: Admission) -> tuple[Any, ...]:
    """An admission to compare with."""
    return admission.cluster_queue, tuple(
        (
            each.name,
            each.count,
            tuple(sorted(each.flavors.items())),
            tuple(sorted((name, amount_text(name, amount)) for name, amount in each.usage.items())),
            told_placement(each.placement),
            each.delayed,
        )
        for each in admission.pod_sets
    )


def told_placement(placement: Placement | None) -> tuple[Any, ...] | None:
    """A placement to compare with."""
    if placement is None:
        return None
    return placement.levels, tuple((each.values, each.count) for each in placement.domains)
