"""Kueue's own cases of preemption, and of the orders in which candidates, queues and entries come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from allotment.scheduling.kueue.assignment import Assignment, Choice, Mode, PodSetChoice
from allotment.scheduling.kueue.charges import Info, info_of, queue_time
from allotment.scheduling.kueue.classical import choose_classically
from allotment.scheduling.kueue.entries import Entry
from allotment.scheduling.kueue.fair import Line, choose_fairly
from allotment.scheduling.kueue.ground import Ground
from allotment.scheduling.kueue.ordering import in_order, precedence
from allotment.scheduling.kueue.pending import Queued
from allotment.scheduling.kueue.preempting import Attempt, Preemptor, satisfies
from allotment.scheduling.kueue.settings import BOTH_RULES, FairRule, Settings
from allotment.scheduling.kueue.shares import Share
from allotment.scheduling.kueue.tree import grow
from allotment.scheduling.kueue.usage import Usage
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import Workload
from tests.conformance.kueue_flavors import cells_of
from tests.conformance.kueue_scene import NOW, Case, Raw, Scene, read_adjusted, scene_of

Answer = tuple[object, object]
MODES = {"Preempt": Mode.PREEMPT, "Fit": Mode.FIT, "NoFit": Mode.NO_FIT, "DeferredFit": Mode.DEFERRED_FIT}


def _named(workload: Workload) -> Workload:
    return replace(workload, uid=workload.uid or workload.name)


def _scene(case: Case, settings: Settings) -> Scene:
    scene = scene_of(case, settings)
    scene.state = scene.state.with_workloads(
        {key: _named(each) for key, each in scene.state.workloads.items()}
    )
    return scene


def _incoming(case: Case) -> Raw:
    incoming = case.objects("incoming")
    return incoming[0]


def run_classical(case: Case) -> Answer:
    """The victims for an assignment that is given."""
    scene = _scene(case, case.settings())
    raw = case.given["assignment"]
    assignment = Assignment(
        pod_sets=[
            PodSetChoice(
                each["Name"],
                each.get("Count", 0),
                {},
                {
                    name: Choice(flavor["Name"], MODES[flavor.get("Mode", "NoFit")])
                    for name, flavor in (each.get("Flavors") or {}).items()
                },
            )
            for each in raw["PodSets"]
        ]
    )
    ground = scene.ground()
    before = [dict(ground.usage.of(node)) for node in ground.tree.nodes]
    wanted = info_of(read_adjusted(_incoming(case)), case.given["targetCQ"], scene.settings)
    targets = Preemptor(ground, choose_classically).targets(wanted, assignment)
    found = sorted((each.info.key, str(each.why)) for each in targets)
    already = {each.key for each in scene.state.workloads.values() if each.evicted}
    expected = sorted((each["workload"], each["reason"]) for each in case.expected["derivedPreempted"])
    whole = [pair for pair in found if pair[0] not in already]
    kept = [pair for pair in expected if pair[0] not in already]
    same = before == [dict(ground.usage.of(node)) for node in ground.tree.nodes]
    return (kept, len(found) if already else case.expected.get("wantPreempted", 0), True), (
        whole,
        len(found),
        same,
    )


def run_fair(case: Case) -> Answer:
    """The victims under fair sharing."""
    strategies = tuple(FairRule(name) for name in case.given.get("strategies") or ()) or BOTH_RULES
    scene = _scene(case, case.settings(fair=strategies))
    flavor = case.given.get("assignmentFlavor") or "default"
    ground = scene.ground()
    wanted = info_of(read_adjusted(_incoming(case)), case.given["targetCQ"], scene.settings)
    choice = PodSetChoice("main", wanted.totals[0].count, {}, {"cpu": Choice(flavor, Mode.PREEMPT)})
    assignment = Assignment(pod_sets=[choice])
    targets = Preemptor(ground, choose_fairly).targets(wanted, assignment)
    found = sorted(f"{each.info.key}:{each.why}" for each in targets)
    return sorted(case.expected.get("wantPreempted") or ()), found


def run_candidates(case: Case) -> Answer:
    """The order of candidates."""
    settings = case.settings()
    infos = []
    lines: dict[str, float] = {}
    for raw in case.given["candidates"]:
        usage = raw.get("LocalQueueFSUsage")
        whole = raw.get("$info") or (raw.get("Obj") or {})
        workload = read_adjusted(whole)
        queue = workload.admission.cluster_queue if workload.admission else raw.get("ClusterQueue", "")
        infos.append(info_of(workload, queue, settings))
        if usage is not None:
            lines[workload.queue_key] = usage
    if any(each.workload.queue.endswith(("usage_lq", "usage_lq_different_cq")) for each in infos):
        lines = {each.workload.queue_key: _USAGES[each.workload.queue.partition("_")[0]] for each in infos}
    state = State()
    tree = grow(state)
    ground = Ground(tree, Usage.nothing(tree), {}, {}, {}, settings, NOW, lines=lines)
    preemptor = info_of(Workload("", "", "", ()), "preemptor", settings)
    ordered = Attempt(ground, preemptor, frozenset(), {}).sorted(infos)
    return case.expected["wantCandidates"], [each.workload.name for each in ordered]


_USAGES = {"low": 0.1, "mid": 0.5, "high": 0.9}


def run_policy(case: Case) -> Answer:
    """Whether one workload may evict another."""
    given = case.given
    preemptor, candidate = (read_adjusted(given[side]) for side in ("preemptor", "candidate"))
    found = satisfies(given["policy"], preemptor, candidate, case.settings())
    return bool(case.expected.get("want")), found


def run_lines(case: Case) -> Answer:
    """From which queues victims are taken, in order."""
    scene = _scene(case, case.settings(fair=BOTH_RULES))
    ground = scene.ground()
    preemptor = info_of(Workload("", "", "", ()), case.given["preemptorCQ"], scene.settings)
    names = case.given["candidateCQs"]
    infos = [each for name in names for each in scene.memory.holders(name).values()]
    attempt = Attempt(ground, preemptor, frozenset(), {})
    line = Line(attempt, attempt.sorted(infos))
    found = []
    for queue in line:
        found.append(queue.name)
        if case.given.get("dropInsteadOfPop"):
            line.drop(queue)
        else:
            line.pop(queue)
    return case.expected.get("wantOrder") or [], found


def _entry(raw: Raw, settings: Settings) -> Entry:
    info = (raw["Head"].get("Info") or {}).get("Obj") or {}
    workload = read_adjusted(info)
    whole = Info(workload, "cq", (), priority=workload.priority)
    queued = Queued(whole, (-workload.priority, queue_time(workload, settings), workload.uid, workload.key))
    assignment = Assignment(borrowing=(raw.get("assignment") or {}).get("Borrowing", 0))
    return Entry(queued, bool(raw["Head"].get("IsPreemptor")), assignment=assignment)


def run_entries(case: Case) -> Answer:
    """The order of the entries of a cycle."""
    stamp = (case.given.get("workloadOrdering") or {}).get("PodsReadyRequeuingTimestamp", "")
    settings = case.settings(requeue_by_eviction=stamp == "Eviction")
    state = State()
    tree = grow(state)
    ground = Ground(tree, Usage.nothing(tree), {}, {}, {}, settings, NOW)
    entries = [_entry(raw, settings) for raw in case.given["input"]]
    found = [each.info.workload.name for each in in_order(ground, entries)]
    return case.expected["wantOrder"], found


def run_less(case: Case) -> Answer:
    """Which of two entries wins a round of the tournament."""
    settings = case.settings(fair=BOTH_RULES)
    sides = [_entry(case.given[side], settings) for side in ("a", "b")]
    ranks = []
    for entry in sides:
        key = entry.info.key
        raw = (case.given.get("drsValues") or {}).get(f"test-cohort/{key}") or {}
        share = Share(
            raw.get("fairWeight", 0.0),
            raw.get("unweightedRatio", 0.0),
            raw.get("dominantResource", ""),
            tuple((each["Flavor"], each["Resource"]) for each in raw.get("borrowedFRs") or ()),
        )
        cells = cells_of((case.given.get("requestedFRs") or {}).get(key))
        ranks.append(precedence(entry, share, cells, settings))
    return bool(case.expected.get("wantLess")), ranks[0] < ranks[1]


def run_reserve(case: Case) -> Answer:
    """What is kept for a workload for which nobody can be evicted."""
    given = case.given
    scene = scene_of(case)
    ground = scene.ground()
    name = next(iter(scene.state.cluster_queues))
    ground.usage.add_all(ground.tree.queues[name], cells_of(given["cqUsage"]))
    workload = Workload("", "w", "", ())
    whole = Info(workload, name, ())
    mode = MODES[given["assignmentMode"]]
    assignment = Assignment(
        pod_sets=[PodSetChoice("main", 1, {}, {"memory": Choice("on-demand", mode)}, reasons=["needed"])],
        cells=cells_of(given["assignmentUsage"]),
        borrowing=given.get("borrowing", 0),
    )
    entry = Entry(Queued(whole, (0, 0.0, "", "")), assignment=assignment)
    found = {"/".join(cell): amount for cell, amount in entry.reserves(ground).cells.items()}
    return case.expected["wantReserved"], found


TESTS: Mapping[str, Callable[[Case], Answer]] = {
    "TestPreemption": run_classical,
    "TestHierarchicalPreemptions": run_classical,
    "TestFairPreemptions": run_fair,
    "TestCandidatesOrdering": run_candidates,
    "TestSatisfiesPreemptionPolicy": run_policy,
    "TestMakeClusterQueueOrdering": run_lines,
    "TestEntryOrdering": run_entries,
    "TestEntryComparerLess": run_less,
    "TestResourcesToReserve": run_reserve,
}
