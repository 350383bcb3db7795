"""Kueue's own cases of placement by topology."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from allotment.scheduling.kueue.charges import DomainUse
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.topology.asking import Ask, Wish
from allotment.scheduling.kueue.topology.balancing import optimal, place_balanced
from allotment.scheduling.kueue.topology.counting import Count
from allotment.scheduling.kueue.topology.domains import Domain, Domains, domain_id, domains_of
from allotment.scheduling.kueue.topology.finding import Finder
from allotment.scheduling.kueue.topology.places import Places, Taken, take
from allotment.scheduling.kueue.topology.replacing import merged
from allotment.scheduling.kueue.topology.sorting import by_led_room, by_room
from allotment.scheduling.state.nodes import Flavor, Topology
from allotment.scheduling.state.read_queues import read_node, read_tolerations
from allotment.scheduling.state.read_workloads import (
    read_node_selector,
    read_placement,
    read_preferred_nodes,
    read_topology_request,
)
from allotment.scheduling.state.workloads import (
    Admission,
    Placement,
    PodSet,
    PodSetAdmission,
    TopologyRequest,
    Workload,
)
from tests.conformance.kueue_scene import Case, Raw, read_adjusted, taken_by_pods, told_placement

Answer = tuple[object, object]
RACKS = ("cloud.com/topology-block", "cloud.com/topology-rack", "kubernetes.io/hostname")
NOBODY = Workload("", "", "", ())


def _domains(case: Case, levels: Iterable[str], labels: Mapping[str, str]) -> tuple[Flavor, Domains]:
    taken = taken_by_pods(case.objects("pods"))
    nodes = [read_node(raw, taken.get(raw["metadata"]["name"])) for raw in case.objects("nodes")]
    flavor = Flavor("flavor", dict(labels), topology="default")
    return flavor, domains_of(flavor, Topology("default", tuple(levels)), nodes)


def _taken(*usages: Iterable[Raw]) -> Taken:
    taken: Taken = {}
    for usage in usages:
        for each in usage:
            use = DomainUse(tuple(each["Values"]), each.get("SinglePodRequests") or {}, each["Count"])
            take(taken, domain_id(use.values), use)
    return taken


def _ask(raw: Raw) -> Ask:
    topology = read_topology_request(raw.get("topologyRequest"))
    group = raw.get("podSetGroupName")
    if group is not None:
        topology = replace(topology or TopologyRequest(), group=group)
    affinity = raw.get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    pods = PodSet(
        raw.get("podSetName") or "main",
        raw["count"],
        pod=raw.get("requests") or {},
        node_selector=raw.get("nodeSelector") or {},
        affinity=None if required is None else read_node_selector(required),
        preferred=read_preferred_nodes(affinity),
        tolerations=read_tolerations(raw.get("tolerations") or ()),
        topology=topology,
    )
    return Ask(
        pods,
        raw["count"],
        "flavor",
        implied=raw.get("topologyRequest") is None,
        previous=read_placement(raw.get("previousAssignment")),
    )


def run_find(case: Case) -> Answer:
    """Places for pod sets, or the reason why there are none."""
    given = case.given
    flavor, domains = _domains(case, given["levels"], given.get("nodeLabels") or {})
    settings = case.settings()
    taken = _taken(given.get("priorFlavorUsage") or (), given.get("priorOwnUsage") or ())
    places = Places(flavor, domains, {leaf: each for leaf, each in taken.items() if leaf in domains.leaves})
    workload = read_adjusted(given["workload"]) if given.get("workload") else NOBODY
    found = Finder(places, workload, settings, {}).find([_ask(raw) for raw in given["podSets"]])
    expected = {
        raw.get("podSetName") or "main": (
            told_placement(read_placement(raw.get("wantAssignment"))),
            raw.get("wantReason", ""),
        )
        for raw in given["podSets"]
    }
    answers = {name: (told_placement(placement), message) for name, placement, message in found}
    missing = (None, "")
    return expected, {name: answers.get(name, missing) for name in expected}


def run_replace(case: Case) -> Answer:
    """A new place for the pods of a node that failed."""
    given = case.given
    flavor, domains = _domains(case, given.get("levels") or RACKS, {})
    places = Places(flavor, domains, _taken(given.get("priorFlavorUsage") or ()))
    existing = read_placement(given["existingTA"])
    admission = Admission("", (PodSetAdmission("main", given["admissionCount"], placement=existing),))
    workload = replace(NOBODY, admission=admission, unhealthy=(given["unhealthyNode"],))
    raw = {"topologyRequest": given["topologyRequest"], "count": given["count"], "requests": {"cpu": 1000}}
    found = Finder(places, workload, case.settings(), {}).find([_ask(raw)])
    want = case.expected
    expected = (told_placement(read_placement(want.get("wantAssignment"))), want.get("wantReason", ""))
    return expected, (told_placement(found[0][1]), found[0][2])


def _count(state: Raw) -> Count:
    return Count(
        state.get("podCount", 0),
        state.get("sliceCount", 0),
        state.get("podCountWithLeader", 0),
        state.get("sliceCountWithLeader", 0),
        state.get("leaderCount", 0),
        state.get("affinityScore", 0),
    )


class _Given:
    """Numbers of domains as a case has them."""

    def __init__(self, raws: Iterable[Raw]) -> None:
        self.domains: list[Domain] = []
        self._counts: list[Count] = []
        for index, raw in enumerate(raws):
            said = raw["domain"]
            self.domains.append(Domain(index, said["id"], tuple(said["levelValues"])))
            self._counts.append(_count(raw.get("state") or {}))

    def of(self, domain: Domain) -> Count:
        """The numbers of a domain."""
        return self._counts[domain.index]


def _sorter(sort: Callable[..., list[Domain]]) -> Callable[[Case], Answer]:
    def run(case: Case) -> Answer:
        """The order of domains."""
        given = _Given(case.given["domains"])
        least_first = bool(case.given.get("unconstrained")) and case.settings().on(Gate.MIXED)
        if not case.given.get("enableTASPreferredSchedulingAffinity"):
            for domain in given.domains:
                given.of(domain).score = 0
        ordered: Any = sort(given, given.domains, least_first=least_first)
        return case.expected["wantOrder"], [domain.name for domain in ordered]

    return run


def run_merge(case: Case) -> Answer:
    """Two placements as one."""
    nodes = [read_node(raw) for raw in case.fixture("nodes")]
    levels = tuple(case.given["a"]["Levels"])
    domains = domains_of(Flavor("flavor"), Topology("default", levels), nodes)
    sides = [read_placement(case.given[side]) for side in ("a", "b")]
    parts = [each for side in sides if side is not None for each in side.domains]
    found = Placement(levels, merged(domains, parts))
    return told_placement(read_placement(case.expected["want"])), told_placement(found)


def run_optimal(case: Case) -> Answer:
    """The domains that are enough with the least left over."""
    given = case.given
    numbers: Any = _Given(given["domains"])
    wish = Wish(given["workerCount"], given["leaderCount"], 0, 0)
    found = optimal(numbers, numbers.domains, wish, by_entropy=True)
    return sorted(case.expected["want"]), sorted(domain.name for domain in found)


def run_balanced(case: Case) -> Answer:
    """What each domain is given."""
    given = case.given
    numbers: Any = _Given(given["domains"])
    size = given["sliceSize"]
    wish = Wish(given["sliceCount"] * size, given["leaderCount"], 0, 0, size)
    found = place_balanced(numbers, numbers.domains, wish, given["threshold"])
    expected = {name: _count(state) for name, state in (case.expected["want"] or {}).items()}
    return expected, {domain.name: numbers.of(domain) for domain in found}


TESTS: Mapping[str, Callable[[Case], Answer]] = {
    "TestFindTopologyAssignments": run_find,
    "TestFindTopologyAssignmentsMultiLayerReplacement": run_replace,
    "TestSelectOptimalDomainSetToFit": run_optimal,
    "TestPlaceSlicesOnDomainsBalanced": run_balanced,
    "TestSortedDomains": _sorter(by_room),
    "TestSortedDomainsWithLeader": _sorter(by_led_room),
    "TestMergeTopologyAssignments": run_merge,
}
