"""Kueue's own cases of queues, of waiting, and of the slices of elastic workloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from allotment.scheduling.kueue.assignment import Progress
from allotment.scheduling.kueue.charges import Info, info_of, queue_time
from allotment.scheduling.kueue.cycle import reason_to_requeue
from allotment.scheduling.kueue.decisions import Reason, Requeue
from allotment.scheduling.kueue.entries import Outcome
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.ground import Ground
from allotment.scheduling.kueue.nominating import Nominator
from allotment.scheduling.kueue.pending import Pending, Queued, pop, push, requeue, wake
from allotment.scheduling.kueue.settings import Settings
from allotment.scheduling.kueue.slices import living_slices, plan_slices, scaled_down
from allotment.scheduling.kueue.standing import is_admissible, is_ready
from allotment.scheduling.kueue.tree import grow
from allotment.scheduling.kueue.usage import Usage
from allotment.scheduling.state.queues import BY_USAGE, LabelSelector, LabelTerm, Strategy
from allotment.scheduling.state.read_queues import read_cluster_queue, read_local_queue
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import Workload
from tests.conformance.kueue_scene import NOW, Case, Raw, read_adjusted

Answer = tuple[object, object]
DEPARTMENTS = LabelSelector(terms=(LabelTerm("dep", "In", ("eng", "sales")),))
NAMESPACES = {"ns1": {"dep": "eng"}, "ns2": {"dep": "sales"}, "ns3": {"dep": "marketing"}}


def _queued(workload: Workload, settings: Settings, shape: str | None = None) -> Queued:
    info = replace(info_of(workload, "cq", settings), shape=shape)
    rank = (-info.priority, queue_time(workload, settings), workload.uid, workload.key)
    return Queued(info, rank)


def _infos(raws: Iterable[Raw]) -> list[Workload]:
    return [read_adjusted(raw.get("$info") or raw) for raw in raws]


def _back(
    pending: Pending, queued: Queued, strategy: Strategy, why: Requeue, *, reason: Reason = Reason.NONE
) -> Pending:
    ready = is_ready(queued.info.workload, NOW)
    return requeue(pending, queued, strategy, why, reason, ready=ready)


def run_queue(case: Case) -> Answer:
    """What is in line after workloads have come, come back, changed and gone."""
    given, settings, best = case.given, case.settings(), Strategy.BEST_EFFORT
    pending = Pending()
    for workload in _infos(given.get("workloadsToAdd") or ()):
        pending = push(pending, _queued(workload, settings), best, ready=is_ready(workload, NOW))
    for workload in _infos(given.get("inadmissibleWorkloadsToRequeue") or ()):
        pending = _back(pending, _queued(workload, settings), best, Requeue.GENERIC)
    for workload in _infos(given.get("admissibleWorkloadsToRequeue") or ()):
        pending = _back(pending, _queued(workload, settings), best, Requeue.AFTER_NOMINATION)
    for workload in _infos(given.get("workloadsToUpdate") or ()):
        pending = push(pending, _queued(workload, settings), best, ready=is_ready(workload, NOW))
    for workload in _infos(given.get("workloadsToDelete") or ()):
        pending = pending.without(workload.key)
    moved = len(pending.aside)
    if given.get("queueInadmissibleWorkloads"):
        pending = wake(pending, _is_open, lambda info: is_ready(info.workload, NOW))
    moved -= len(pending.aside)
    want = case.expected
    expected = (
        sorted(want.get("wantActiveWorkloads") or ()),
        want["wantPending"],
        want.get("wantInadmissibleWorkloadsRequeued", 0),
    )
    return expected, (sorted(pending.active), len(pending.active) + len(pending.aside), moved)


def _is_open(namespace: str) -> bool:
    labels = NAMESPACES.get(namespace)
    return labels is not None and DEPARTMENTS.matches(labels)


def run_backoff(case: Case) -> Answer:
    """Whether a workload may be tried again."""
    workload = _infos([case.given["workloadInfo"]])[0]
    return bool(case.expected.get("want")), is_ready(workload, NOW)


def run_back_in_line(case: Case) -> Answer:
    """Where a workload goes that was not admitted, in a best-effort queue."""
    given = case.given
    tried = (given.get("lastAssignment") or {}).get("LastTriedFlavorIdx")
    progress = None if tried is None else Progress(tuple(tried), 0, 0, None)
    queued = replace(_queued(_plain(), case.settings()), progress=progress)
    why = Requeue(given["reason"] if given["reason"] != "Generic" else "")
    pending = _back(pop(Pending())[1], queued, Strategy.BEST_EFFORT, why)
    key = queued.info.key
    sticky = pending.sticky is not None and pending.sticky.stays and pending.sticky.key == key
    again = _back(pending, queued, Strategy.BEST_EFFORT, why)
    want = case.expected
    expected = (bool(want["wantInadmissible"]), bool(want.get("wantSticky")), True)
    same = (tuple(again.active), tuple(again.aside)) == (tuple(pending.active), tuple(pending.aside))
    return expected, (key in pending.aside, sticky, same)


def _plain() -> Workload:
    return Workload("default", "workload-1", "", ())


def run_back_in_strict_line(case: Case) -> Answer:
    """The same in a strict queue; the reason is the name of the case."""
    why = Requeue(case.raw["name"])
    pending = _back(pop(Pending())[1], _queued(_plain(), case.settings()), Strategy.STRICT, why)
    return bool(case.expected["wantInadmissible"]), "default/workload-1" in pending.aside


def run_parked(case: Case) -> Answer:
    """Whether workloads like one that failed are put aside with it."""
    why = Requeue(case.given["reason"] if case.given["reason"] != "Generic" else "")
    queued = _queued(_plain(), case.settings(), shape="shape")
    pending = _back(pop(Pending())[1], queued, Strategy.BEST_EFFORT, why, reason=Reason.WAITING)
    return bool(case.expected["wantHash"]), "shape" in pending.parked


def run_strict(case: Case) -> Answer:
    """Which of two workloads is first in line."""
    stamp = (case.given.get("workloadOrdering") or {}).get("PodsReadyRequeuingTimestamp", "Eviction")
    settings = case.settings(requeue_by_eviction=stamp == "Eviction")
    pending = Pending()
    for side in ("w1", "w2"):
        workload = read_adjusted(case.given[side])
        pending = push(pending, _queued(workload, settings), Strategy.STRICT, ready=True)
    queued, _rest = pop(pending)
    return case.expected["expected"], queued.info.workload.name if queued else None


def run_by_usage(case: Case) -> Answer:
    """Which workload is first where LocalQueues that had less go first."""
    settings = case.settings()
    consumed = case.given.get("initConsumedResources") or {}
    weights = {each.name: each.weight for each in map(read_local_queue, case.objects("localQueues"))}
    pending = Pending()
    for raw in case.objects("workloads"):
        pending = push(pending, _queued(read_adjusted(raw), settings), Strategy.BEST_EFFORT, ready=True)

    def usage(info: Info) -> float:
        amounts = consumed.get(info.workload.queue_key) or {}
        weight = weights.get(info.workload.queue, 1.0)
        total = sum(float(value) for value in amounts.values())
        return total / weight if weight > 0 else float("inf")

    queue = read_cluster_queue(case.objects("clusterQueues")[0])
    fair = case.given.get("afsConfig") is not None and queue.admission == BY_USAGE
    queued, _rest = pop(pending, usage if fair else None)
    return case.expected["wantWl"]["metadata"]["name"], queued.info.workload.name if queued else None


def run_requeued(case: Case) -> Answer:
    """Whether a workload is put in line, as its object stands."""
    given, settings = case.given, case.settings()
    queues = {each.key: each for each in map(read_local_queue, case.objects("localQueues"))}
    names = {each["metadata"]["name"] for each in case.objects("clusterQueues")}
    workload = read_adjusted(given["workload"])
    line = queues.get(workload.queue_key)
    found = (
        bool(given.get("inClient"))
        and line is not None
        and line.cluster_queue in names
        and is_admissible(workload, settings)
        and not given.get("inQueue")
    )
    return bool(case.expected["wantRequeued"]), found


def run_returned(case: Case) -> Answer:
    """Where an entry goes that came so far, and whether it is told anything."""
    entry = case.given["e"]
    outcome = Outcome(entry.get("status", ""))
    why = reason_to_requeue(outcome, Requeue(entry.get("requeueReason", "")))
    pending = _back(
        pop(Pending())[1],
        _queued(Workload("ns1", "w1", "q1", ()), case.settings()),
        Strategy.BEST_EFFORT,
        why,
    )
    want = case.expected
    expected = (
        sorted((want.get("wantWorkloads") or {}).get("cq") or ()),
        sorted((want.get("wantInadmissible") or {}).get("cq") or ()),
        bool(want.get("wantStatusUpdates")),
    )
    told = outcome in {Outcome.NOT_NOMINATED, Outcome.SKIPPED, Outcome.GATED}
    return expected, (sorted(pending.active), sorted(pending.aside), told)


def run_living(case: Case) -> Answer:
    """Which slices stay."""
    slices = [read_adjusted(raw) for raw in case.given["workloads"]]
    living = living_slices(slices)
    kept = living.holding.name if living.holding and living.holding is not living.chosen else None
    want = case.expected["want"]
    expected = (want.get("survivor"), want.get("keptAdmitted"))
    return expected, (living.chosen.name if living.chosen else None, kept)


def run_plan(case: Case) -> Answer:
    """What a job's change of size comes to."""
    slices = [read_adjusted(raw) for raw in case.given["existingWorkloads"]]
    job = {each["name"]: each.get("count", 0) for each in case.given.get("jobPodSets") or ()}
    plan = plan_slices(slices, job)
    want = case.expected.get("want") or {}
    chosen = want.get("workload")
    counts = {each["name"]: each.get("count", 0) for each in chosen["spec"]["podSets"]} if chosen else None
    found = None
    if plan.slice is not None:
        found = dict(plan.counts) if plan.counts else {each.name: each.count for each in plan.slice.pod_sets}
    expected = (chosen["metadata"]["name"] if chosen else None, counts, bool(want.get("compatible")))
    return expected, (plan.slice.name if plan.slice else None, found, plan.elastic)


