"""What Kueue has not looked at, or has stopped: no condition says it, so its surroundings have to.

Facts, seen on Kueue 0.19: without a LocalQueue there is a Workload with no ``QuotaReserved`` condition
and no event; the same is seen of a wider window whose new size equals that of a waiting job of the same
shape (gate SchedulingEquivalenceHashing), for as long as nothing of the cohort ends; and of everything
while the manager is down. A reclaim takes the whole Job, which comes back at its full width alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.causes.out_of_date import quota_is_free
from allotment.kubernetes.follow.causes.phrases import (
    ADMINISTRATOR,
    anew,
    is_are,
    place_words,
    short,
)
from allotment.kubernetes.follow.model import Cause, Evidence, State, by_condition, evidence
from allotment.kubernetes.follow.part import RESERVED, Part
from allotment.kubernetes.follow.pods import Phase
from allotment.kubernetes.follow.queueing import (
    cluster_queue,
    cluster_queue_name,
    local_queue,
    others_waiting,
    position,
)
from allotment.kubernetes.follow.seen import when
from allotment.kubernetes.follow.sums import lacks_of, pods_of
from allotment.kubernetes.kinds import CLUSTER_QUEUE, LOCAL_QUEUE, WORKLOAD, Object
from allotment.pictures.counts import counted

PATIENCE: Final = 60.0
OFTEN: Final = 3
_WHO: Final = {
    "InCohortReclamation": "it had borrowed quota, and the team that owns it took it back",
    "InCohortFairSharing": "it had borrowed quota, and another team's share had to be met",
    "InCohortReclaimWhileBorrowing": "work of higher priority in another queue took its quota",
    "InClusterQueue": "work of higher priority in its own queue took its place",
}


def no_kueue(part: Part) -> Iterator[Cause]:
    """A Job for Kueue on a cluster that does not have it."""
    if not part.queue or part.seen.serves(WORKLOAD):
        return
    words = "it was made for Kueue, and this cluster has no Kueue: nobody will ever start it"
    remedy = (
        f"{ADMINISTRATOR} installs Kueue; or the platform's file says `scheduler: default`, then {anew(part)}"
    )
    shown = (
        evidence(part.owner, "metadata.labels[kueue.x-k8s.io/queue-name]", part.queue),
        Evidence("the cluster", WORKLOAD.shown, "not served"),
    )
    yield Cause("no-kueue", State.NEVER, words, remedy, shown)


def no_workload(part: Part) -> Iterator[Cause]:
    """A Job in a queue of which Kueue has made no Workload."""
    if not part.queue or not part.is_job or part.workloads or not part.seen.knows(WORKLOAD):
        return
    age = _age(part.owner, part.now)
    if (
        age is None
        or age < PATIENCE
        or fields.holds(part.owner, "Complete")
        or fields.holds(part.owner, "Failed")
    ):
        return
    words = f"Kueue has taken no notice of its Job, {counted(int(age // 60), 'minute')} after it was made"
    remedy = f"ask {ADMINISTRATOR} whether Kueue's manager runs, and watches this namespace and Jobs"
    labels = evidence(part.owner, "metadata.labels[kueue.x-k8s.io/queue-name]", part.queue)
    there = Evidence(f"namespace {part.namespace}", "Workload", "none is owned by this Job")
    yield Cause("no-workload", State.WAITING, words, remedy, (labels, there))


def no_queue(part: Part) -> Iterator[Cause]:
    """A queue that is named and not there."""
    workload = part.wished
    if workload is None:
        return
    named = fields.text(workload, "spec", "queueName")
    local = local_queue(workload, part.seen)
    if named and local is None and part.seen.knows(LOCAL_QUEUE):
        words = (
            f"there is no LocalQueue `{named}` in the namespace `{part.namespace}`, and Kueue says "
            "nothing of it"
        )
        remedy = (
            f"{ADMINISTRATOR} creates it (`allot render --platform-objects` prints it); it starts by "
            "itself then"
        )
        shown = (evidence(workload, "spec.queueName", f"{named}, of which there is no LocalQueue"),)
        yield Cause("no-local-queue", State.WAITING, words, remedy, shown)
        return
    behind = cluster_queue_name(workload, part.seen)
    if (
        local is not None
        and behind
        and part.seen.knows(CLUSTER_QUEUE)
        and cluster_queue(workload, part.seen) is None
    ):
        words = f"the LocalQueue `{named}` points to the ClusterQueue `{behind}`, which does not exist"
        remedy = f"{ADMINISTRATOR} creates it (`allot render --platform-objects` prints it)"
        shown = (evidence(local, "spec.clusterQueue", f"{behind}, which is not there"),)
        yield Cause("no-cluster-queue", State.WAITING, words, remedy, shown)


def reclaimed(part: Part) -> Iterator[Cause]:
    """A Job that was running, and was stopped for others."""
    workload = part.wished
    evicted = None if workload is None else fields.condition(workload, "Evicted")
    if workload is None or evicted is None or not evicted.holds or part.live is not None:
        return
    if evicted.reason != "Preempted":
        yield from _evicted(part, workload, evicted)
        return
    found = fields.condition(workload, "Preempted")
    why = _WHO.get(found.reason if found is not None else "", "others took its quota")
    refusal = fields.is_false(workload, RESERVED)
    is_stopping = bool(part.in_phase(Phase.STOPPING))
    stale = None if refusal is None or is_stopping else quota_is_free(part, workload, refusal)
    if stale is not None:
        yield stale
        return
    pods = pods_of(workload)
    stopping = len(part.in_phase(Phase.STOPPING))
    words = f"it was stopped: {why}"
    words += f"; {counted(stopping, 'pod')} {is_are(stopping)} still stopping" if stopping else ""
    lacks = [each for each in lacks_of(refusal.message if refusal is not None else "") if each.more]
    needs = (
        f": {lacks[0].more} more `{lacks[0].resource}` {'is' if lacks[0].more == '1' else 'are'} needed"
        if lacks
        else ""
    )
    words += (
        f"; it comes back when all {pods} of its pods fit at once{needs}"
        if pods > 1
        else f"; it comes back when there is room{needs}"
    )
    words += place_words(position(workload, part.seen))
    times = _evictions(workload)
    remedy = "nothing: pages that are done stay done"
    if pods > 1 and part.kind == "campaign":
        remedy += "; with a narrower `window` it comes back sooner"
    if times >= OFTEN:
        words += f"; this has happened {times} times"
        remedy += (
            ". What goes beyond the team's own quota is taken back again and again: stay within it, or ask "
            f"{ADMINISTRATOR} for more"
        )
    shown = (
        *by_condition(workload, "Evicted"),
        *by_condition(workload, "Preempted"),
        *by_condition(workload, RESERVED),
    )
    kind = "reclaimed-often" if times >= OFTEN else "reclaimed"
    yield Cause(kind, State.WAITING, words, remedy, shown)


def _evicted(part: Part, workload: Object, evicted: fields.Condition) -> Iterator[Cause]:
    if evicted.reason not in _EVICTED:
        return
    why, remedy = _EVICTED[evicted.reason]
    words = f"it was stopped: {why}{place_words(position(workload, part.seen))}"
    again = fields.moment(workload, "status", "requeueState", "requeueAt")
    if again is not None and again > part.now:
        words += f"; Kueue tries it again in {max(1, round((again - part.now) / 60))} min"
    shown = (*by_condition(workload, "Evicted"), *by_condition(workload, RESERVED))
    yield Cause("evicted", State.WAITING, words, remedy, shown)


_EVICTED: Final = {
    "PodsReadyTimeout": (
        "its pods did not become ready in the time that Kueue gives them",
        (
            f"see why its pods do not start (the other causes); large images need {ADMINISTRATOR} to "
            "raise the timeout"
        ),
    ),
    "NodeFailures": ("a node of it failed", "nothing: it starts again on other nodes"),
    "AdmissionCheck": ("a check of its queue failed", f"ask {ADMINISTRATOR} about the check"),
    "MaximumExecutionTimeExceeded": ("it used up the time that it may run", "start it again by its file"),
}


def not_evaluated(part: Part) -> Iterator[Cause]:
    """A Workload of which Kueue says nothing at all."""
    workload = part.wished
    if workload is None or fields.condition(workload, RESERVED) is not None:
        return
    seen = part.seen
    none = evidence(workload, "status.conditions[QuotaReserved]", "there is none: Kueue has not looked at it")
    webhook = _failing_webhook(part)
    if webhook is not None:
        words = "Kueue has not looked at it, and calls to Kueue fail: its manager seems to be down"
        remedy = f"ask {ADMINISTRATOR} to look at Kueue's manager; it goes on by itself once that runs"
        yield Cause("manager-down", State.WAITING, words, remedy, (none, webhook))
        return
    twin = _twin(part, workload)
    if twin is not None:
        words = (
            f"Kueue does not look at the wider window: it has as many pods ({pods_of(workload)}) as "
            f"{fields.name(twin) or 'another'}, which waits in the same queue, and Kueue takes both for one"
        )
        remedy = "write a window of another size and apply; or wait until anything of the queue ends"
        yield Cause("taken-for-another", State.WAITING, words, remedy, (none, *by_condition(twin, RESERVED)))
        return
    queue = cluster_queue(workload, seen)
    ahead = others_waiting(workload, seen)
    if (
        fields.text(queue, "spec", "queueingStrategy") == "StrictFIFO"
        and ahead
        and ahead[0] is not workload
        and queue is not None
    ):
        words = (
            f"its queue lets nobody pass, and {fields.name(ahead[0]) or 'another'} waits before "
            f"it{place_words(position(workload, seen))}"
        )
        shown = (none, evidence(queue, "spec.queueingStrategy", "StrictFIFO"))
        yield Cause("behind-others", State.WAITING, words, "nothing: it goes on by itself", shown)
        return
    age = _age(workload, part.now) or 0.0
    words = f"Kueue has not looked at it yet{place_words(position(workload, seen))}"
    remedy = "nothing: it has only just been sent"
    if age >= PATIENCE:
        words += f", {counted(int(age // 60), 'minute')} after it came"
        remedy = f"ask {ADMINISTRATOR} whether Kueue's manager runs"
    yield Cause("not-evaluated", State.WAITING, words, remedy, (none,))


def _twin(part: Part, workload: Object) -> Object | None:
    """Another Workload that waits, of the same number of pods and refused, beside a wider window."""
    if not part.is_growth:
        return None
    for each in others_waiting(workload, part.seen):
        same = pods_of(each) == pods_of(workload) and fields.is_false(each, RESERVED) is not None
        if each is not workload and same:
            return each
    return None


def _failing_webhook(part: Part) -> Evidence | None:
    for event in part.seen.events(part.owner):
        message = fields.text(event, "message")
        is_new = part.now - when(event) < 3600 and when(event) >= (fields.created(part.wished) or 0.0)
        if "failed calling webhook" in message and "kb.io" in message and is_new:
            return evidence(part.owner, f"event {fields.text(event, 'reason')}", short(message, 300))
    return None


def _evictions(workload: Object) -> int:
    found = fields.items(workload, "status", "schedulingStats", "evictions")
    return sum(fields.count(each, "count") for each in found if fields.text(each, "reason") == "Preempted")


def _age(value: Object, now: float) -> float | None:
    since = fields.created(value)
    return None if since is None else now - since
