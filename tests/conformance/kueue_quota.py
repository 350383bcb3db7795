"""Kueue's own cases of quota: what is available, what is in use, and how the shares of borrowers compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from allotment.scheduling.kueue.assignment import Progress
from allotment.scheduling.kueue.charges import DomainUse, info_of
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.nominating import is_outdated
from allotment.scheduling.kueue.shares import share_of
from allotment.scheduling.kueue.topology.places import Taken, placed_on, take
from allotment.scheduling.kueue.transforming import Charging, read_transformation
from allotment.scheduling.state.amounts import UNLIMITED, amount_text
from allotment.scheduling.state.read_queues import read_flavor
from tests.conformance.kueue_flavors import cell_of, cells_of
from tests.conformance.kueue_scene import Case, read_adjusted, scene_of

Answer = tuple[object, object]


def _amount(value: object) -> object:
    return UNLIMITED if value == "Unlimited" else value


def run_available(case: Case) -> Answer:
    """What queues can have at most, and now."""
    scene = scene_of(case)
    ground = scene.ground()
    for name, cells in (case.given.get("usage") or {}).items():
        ground.usage.add_all(ground.tree.queues[name], cells_of(cells))
    want = case.expected
    expected: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for title, look in (
        ("wantAvailable", ground.usage.available),
        ("wantPotentiallyAvailable", lambda node, cell: node.most.get(cell, 0)),
    ):
        for name, cells in want[title].items():
            node = ground.tree.queues[name]
            for text, amount in cells.items():
                key = f"{title} {name} {text}"
                expected[key], found[key] = _amount(amount), look(node, cell_of(text))
    return expected, found


def run_share(case: Case) -> Answer:
    """The shares of queues and cohorts."""
    scene = scene_of(case)
    ground = scene.ground()
    ground.usage.add_all(ground.tree.queues["cq"], cells_of(case.given["usage"]))
    more = cells_of(case.given.get("flvResQ"))
    expected, found = [], []
    for each in case.expected["want"]:
        is_cohort = bool(each.get("NodeType"))
        node = (ground.tree.cohorts if is_cohort else ground.tree.queues)[each["Name"]]
        share = share_of(ground.usage, node, more if each["Name"] == "cq" and not is_cohort else None)
        expected.append(
            (each["Name"], each.get("DrValue", 0), each.get("DrName", ""), bool(each.get("Borrowing")))
        )
        found.append((each["Name"], share.rounded, share.resource, share.borrows))
    return expected, found


def run_borrowing(case: Case) -> Answer:
    """Whether a queue borrows of what is asked for."""
    scene = scene_of(case)
    ground = scene.ground()
    node = ground.tree.queues["cq"]
    ground.usage.add_all(node, cells_of(case.given["usage"]))
    share = share_of(ground.usage, node)
    want = case.expected
    asked = cells_of(case.given.get("requestedFRs"))
    expected = (bool(want["wantBorrowingOnRequested"]), bool(want["wantBorrowing"]))
    return expected, (share.borrows_any(asked), share.borrows)


def run_usage(case: Case) -> Answer:
    """What a queue's workloads hold, and those of them that are admitted."""
    scene = scene_of(case)
    ground = scene.ground()
    name = next(iter(scene.state.cluster_queues))
    held = list(scene.memory.holders(name).values())
    admitted: dict[tuple[str, str], int] = {}
    for each in held:
        if each.workload.admitted:
            for cell, amount in each.cells.items():
                admitted[cell] = admitted.get(cell, 0) + amount
    want = case.expected
    expected = (
        _cells(want.get("wantReservedResources") or ()),
        want.get("wantReservingWorkloads", 0),
        _cells(want.get("wantUsedResources") or ()),
        want.get("wantAdmittedWorkloads", 0),
    )
    used = {cell: amount for cell, amount in ground.usage.of(ground.tree.queues[name]).items() if amount}
    found = (
        {cell: amount_text(cell[1], amount) for cell, amount in used.items()},
        len(held),
        {cell: amount_text(cell[1], amount) for cell, amount in admitted.items()},
        sum(each.workload.admitted for each in held),
    )
    return expected, found


def _cells(raw: Any) -> dict[tuple[str, str], str]:
    return {
        (flavor["name"], each["name"]): each["total"]
        for flavor in raw
        for each in flavor.get("resources") or ()
        if each.get("total", "0") != "0"
    }


def run_snapshot(case: Case) -> Answer:
    """The tree and what is in use, as a snapshot has them."""
    scene = scene_of(case)
    ground = scene.ground()
    tree = ground.tree
    if "tasFlavorUsage" in case.given:
        return _placed_usage(case)
    manager = (case.expected.get("wantSnapshot") or {}).get("Manager") or {}
    expected: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for kind, nodes in (("clusterQueues", tree.queues), ("cohorts", tree.cohorts)):
        for name, raw in (manager.get(kind) or {}).items():
            node, resources = nodes.get(name), raw.get("ResourceNode") or {}
            for title in ("SubtreeQuota", "Usage"):
                want = resources.get(title)
                if isinstance(want, dict) and "$ref" not in want:
                    key = f"{kind} {name} {title}"
                    expected[key] = {text: _amount(value) for text, value in want.items() if value}
                    have = (
                        {}
                        if node is None
                        else (node.subtree if title == "SubtreeQuota" else ground.usage.of(node))
                    )
                    found[key] = {"/".join(cell): value for cell, value in have.items() if value}
            if kind == "clusterQueues":
                expected[f"{name} weight"] = raw.get("FairWeight", 0.0)
                found[f"{name} weight"] = node.weight if node else None
                workloads = raw.get("Workloads")
                if workloads is not None and "$ref" not in workloads:
                    expected[f"{name} workloads"] = sorted(workloads)
                    found[f"{name} workloads"] = sorted(scene.memory.holders(name))
    inactive = (case.expected.get("wantSnapshot") or {}).get("InactiveClusterQueueSets")
    if inactive is not None:
        expected["inactive"], found["inactive"] = sorted(inactive), sorted(tree.inactive)
    return expected, found