def run_scaled(case: Case) -> Answer:
    """Whether a change is to fewer pods."""
    args = case.given["args"]
    return bool(case.expected.get("want")), scaled_down(args["oldCounts"], args["newCounts"])


def run_replaced(case: Case) -> Answer:
    """The slice that another takes the place of."""
    settings = case.settings(gates=case.settings().gates | {Gate.ELASTIC})
    args = case.given.get("args") or {}
    queues = ((args.get("snap") or {}).get("Manager") or {}).get("clusterQueues") or {}
    held = {
        name: {
            key: info_of(read_adjusted(each["$info"]), name, settings)
            for key, each in raw["Workloads"].items()
        }
        for name, raw in queues.items()
    }
    state = State()
    tree = grow(state)
    ground = Ground(tree, Usage.nothing(tree), held, {}, {}, settings, NOW)
    found = None
    if args.get("wl"):
        workload = read_adjusted(args["wl"]["$info"])
        queue = workload.admission.cluster_queue if workload.admission else ""
        found = Nominator(ground).replaced(info_of(workload, queue, settings))
    return case.expected.get("wantReplaced"), found and found.key


TESTS: Mapping[str, Callable[[Case], Answer]] = {
    "TestClusterQueueImpl": run_queue,
    "TestBackoffWaitingTimeExpired": run_backoff,
    "TestBestEffortFIFORequeueIfNotPresent": run_back_in_line,
    "TestStrictFIFORequeueIfNotPresent": run_back_in_strict_line,
    "TestRequeueHashTriggerByReason": run_parked,
    "TestStrictFIFO": run_strict,
    "TestFsAdmission": run_by_usage,
    "TestRequeueWorkloadStrictFIFO": run_requeued,
    "TestRequeueAndUpdate": run_returned,
    "TestNormalizeActiveSlices": run_living,
    "TestEnsureWorkloadSlices": run_plan,
    "TestScaledDown": run_scaled,
    "TestReplacedWorkloadSlice": run_replaced,
}
