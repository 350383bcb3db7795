"""Kueue's own cases of whole scheduling cycles: who is admitted, evicted, put aside and told what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from allotment.scheduling.kueue import Admitted, Decision, Evicted, Waits, applied, decide
from allotment.scheduling.kueue.decisions import Kept
from allotment.scheduling.kueue.gates import Gate, without
from allotment.scheduling.kueue.memory import LineUse
from allotment.scheduling.kueue.settings import BOTH_RULES, UsageFairness
from allotment.scheduling.kueue.transforming import Charging, read_transformation
from allotment.scheduling.state.read_queues import read_cluster_queue, read_node, read_topology
from allotment.scheduling.state.read_workloads import read_admission, read_workload
from allotment.scheduling.state.shelf import Shelf
from tests.conformance.kueue_scene import NOW, Case, Scene, scene_of, told_admission

Answer = tuple[object, object]
SECOND_LOOK = 1.5


def run_cycle(case: Case) -> Answer:
    """One cycle of the classical or the fair scheduler."""
    fair = BOTH_RULES if case.given.get("enableFairSharing") else None
    scene = scene_of(case, case.settings(fair=fair))
    decisions = step(scene)
    return _expected(case), _found(case, scene, decisions)


def step(scene: Scene) -> tuple[Decision, ...]:
    """Decide once, and carry it out."""
    decisions, scene.memory = decide(scene.state, scene.memory, scene.now)
    scene.state = applied(scene.state, decisions, scene.now)
    return decisions


def _expected(case: Case) -> object:
    want = case.expected
    told = {
        "admitted": tuple(
            sorted((each["workload"], told_raw(each["admission"])) for each in want["derivedAdmitted"])
        ),
        "preempted": tuple(sorted((each["workload"], each["reason"]) for each in want["derivedPreempted"])),
        "pending": tuple(
            sorted((each["workload"], each["reason"], each["message"]) for each in want["derivedPending"])
        ),
    }
    if case.raw["test"] not in LINES_NOT_TOLD:
        told["left"] = _lines(want.get("wantLeft"))
        told["aside"] = _lines(want.get("wantInadmissibleLeft"))
    return told


LINES_NOT_TOLD = {"TestScheduleForAFS", "TestLastSchedulingContext"}


def told_raw(raw: Mapping[str, Any]) -> Any:
    """An expected admission to compare with."""
    admission = read_admission(raw)
    assert admission is not None
    return told_admission(admission)


def _lines(raw: Mapping[str, Iterable[str]] | None) -> tuple[Any, ...]:
    return tuple((queue, tuple(sorted(names))) for queue, names in sorted((raw or {}).items()) if names)


def _found(case: Case, scene: Scene, decisions: Iterable[Decision]) -> object:
    new = [each for each in decisions if isinstance(each, Admitted)]
    everyone = scene.state.workloads.values()
    told: dict[str, object] = {
        "admitted": tuple(sorted((each.workload, told_admission(each.admission)) for each in new)),
        "preempted": tuple(sorted((each.key, each.preempted.reason) for each in everyone if each.preempted)),
        "pending": tuple(
            sorted((each.key, each.waiting.reason, each.waiting.message) for each in everyone if each.waiting)
        ),
    }
    if case.raw["test"] not in LINES_NOT_TOLD:
        told["left"] = _lines({name: tuple(line.active) for name, line in scene.memory.lines.items()})
        told["aside"] = _lines({name: tuple(line.aside) for name, line in scene.memory.lines.items()})
    return told


def run_placed(case: Case) -> Answer:
    """One cycle with topologies."""
    changes = dict(read_transformation(each) for each in case.given.get("resourceTransformations") or ())
    scene = scene_of(case, charge=Charging(changes))
    scene.ground()
    scene.now = NOW + SECOND_LOOK
    decisions = step(scene)
    want = case.expected
    expected: dict[str, object] = {
        "assigned": tuple(
            sorted((key, told_raw(raw)) for key, raw in (want.get("wantNewAssignments") or {}).items())
        ),
        "left": _lines(want.get("wantLeft")),
        "aside": _lines(want.get("wantInadmissibleLeft")),
        "events": _events(want.get("wantEvents") or ()),
    }
    new = [each for each in decisions if isinstance(each, Admitted)]
    gone = [each for each in decisions if isinstance(each, Evicted) and each.cause is None]
    stay = [(each.workload, scene.state.workloads[each.workload].admission) for each in gone]
    given = [(each.workload, each.admission) for each in new]
    given += [(key, admission) for key, admission in stay if admission is not None]
    found: dict[str, object] = {
        "assigned": tuple(sorted((key, told_admission(admission)) for key, admission in given)),
        "left": _lines({name: tuple(line.active) for name, line in scene.memory.lines.items()}),
        "aside": _lines({name: tuple(line.aside) for name, line in scene.memory.lines.items()}),
        "events": _made_events(scene, decisions),
    }
    if "derivedPending" in want:
        whole = _expected(case), _found(case, scene, decisions)
        expected["pending"], found["pending"] = (each["pending"] for each in whole)  # type: ignore[index]
        expected["preempted"], found["preempted"] = (each["preempted"] for each in whole)  # type: ignore[index]
    if "wantNewAssignments" not in want and "derivedAdmitted" in want:
        expected.pop("assigned")
        found.pop("assigned")
    return expected, found


def _events(raw: Iterable[Mapping[str, Any]]) -> tuple[Any, ...]:
    told = Counter(
        (f"{each['Key']['Namespace']}/{each['Key']['Name']}", each["EventType"], each["Reason"])
        for each in raw
    )
    return tuple(sorted(told.items()))


def _made_events(scene: Scene, decisions: Iterable[Decision]) -> tuple[Any, ...]:
    told: Counter[tuple[str, str, str]] = Counter()
    for each in decisions:
        for event in _EVENTS[type(each)](scene, each):
            told[event] += 1
    return tuple(sorted(told.items()))


def _admitted(scene: Scene, decision: Any) -> list[tuple[str, str, str]]:
    before = scene.memory.seen.workloads[decision.workload] if scene.memory.seen else None
    events = []
    if before is None or not before.reserved:
        events.append((decision.workload, "Normal", "QuotaReserved"))
    if decision.complete and not (before and before.unhealthy):
        events.append((decision.workload, "Normal", "Admitted"))
    return events


def _evicted(_scene: Scene, decision: Any) -> list[tuple[str, str, str]]:
    if decision.cause is None:
        return [(decision.workload, "Normal", "EvictedDueToNodeFailures")]
    return [
        (decision.workload, "Normal", "EvictedDueToPreempted"),
        (decision.workload, "Normal", "Preempted"),
        (decision.by, "Normal", "PreemptedWorkload"),
    ]


def _waits(_scene: Scene, decision: Any) -> list[tuple[str, str, str]]:
    return [(decision.workload, "Warning", str(decision.reason) or "Pending")]


_EVENTS: Mapping[type, Callable[[Scene, Any], list[tuple[str, str, str]]]] = {
    Admitted: _admitted,
    Evicted: _evicted,
    Waits: _waits,
    Kept: lambda _scene, decision: [(decision.workload, "Warning", "SecondPassFailed")],
}


def run_by_usage(case: Case) -> Answer:
    """A cycle in which LocalQueues that have had less go first."""
    settings = case.settings(usage_fairness=UsageFairness(half_life=300.0, interval=300.0))
    scene = scene_of(case, settings)
    usage = case.given.get("initialUsage") or {}
    uses = {
        f"default/{name}": LineUse({key: float(value) for key, value in amounts.items()}, {}, NOW)
        for name, amounts in usage.items()
    }
    scene.memory = replace(scene.memory, uses=uses)
    gone = case.given.get("deleteQueue")
    if gone:
        scene.ground()
        lines = {key: each for key, each in scene.state.local_queues.items() if each.name != gone}
        scene.state = replace(scene.state, local_queues=lines)
        # the object is gone, and nobody has told the manager
        scene.memory = replace(scene.memory, seen=scene.state)
    decisions: list[Decision] = []
    for _ in range(len(scene.state.workloads)):
        new = step(scene)
        decisions += new
        if not new:
            break
    return _expected(case), _found(case, scene, decisions)


def run_twice(case: Case) -> Answer:
    """Two cycles, between which some workloads go."""
    scene = scene_of(case)
    step(scene)
    gone = [f"{each['Namespace']}/{each['Name']}" for each in case.given.get("deleteWorkloads") or ()]
    found = _found(case, scene, ())
    scene.state = scene.state.with_workloads(dict.fromkeys(gone))
    step(scene)
    held = [(each.key, each.admission) for each in scene.state.workloads.values()]
    second = tuple(sorted((key, told_admission(given)) for key, given in held if given is not None))
    want = case.expected.get("wantAdmissionsOnSecondSchedule") or {}
    expected = _expected(case)
    for told in (expected, found):
        told.pop("admitted")  # type: ignore[attr-defined]
    return (expected, tuple(sorted((key, told_raw(raw)) for key, raw in want.items()))), (found, second)


def run_progress(case: Case) -> Answer:
    """Four cycles in which a queue's quota changes all the time, or does not."""
    gates = case.settings().gates
    if not case.given.get("gateEnabled"):
        gates = without(gates, Gate.KEEP_PROGRESS)
    scene = scene_of(case, case.settings(gates=gates, fair=BOTH_RULES))
    scene.state = replace(scene.state, cluster_queues={"tas-cq": read_cluster_queue(_queue("4"))})
    workloads = [read_workload(raw) for name in ("blocker", "pending") for raw in case.fixture(name)]
    scene.state = replace(
        scene.state,
        topologies={each.name: each for each in map(read_topology, case.fixture("singleLevelTopology"))},
        nodes={each.name: each for each in map(read_node, case.fixture("nodes"))},
        workloads=Shelf({each.key: each for each in workloads}),
    )
    for index in range(4):
        step(scene)
        amount = "4" if case.given.get("noChurn") else str(5 - index % 2)
        if not case.given.get("noChurn"):
            queue = read_cluster_queue(_queue(amount))
            scene.state = replace(scene.state, cluster_queues={"tas-cq": queue})
    admission = scene.state.workloads["default/pending"].admission
    return case.expected["wantPendingFlavor"], admission.pod_sets[0].flavors["cpu"] if admission else ""


def _queue(amount: str) -> dict[str, Any]:
    flavors = [("tas-flavor-1", "4"), ("tas-flavor-2", amount)]
    return {
        "metadata": {"name": "tas-cq"},
        "spec": {
            "namespaceSelector": {},
            "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"},
            "resourceGroups": [
                {
                    "coveredResources": ["cpu"],
                    "flavors": [
                        {"name": name, "resources": [{"name": "cpu", "nominalQuota": quota}]}
                        for name, quota in flavors
                    ],
                }
            ],
        },
    }


TESTS: Mapping[str, Callable[[Case], Answer]] = {
    "TestSchedule": run_cycle,
    "TestScheduleForFairSharing": run_cycle,
    "TestScheduleRecomputePreemptionTargets": run_cycle,
    "TestScheduleConcurrentAdmission": run_cycle,
    "TestScheduleForAFS": run_by_usage,
    "TestLastSchedulingContext": run_twice,
    "TestScheduleForPreserveFlavorScanProgress": run_progress,
    "TestScheduleForTAS": run_placed,
    "TestScheduleForTASPreemption": run_placed,
    "TestScheduleForTASCohorts": run_placed,
}