def _placed_usage(case: Case) -> Answer:

    scene = scene_of(case)
    relabeled = map(read_flavor, case.given.get("relabeledFlavors") or ())
    flavors = {**scene.state.flavors, **{each.name: each for each in relabeled}}
    scene.state = replace(scene.state, flavors=flavors)
    scene.ground()
    taken: dict[str, Taken] = {}
    for flavor, uses in case.given["tasFlavorUsage"].items():
        here = taken.setdefault(flavor, {})
        for each in uses:
            take(here, ",".join(each["Values"]), DomainUse((), each["SinglePodRequests"], each["Count"]))
    shared = scene.settings.on(Gate.OVERLAPPING_FLAVORS)
    places = placed_on(scene.memory.domains, taken, shared=shared)
    found = {
        flavor: {leaf: amounts for leaf, amounts in here.taken.items() if amounts}
        for flavor, here in places.items()
    }
    return case.expected["wantTASUsage"], {key: found.get(key) for key in case.expected["wantTASUsage"]}


def run_removing(case: Case) -> Answer:
    """What is in use after workloads were taken out and put back."""
    scene = scene_of(case)
    ground = scene.ground()
    by_key = {key: info for infos in scene.memory.held.values() for key, info in infos.items()}
    for key in case.given.get("remove") or ():
        ground.remove(by_key[key])
    for key in case.given.get("add") or ():
        ground.put_back(by_key[key])
    want = case.expected["want"].get("Manager")
    if want is None:
        scene = scene_of(case)
        untouched = scene.ground()
        return (
            [dict(untouched.usage.of(node)) for node in untouched.tree.nodes],
            [dict(ground.usage.of(node)) for node in ground.tree.nodes],
        )
    expected: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for kind, nodes in (("clusterQueues", ground.tree.queues), ("cohorts", ground.tree.cohorts)):
        for name, raw in (want.get(kind) or {}).items():
            usage = (raw.get("ResourceNode") or {}).get("Usage") or {}
            if "$ref" in usage:
                continue
            expected[name] = {text: value for text, value in usage.items() if value}
            have = ground.usage.of(nodes[name])
            found[name] = {"/".join(cell): value for cell, value in have.items() if value}
            if kind == "clusterQueues" and "Workloads" in raw:
                keys = sorted(each.key for each in ground.holders(nodes[name]))
                expected[f"{name} workloads"] = sorted(raw.get("Workloads") or ())
                found[f"{name} workloads"] = keys
    return expected, found


def run_outdated(case: Case) -> Answer:
    """Whether a search has to begin anew."""
    args = case.given["args"]
    last = args.get("last") or {}
    gates = case.settings().gates
    if not case.given.get("preserveProgress"):
        gates -= {Gate.KEEP_PROGRESS}
    progress = Progress(
        (),
        last.get("ClusterQueueGeneration", 0),
        last.get("SchedulingCycle", 0),
        _shape(last.get("SchedulingHash")),
    )
    found = is_outdated(
        progress,
        _shape(args.get("currentSchedulingHash")),
        cycle=args.get("currentSchedulingCycle", 0),
        generation=args.get("currentCQGeneration", 0),
        keeps=Gate.KEEP_PROGRESS in gates,
    )
    return bool(case.expected.get("want")), found


def _shape(raw: str | None) -> str | None:
    return None if raw == "unknown" else raw or ""


def run_info(case: Case) -> Answer:
    """The totals of a workload."""

    options = case.given.get("infoOptions") or {}
    changes = dict(
        read_transformation(each) for each in (options.get("resourceTransformations") or {}).values()
    )
    charging = Charging(changes, tuple(options.get("excludedResourcePrefixes") or ()))
    workload = read_adjusted(case.given["workload"], charge=charging)
    totals = info_of(workload, "", case.settings()).totals
    want = case.expected["wantInfo"]
    expected = [
        (
            each.get("Name", ""),
            dict(each.get("Requests") or {}),
            each.get("Count", 0),
            each.get("Flavors") or {},
            [
                (tuple(use["Values"]), use.get("SinglePodRequests") or {}, use["Count"])
                for use in (each.get("TopologyRequest") or {}).get("DomainRequests") or ()
            ],
        )
        for each in want.get("TotalRequests") or ()
    ]
    found = [
        (
            each.name,
            dict(each.requests),
            each.count,
            dict(each.flavors),
            [(use.values, dict(use.pod), use.count) for use in each.placed or ()],
        )
        for each in totals
    ]
    return expected, found


TESTS: Mapping[str, Callable[[Case], Answer]] = {
    "TestAvailable": run_available,
    "TestDominantResourceShare": run_share,
    "TestIsBorrowingOn": run_borrowing,
    "TestClusterQueueUsage": run_usage,
    "TestSnapshot": run_snapshot,
    "TestSnapshotAddRemoveWorkload": run_removing,
    "TestSnapshotAddRemoveWorkloadWithLendingLimit": run_removing,
    "TestLastAssignmentOutdated": run_outdated,
    "TestNewInfo": run_info,
}
