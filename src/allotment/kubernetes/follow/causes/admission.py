"""Why Kueue has not admitted it, or not as wide as it is wished: its own reasons, in its tiers.

Facts: Kueue 0.19 (gate UnadmittedWorkloadsObservability) says one reason: ``NoMatchingFlavor`` and
``ExceedsMaxQuota`` can never be met as things are, ``WaitingForQuota``, ``TopologyPlacementFailed`` and
``WaitingForPreemptedWorkloads`` wait. Older versions say ``Pending`` for all, and the message tells them
apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from allotment.kubernetes.cluster.capacity import amount_text
from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.causes.misconfigured import refusal_of
from allotment.kubernetes.follow.causes.out_of_date import reclaim_is_over
from allotment.kubernetes.follow.causes.phrases import (
    ADMINISTRATOR,
    BY_ITSELF,
    place_words,
    quoted,
    short,
)
from allotment.kubernetes.follow.causes.quotas import exceeds, growth_never, used_up
from allotment.kubernetes.follow.model import Cause, State, by_condition, evidence
from allotment.kubernetes.follow.part import RESERVED, Part
from allotment.kubernetes.follow.queueing import cluster_queue, cluster_queue_name, position
from allotment.kubernetes.follow.sums import asked_of, lacks_of
from allotment.kubernetes.kinds import Object

_Say = Callable[[Part, Object, fields.Condition], Cause | None]


def refused(part: Part) -> Iterator[Cause]:
    """What Kueue says of the Workload that waits."""
    workload = part.wished
    found = None if workload is None else fields.is_false(workload, RESERVED)
    if workload is None or found is None or fields.at(workload, "spec", "active") is False:
        return
    growth = growth_never(part, workload)
    if growth is not None:
        yield growth
        return
    told = _tier(found)
    say = _REASONS.get(told)
    cause = None if say is None else say(part, workload, found)
    if cause is not None:
        yield cause
    elif say is None:
        words = f"Kueue has not admitted it: {short(found.message) or found.reason or 'it does not say why'}"
        yield Cause("not-admitted", State.WAITING, words, BY_ITSELF, by_condition(workload, RESERVED))


def inactive(part: Part) -> Iterator[Cause]:
    """A ClusterQueue that admits nothing, for another reason than that somebody stopped it."""
    workload = part.wished
    queue = None if workload is None else cluster_queue(workload, part.seen)
    found = None if queue is None else fields.is_false(queue, "Active")
    if (
        workload is None
        or queue is None
        or found is None
        or fields.text(queue, "spec", "stopPolicy") in _STOPPED
    ):
        return
    what = _INACTIVE.get(found.reason, short(found.message) or found.reason)
    words = f"the queue `{fields.name(queue)}` admits nothing: {what}"
    remedy = f"tell {ADMINISTRATOR}; it starts by itself once the queue is active"
    shown = (*by_condition(queue, "Active"), *by_condition(workload, RESERVED))
    yield Cause("queue-inactive", State.WAITING, words, remedy, shown)


def checks(part: Part) -> Iterator[Cause]:
    """Quota is reserved, and a check of the queue is not through."""
    workload = part.live
    if workload is None or fields.holds(workload, "Admitted"):
        return
    open_checks = [
        each
        for each in fields.items(workload, "status", "admissionChecks")
        if fields.text(each, "state") != "Ready"
    ]
    if not open_checks:
        return
    names = [fields.text(each, "name") or "?" for each in open_checks]
    words = (
        "its quota is reserved, and Kueue still waits for "
        f"{'the check' if len(names) == 1 else 'checks'} {quoted(names)}"
    )
    shown = tuple(
        evidence(
            workload,
            "status.admissionChecks",
            f"{fields.text(each, 'name')}: {fields.text(each, 'state')} {fields.text(each, 'message')}",
        )
        for each in open_checks
    )
    yield Cause("check-pending", State.WAITING, words, f"ask {ADMINISTRATOR} what the check waits for", shown)


def _tier(found: fields.Condition) -> str:
    """The reason; for versions that say no more than that it is pending, what the message means."""
    if found.reason not in {"Pending", "Inadmissible", "Waiting"}:
        return found.reason
    lacks = lacks_of(found.message)
    has = {
        "WaitingForPreemptedWorkloads": "Pending the preemption" in found.message,
        "WaitingForQuota": any(each.more for each in lacks),
        "ExceedsMaxQuota": any(each.most for each in lacks),
        "NoMatchingFlavor": bool(lacks) or any(each in found.message for each in _UNSUITED),
        "TopologyPlacementFailed": "topology" in found.message,
        "Misconfigured": "spec.podSets" in found.message,
    }
    return next((tier for tier, holds in has.items() if holds), found.reason)


def _no_flavor(part: Part, workload: Object, found: fields.Condition) -> Cause:
    queue = cluster_queue_name(workload, part.seen)
    of = f"its queue `{queue}`" if queue else "its queue"
    missing = [each.resource for each in lacks_of(found.message) if not each.most and not each.more]
    if missing:
        words = f"{of} gives out no {quoted(missing)}, so it can never be admitted there"
        remedy = f"ask for another card in `gpu:`, or ask {ADMINISTRATOR} for quota of {quoted(missing)}"
    else:
        words = f"no flavor of {of} suits its pods: {short(found.message)}"
        remedy = f"take the topology or card out that does not suit, or ask {ADMINISTRATOR}"
    return Cause("no-quota-of-kind", State.NEVER, words, remedy, by_condition(workload, RESERVED))


def _preempting(part: Part, workload: Object, found: fields.Condition) -> Cause:
    stale = reclaim_is_over(part, workload, found)
    if stale is not None:
        return stale
    short_of = [each for each in lacks_of(found.message) if each.more]
    lacks = f" ({', '.join(f'{each.more} `{each.resource}`' for each in short_of)})" if short_of else ""
    words = (
        f"Kueue takes back for it what others have borrowed{lacks}, and waits until their pods have stopped"
    )
    if "InClusterQueue" in found.message or "prioritization" in found.message:
        words = f"Kueue stops work of lower priority for it{lacks}, and waits until its pods have stopped"
    remedy = "nothing: it starts within a grace period or two"
    return Cause("waiting-for-reclaim", State.WAITING, words, remedy, by_condition(workload, RESERVED))


def _topology(_part: Part, workload: Object, found: fields.Condition) -> Cause:
    words = f"its pods belong close together, and no place has room for all of them: {short(found.message)}"
    remedy = (
        "nothing if others end there; else write `topology: {prefer: …}` for `require`, or a "
        "narrower `window`"
    )
    return Cause("topology", State.WAITING, words, remedy, by_condition(workload, RESERVED))


def _misconfigured(part: Part, workload: Object, found: fields.Condition) -> Cause:
    refusal = refusal_of(found.message)
    shown = (*by_condition(workload, RESERVED), *by_condition(workload, "Requeued"))
    remedy = refusal.remedy.replace("NAME", part.name)
    return Cause(refusal.kind, refusal.state, refusal.sentence, remedy, shown)


def _pods_ready(_part: Part, workload: Object, _found: fields.Condition) -> Cause:
    words = "Kueue admits nothing while pods of others, admitted before, are not ready"
    return Cause("others-not-ready", State.WAITING, words, BY_ITSELF, by_condition(workload, RESERVED))


def _gated(part: Part, workload: Object, _found: fields.Condition) -> Cause:
    gate = fields.annotation(part.owner, "kueue.x-k8s.io/admission-gated-by")
    words = f"it is held back by the admission gate {gate or '(unnamed)'}"
    remedy = f"whoever set it takes the annotation off; ask {ADMINISTRATOR}"
    return Cause("admission-gate", State.WAITING, words, remedy, by_condition(workload, RESERVED))


def _unresolved(_part: Part, workload: Object, found: fields.Condition) -> Cause:
    words = f"Kueue cannot tell yet what its claims come to: {short(found.message)}"
    return Cause("claims-unresolved", State.WAITING, words, BY_ITSELF, by_condition(workload, RESERVED))


def _queue_is_off(part: Part, workload: Object, found: fields.Condition) -> Cause | None:
    """A queue that admits nothing, where its own object could not be read or does not say why."""
    queue = cluster_queue(workload, part.seen)
    if fields.text(queue, "spec", "stopPolicy") in _STOPPED:
        return None
    words = f"its queue admits nothing at present ({short(found.message)}): stopped, or without what it needs"
    remedy = f"ask {ADMINISTRATOR} about the queue; it starts by itself once that is active"
    return Cause("queue-inactive", State.WAITING, words, remedy, by_condition(workload, RESERVED))


def _taken_up(_part: Part, workload: Object, _found: fields.Condition) -> Cause | None:
    """The pause is over, and Kueue has not noticed yet."""
    words = "it was paused, and Kueue has not taken it up again yet"
    return Cause("taken-up", State.WAITING, words, BY_ITSELF, by_condition(workload, RESERVED))


def _undecided(part: Part, workload: Object, _found: fields.Condition) -> Cause:
    asked = asked_of(part, workload)
    what = ", ".join(f"{amount_text(value, key)} `{key}`" for key, value in sorted(asked.items()))
    words = f"Kueue has it in its queue and has not decided{f' (it asks for {what})' if what else ''}"
    words += place_words(position(workload, part.seen))
    return Cause("not-evaluated", State.WAITING, words, BY_ITSELF, by_condition(workload, RESERVED))


_UNSUITED: Final = ("doesn't match node affinity", "untolerated taint")
_STOPPED: Final = ("Hold", "HoldAndDrain")
_INACTIVE: Final[Mapping[str, str]] = {
    "FlavorNotFound": "a ResourceFlavor that it names is missing",
    "AdmissionCheckNotFound": "an AdmissionCheck that it names is missing",
    "AdmissionCheckInactive": "one of its AdmissionChecks is not active",
    "TopologyNotFound": "the Topology of one of its flavors is missing",
    "Terminating": "it is being deleted",
}
_REASONS: Final[Mapping[str, _Say]] = {
    "ExceedsMaxQuota": exceeds,
    "NoMatchingFlavor": _no_flavor,
    "WaitingForQuota": used_up,
    "WaitingForPreemptedWorkloads": _preempting,
    "TopologyPlacementFailed": _topology,
    "Misconfigured": _misconfigured,
    "WaitingForPodsReady": _pods_ready,
    "AdmissionGated": _gated,
    "PendingEvaluation": _undecided,
    "DRAResourcesUnresolved": _unresolved,
    "Suspended": _queue_is_off,
    "Deactivated": _taken_up,
}
