"""Kueue's own cases of flavor assignment, with an oracle in the place of preemption as in its tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from allotment.scheduling.kueue import Memory
from allotment.scheduling.kueue.assigning import Assigner
from allotment.scheduling.kueue.assignment import (
    Assignment,
    Choice,
    Grade,
    Mode,
    PodSetChoice,
    Standing,
    is_preferred,
)
from allotment.scheduling.kueue.charges import DomainUse, Info, PodSetTotal
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.ground import Ground
from allotment.scheduling.kueue.nominating import pinned_by
from allotment.scheduling.kueue.preempting import requests_of
from allotment.scheduling.kueue.quota import Prober
from allotment.scheduling.kueue.searching import Sought
from allotment.scheduling.kueue.settings import BOTH_RULES, Settings
from allotment.scheduling.kueue.shrinking import fewest_less
from allotment.scheduling.kueue.tree import Cell
from allotment.scheduling.state.amounts import amount_text, in_walking_order
from allotment.scheduling.state.queues import Fungibility
from allotment.scheduling.state.read_queues import (
    read_cluster_queue,
    read_flavor,
    read_node,
    read_topology,
)
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import Workload
from tests.conformance.kueue_scene import Case, Raw, Scene, info, read_adjusted, scene_of

Answer = tuple[object, object]
GRADES = {
    "noFit": Grade.NO_FIT,
    "noPreemptionCandidates": Grade.NO_CANDIDATES,
    "NoCandidates": Grade.NO_CANDIDATES,
    "preempt": Grade.PREEMPT,
    "Preempt": Grade.PREEMPT,
    "reclaim": Grade.RECLAIM,
    "Reclaim": Grade.RECLAIM,
    "fit": Grade.FIT,
}
MODES = {Mode.NO_FIT: "NoFit", Mode.PREEMPT: "Preempt", Mode.DEFERRED_FIT: "DeferredFit", Mode.FIT: "Fit"}


def cell_of(text: str) -> Cell:
    """A cell of ``flavor/resource``."""
    flavor, _, resource = text.partition("/")
    return flavor, resource


def cells_of(raw: Mapping[str, int] | None) -> dict[Cell, int]:
    """Amounts by cell."""
    return {cell_of(text): amount for text, amount in (raw or {}).items()}


def prober_of(raw: Mapping[str, Raw] | None) -> Prober:
    """What the test says preemption would come to; a cell that it says nothing about can be preempted."""

    def probe(cell: Cell, _amount: int) -> tuple[Grade, int]:
        said = (raw or {}).get("/".join(cell))
        if said is None:
            return Grade.PREEMPT, 0
        return GRADES[said.get("preemptionPossiblity", "NoCandidates")], said.get(
            "borrowingAfterSimulation", 0
        )

    return probe


def assign(
    ground: Ground, wanted: Info, raw_oracle: Mapping[str, Raw] | None = None, **sought: Any
) -> Assignment:
    """The assignment of a workload."""
    return Assigner(ground, Sought(wanted, **sought), prober_of(raw_oracle)).assign()


def _workload(pod_sets: Iterable[Raw], **more: Any) -> Workload:
    raw = {"metadata": {"name": "", "namespace": ""}, "spec": {"podSets": list(pod_sets)}, **more}
    return read_adjusted(raw)


def _use(scene: Scene, ground: Ground, names: Iterable[str], usages: Iterable[Any]) -> None:
    for name, usage in zip(names, usages, strict=False):
        ground.usage.add_all(ground.tree.queues[name], cells_of(usage))


def run_assign(case: Case) -> Answer:
    """A whole assignment."""
    given = case.given
    settings = case.settings(fair=BOTH_RULES if given.get("enableFairSharing") else None)
    scene = scene_of(case, settings)
    ground = scene.ground()
    queues = list(scene.state.cluster_queues)
    _use(
        scene,
        ground,
        queues,
        (given.get("clusterQueueUsage"), given.get("secondaryClusterQueueUsage")),
    )
    status = {"reclaimablePods": given.get("wlReclaimablePods") or ()}
    wanted = info(scene, _workload(given["wlPods"], status=status), queues[0])
    replaced = _replaced(given.get("preemptWorkloadSlice"), queues[0])
    assignment = assign(ground, wanted, given.get("simulationResult"), replaced=replaced)
    want = case.expected["wantAssignment"]
    return (
        (case.expected["wantRepMode"], _told_want(want), _attempts(want, assignment)),
        (MODES[assignment.mode], _told(assignment), _found_attempts(want, assignment)),
    )


def _attempts(want: Raw, assignment: Assignment) -> object:
    """The flavors that were to be looked at, where the case says.

    As in its test, those that fit here and are only said not to have a resource do not count.
    """
    fit = {
        (each.name, flavor)
        for each in assignment.pod_sets
        for flavor, attempt in each.attempts.items()
        if attempt.mode is Mode.FIT
    }
    return {
        each["Name"]: sorted(
            (
                attempt["Flavor"],
                attempt.get("Mode", "NoFit"),
                attempt.get("NoFitReason", ""),
                attempt.get("Borrow", 0),
                tuple(sorted(attempt.get("Reasons") or ())),
            )
            for attempt in each["FlavorAssignmentAttempts"]
            if (each["Name"], attempt["Flavor"]) not in fit or not _only_absent(attempt)
        )
        for each in want.get("PodSets") or ()
        if each.get("FlavorAssignmentAttempts")
    }


def _only_absent(attempt: Raw) -> bool:
    reasons = attempt.get("Reasons") or ()
    return bool(reasons) and all(" does not provide resource " in reason for reason in reasons)


def _found_attempts(want: Raw, assignment: Assignment) -> object:
    absent = {
        (each["Name"], attempt["Flavor"])
        for each in want.get("PodSets") or ()
        for attempt in each.get("FlavorAssignmentAttempts") or ()
        if _only_absent(attempt)
    }
    named = {each["Name"] for each in want.get("PodSets") or () if each.get("FlavorAssignmentAttempts")}
    return {
        each.name: sorted(
            (flavor, MODES[attempt.mode], str(attempt.reason), attempt.borrowing, attempt.reasons)
            for flavor, attempt in each.attempts.items()
            if (each.name, flavor) not in absent or attempt.mode is not Mode.FIT
        )
        for each in assignment.pod_sets
        if each.name in named
    }


def _replaced(raw: Raw | None, queue: str) -> Info | None:
    if raw is None:
        return None
    totals = tuple(
        PodSetTotal(
            each.get("Name", ""),
            each.get("Count", 0),
            in_walking_order(each.get("Requests") or {}),
            each.get("Flavors") or {},
        )
        for each in raw["TotalRequests"]
    )
    return Info(_workload(()), queue, totals)


def _told_want(want: Raw) -> object:
    return (
        tuple(
            (
                each["Name"],
                tuple(
                    sorted(
                        (name, flavor["Name"], flavor.get("Mode", "NoFit"), flavor.get("TriedFlavorIdx", 0))
                        for name, flavor in (each.get("Flavors") or {}).items()
                    )
                ),
                tuple(sorted((each.get("Status") or {}).get("reasons") or ())),
                tuple(sorted((each.get("Requests") or {}).items())),
                each.get("Count", 0),
            )
            for each in want.get("PodSets") or ()
        ),
        want.get("Borrowing", 0),
        tuple(sorted(((want.get("Usage") or {}).get("Quota") or {}).get("Assigned", {}).items())),
        want.get("NoFitReason", ""),
    )


def _told(assignment: Assignment) -> object:
    return (
        tuple(
            (
                each.name,
                tuple(
                    sorted(
                        (name, choice.flavor, MODES[choice.mode], choice.tried)
                        for name, choice in each.choices.items()
                    )
                ),
                tuple(sorted(each.reasons)),
                tuple(sorted((name, amount_text(name, amount)) for name, amount in each.requests.items())),
                each.count,
            )
            for each in assignment.pod_sets
        ),
        assignment.borrowing,
        tuple(sorted(("/".join(cell), amount) for cell, amount in assignment.cells.items())),
        str(assignment.reason),
    )


def run_deleted(case: Case) -> Answer:
    """An assignment after a flavor that the queue names is gone."""
    scene = scene_of(case)
    left = {name: each for name, each in scene.state.flavors.items() if name != "deleted-flavor"}
    scene.state = replace(scene.state, flavors=left)
    queue = next(iter(scene.state.cluster_queues))
    assignment = assign(scene.ground(), info(scene, _workload(case.given["wlPods"]), queue))
    want = case.expected
    return (want["wantRepMode"], _told_want(want["wantAssignment"])), (
        MODES[assignment.mode],
        _told(assignment),
    )


def run_reclaiming(case: Case) -> Answer:
    """Which flavor is chosen where reclaiming is possible."""
    given = case.given
    scene = scene_of(case)
    fungibility = given.get("flavorFungibility")
    queue = scene.state.cluster_queues["test-clusterqueue"]
    if fungibility:
        said = Fungibility(
            fungibility.get("whenCanBorrow") or "MayStopSearch",
            fungibility.get("whenCanPreempt") or "TryNextFlavor",
            fungibility.get("preference"),
        )
        queue = replace(queue, fungibility=said)
        queues = {**scene.state.cluster_queues, queue.name: queue}
        scene.state = replace(scene.state, cluster_queues=queues)
    ground = scene.ground()
    _use(
        scene,
        ground,
        ("test-clusterqueue", "other-clusterqueue"),
        (given.get("testClusterQueueUsage"), given.get("otherClusterQueueUsage")),
    )
    wanted = info(scene, _workload([given["workloadRequests"]["PodSet"]]), queue.name)
    assignment = assign(ground, wanted, given.get("simulationResult"))
    found = {name: choice.flavor for name, choice in assignment.pod_sets[0].choices.items()}
    want = case.expected
    return (want["wantMode"], want.get("wantAssigment")), (MODES[assignment.mode], found)


def run_allowed(case: Case) -> Answer:
    """A variant that may have only some flavors."""
    settings = case.settings()
    scene = scene_of(case, replace(settings, gates=settings.gates | {Gate.CONCURRENT}))
    workload = next(iter(scene.state.workloads.values()))
    queue = next(iter(scene.state.cluster_queues))
    scene.state = scene.state.with_workloads({workload.key: None})
    assignment = assign(scene.ground(), info(scene, workload, queue))
    choices = assignment.pod_sets[0].choices
    found = choices["cpu"].flavor if choices else ""
    want = case.expected
    return (want["wantFlavor"], want["wantRepMode"]), (found, MODES[assignment.mode])


def run_reasons(case: Case) -> Answer:
    """The one reason for not fitting, and that of each flavor."""
    given = case.given
    scene = scene_of(case)
    workload = next(iter(scene.state.workloads.values()))
    scene.state = scene.state.with_workloads({workload.key: None})
    ground = scene.ground()
    queue = next(iter(scene.state.cluster_queues))
    _use(scene, ground, [queue], [given.get("cqUsage")])
    siblings = given.get("siblingCQUsage") or {}
    _use(scene, ground, siblings.keys(), siblings.values())
    assignment = assign(ground, info(scene, workload, queue), given.get("simulationResult"))
    want = case.expected
    told = {
        name: str(attempt.reason)
        for each in assignment.pod_sets
        for name, attempt in each.attempts.items()
        if name in want["wantFlavorAttempts"]
    }
    asked = {name: reason for name, reason in want["wantFlavorAttempts"].items() if name in told}
    return (want["wantNoFitReason"], asked), (str(assignment.reason), told)


def run_led(case: Case) -> Answer:
    """Leaders and workers that share flavors."""
    scene = scene_of(case)
    queue = next(iter(scene.state.cluster_queues))
    assignment = assign(scene.ground(), info(scene, _workload(case.given["wlPods"]), queue))
    want = case.expected
    expected = (
        {name: each["$error"] for name, each in (want.get("wantPodSetErrors") or {}).items()},
        {
            name: sorted(
                (resource, each["Name"], each.get("Mode", "NoFit"), each.get("TriedFlavorIdx", 0))
                for resource, each in flavors.items()
            )
            for name, flavors in (want.get("wantPodSetFlavors") or {}).items()
        },
    )
    found = (
        {each.name: each.error for each in assignment.pod_sets if each.error},
        {
            each.name: sorted(
                (resource, choice.flavor, MODES[choice.mode], choice.tried)
                for resource, choice in each.choices.items()
            )
            for each in assignment.pod_sets
            if each.name in expected[1]
        },
    )
    return expected, found


def _two_flavors(settings: Settings, nominal: str, spare: str, fungibility: Raw) -> Scene:
    """Two flavors with a node each, and a cohort that may lend."""

    def queue(name: str, amount: str) -> Raw:
        flavors = [
            {"name": each, "resources": [{"name": "cpu", "nominalQuota": amount}]}
            for each in ("flavor-1", "flavor-2")
        ]
        return {
            "metadata": {"name": name},
            "spec": {
                "cohortName": "cohort",
                "namespaceSelector": {},
                "flavorFungibility": fungibility,
                "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}],
            },
        }

    levels = [{"nodeLabel": "kubernetes.io/hostname"}]
    named = {"flavor-1": ("one", "topology-1", "node-1"), "flavor-2": ("two", "topology-2", "node-2")}
    flavors = [
        read_flavor(
            {"metadata": {"name": name}, "spec": {"nodeLabels": {"flavor": label}, "topologyName": topology}}
        )
        for name, (label, topology, _node) in named.items()
    ]
    nodes = [
        read_node(
            {
                "metadata": {"name": node, "labels": {"flavor": label, "kubernetes.io/hostname": node}},
                "status": {
                    "allocatable": {"cpu": "4", "pods": "32"},
                    "conditions": [{"type": "Ready", "status": "True"}],
                },
            }
        )
        for label, _topology, node in named.values()
    ]
    topologies = [
        read_topology({"metadata": {"name": topology}, "spec": {"levels": levels}})
        for _label, topology, _node in named.values()
    ]
    queues = [read_cluster_queue(queue("cq", nominal)), read_cluster_queue(queue("sibling", spare))]
    return Scene(
        State(
            cluster_queues={each.name: each for each in queues},
            flavors={each.name: each for each in flavors},
            topologies={each.name: each for each in topologies},
            nodes={each.name: each for each in nodes},
        ),
        Memory(settings),
    )


def _one_pod(cpu: str) -> Raw:
    return {
        "name": "main",
        "count": 1,
        "topologyRequest": {"required": "kubernetes.io/hostname"},
        "template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}},
    }


def _take_nodes(ground: Ground, raw: Mapping[str, Iterable[Raw]]) -> None:
    uses = {
        flavor: tuple(
            DomainUse(tuple(each["Values"]), each.get("SinglePodRequests") or {}, each["Count"])
            for each in listed
        )
        for flavor, listed in raw.items()
    }
    ground.use(ground.tree.queues["cq"], {}, uses)


def run_bookmarks(case: Case) -> Answer:
    """How far a search is noted to have come."""
    given, want = case.given, case.expected
    scene = _two_flavors(
        case.settings(), given["nominalPerFlavor"], given["cohortSpare"], given["fungibility"]
    )
    ground = scene.ground()
    _use(scene, ground, ["cq"], [given.get("clusterQueueUsage")])
    _take_nodes(ground, given.get("nodeUsage") or {})
    wanted = info(scene, _workload([_one_pod(given["request"])]), "cq")
    assignment = assign(ground, wanted, given.get("simulationResult"))
    found = (
        MODES[assignment.mode],
        assignment.tried[0].get("cpu"),
        assignment.pod_sets[0].placement is not None,
    )
    return (want["wantMode"], want["wantTriedFlavorIdx"], bool(want.get("wantPlan"))), found


def run_bookmarks_again(case: Case) -> Answer:
    """The same when a placement has become impossible within the cycle."""
    gates = (case.settings().gates | {Gate.REPLACE_PLACEMENT}) - {Gate.OVERLAP}
    wishes = {
        "whenCanBorrow": "TryNextFlavor",
        "whenCanPreempt": "TryNextFlavor",
        "preference": "PreemptionOverBorrowing",
    }
    scene = _two_flavors(case.settings(gates=gates), "10", "0", wishes)
    ground = scene.ground()
    wanted = info(scene, _workload([_one_pod("3")]), "cq")
    nominated = assign(ground, wanted)
    taken = {"Values": ["node-1"], "SinglePodRequests": {"cpu": 2000}, "Count": 1}
    _take_nodes(ground, {"flavor-1": [taken]})
    _use(scene, ground, ["cq"], [case.given.get("quotaUsageAtRecompute")])
    again = assign(ground, wanted, case.given.get("simulationResult"), pinned=pinned_by(nominated))
    return (case.expected["wantRecomputedIdx"], "Preempt"), (again.tried[0].get("cpu"), MODES[again.mode])


def run_preferred(case: Case) -> Answer:
    """Which of two standings is better."""
    config = case.given.get("config") or {}
    said = Fungibility(preference=config.get("preference"))
    sides = [
        Standing(
            GRADES[case.given[side].get("preemptionMode", "noFit")], case.given[side].get("borrowingLevel", 0)
        )
        for side in ("a", "b")
    ]
    return bool(case.expected.get("wantPreferred")), is_preferred(sides[0], sides[1], said)


def run_requests(case: Case) -> Answer:
    """What an assignment asks for in all."""
    fields = case.given["fields"]
    workload = read_adjusted(case.given["args"]["wl"]["$info"])
    scene = scene_of(case)
    assignment = Assignment(
        pod_sets=[
            PodSetChoice(
                each["Name"],
                each.get("Count", 0),
                {},
                {name: Choice(flavor["Name"], Mode.FIT) for name, flavor in each["Flavors"].items()},
            )
            for each in fields["PodSets"]
        ]
    )
    replaced = fields.get("replaceWorkloadSlice")
    if replaced is not None:
        old = replaced.get("$info")
        slices = info(scene, read_adjusted(old), "") if old else _replaced(replaced, "")
        assignment.replaced = slices.totals if slices else None
    need = requests_of(info(scene, workload, ""), assignment)
    return case.expected["want"], {"/".join(cell): amount for cell, amount in need.items()}


def run_search(case: Case) -> Answer:
    """The most pods that are no more than a limit."""
    sets = [(each.get("count", 0), each.get("minCount")) for each in case.given["podSets"]]
    limit = case.given["countLimit"]
    found = fewest_less(sets, lambda counts: sum(counts) if sum(counts) <= limit else None)
    want = case.expected
    expected = (want["wantFound"], want["wantCount"] if want["wantFound"] else 0)
    return expected, (found is not None, found or 0)


TESTS: Mapping[str, Callable[[Case], Answer]] = {
    "TestAssignFlavors": run_assign,
    "TestDeletedFlavors": run_deleted,
    "TestReclaimBeforePriorityPreemption": run_reclaiming,
    "TestHierarchical": run_reclaiming,
    "TestAssignFlavorsWithAllowedFlavors": run_allowed,
    "TestIsNoFitDueToCapacityAndLimits": run_reasons,
    "TestAssignFlavors_LeaderWorkerSetTASFlavor": run_led,
    "TestFlavorScanRecordsLastTriedFlavorIdx": run_bookmarks,
    "TestRecomputeRecordsLastTriedFlavorIdx": run_bookmarks_again,
    "TestIsPreferred": run_preferred,
    "TestAssignment_TotalRequestsFor": run_requests,
    "TestSearch": run_search,
}
