"""Pods that start together, or in a queue of KAI's: what the group's own object says.

Facts: KAI 0.17 writes ``status.schedulingConditions`` of its PodGroup with reasons (``OverLimit``,
``NonPreemptibleOverQuota``, ``QueueDoesNotExist``, ``PreemptionDelayNotElapsed``,
``PodSchedulingErrors``) and numbers in their messages; a pod that takes the place of others has a
nominated node. Kubernetes' own groups (1.36, alpha) have the condition ``PodGroupScheduled``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.causes.phrases import (
    ADMINISTRATOR,
    BY_ITSELF,
    anew,
    ask_on,
    place_words,
    short,
)
from allotment.kubernetes.follow.model import Cause, Evidence, State, evidence
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.follow.pods import Phase
from allotment.kubernetes.follow.queueing import kai_position
from allotment.kubernetes.kinds import KAI_POD_GROUP, KAI_QUEUE, Object
from allotment.pictures.counts import counted

LIMIT: Final = re.compile(
    r"(\S+) quota has reached the allowable limit of ([\w ]+?)\. Limit is (\S+) \w+, currently (\S+) \w+ "
    r"allocated and workload requested (\S+) "
)
OVER_QUOTA: Final = re.compile(
    r"Workload requested (\S+) ([\w ]+?), but (\S+) quota is (\S+) [\w ]+?, while (\S+) [\w ]+? "
    r"are already allocated"
)
GANG: Final = re.compile(
    r"Resources were found for (\d{1,6}) pods while (\d{1,6}) are required for gang scheduling"
)
_DUE: Final = re.compile(r"due to: (.*)", re.DOTALL)
_Told = tuple[str, str]  # a reason, and what it says
_Say = Callable[[Part, Object, str, Evidence], Cause]


def no_kai(part: Part) -> Iterator[Cause]:
    """Pods for KAI on a cluster that does not have it."""
    if not part.by_kai or part.seen.serves(KAI_POD_GROUP) or not part.in_phase(Phase.PENDING):
        return
    words = "its pods wait for KAI, and this cluster has no KAI: nobody will ever place them"
    remedy = (
        f"{ADMINISTRATOR} installs KAI; or the platform's file names another scheduler, then {anew(part)}"
    )
    shown = (evidence(part.owner, "spec.template.spec.schedulerName", "kai-scheduler, which is not served"),)
    yield Cause("no-kai", State.NEVER, words, remedy, shown)


def kai_queue_missing(part: Part) -> Iterator[Cause]:
    """A queue of KAI's that is not there, or that has queues below it."""
    if not part.by_kai or part.in_phase(Phase.RUNNING) or not part.seen.knows(KAI_QUEUE):
        return
    if not part.kai_queue or not part.in_phase(Phase.PENDING):
        return
    if part.seen.named(KAI_QUEUE, part.kai_queue) is None:
        words = f"there is no KAI queue `{part.kai_queue}`, so KAI leaves its pods alone"
        remedy = f"{ADMINISTRATOR} creates it (`allot render --platform-objects` prints it)"
        label = "metadata.labels[kai.scheduler/queue]"
        shown = (evidence(part.owner, label, f"{part.kai_queue}, of which there is no Queue"),)
        yield Cause("no-kai-queue", State.WAITING, words, remedy, shown)


def reclaiming(part: Part) -> Iterator[Cause]:
    """KAI has chosen a node, and others there have to stop first."""
    chosen = [
        pod
        for pod in part.in_phase(Phase.PENDING)
        if part.by_kai and fields.text(pod, "status", "nominatedNodeName")
    ]
    if not chosen:
        return
    node = fields.text(chosen[0], "status", "nominatedNodeName")
    words = (
        f"KAI has chosen a place for {counted(len(chosen), 'pod')} of it (on {node}), and waits "
        "until the pods that "
        "have it now have stopped"
    )
    shown = (evidence(chosen[0], "status.nominatedNodeName", node),)
    yield Cause(
        "waiting-for-reclaim", State.WAITING, words, "nothing: it starts within a grace period or two", shown
    )


def kai_group(part: Part) -> Iterator[Cause]:
    """What KAI says of its group."""
    if not part.by_kai or not part.in_phase(Phase.PENDING):
        return
    for group in part.groups:
        for condition in fields.items(group, "status", "schedulingConditions"):
            if fields.text(condition, "status") != "True":
                continue
            for reason, message in _told(condition):
                shown = evidence(group, "status.schedulingConditions", f"{reason}: {short(message, 400)}")
                say = _REASONS.get(reason)
                if say is not None:
                    yield say(part, group, message, shown)
                    return


def _told(condition: Mapping[str, Any]) -> Iterator[_Told]:
    """The reasons of a condition; older versions have them in the message alone, before its colon."""
    for each in fields.items(condition, "reasons"):
        yield fields.text(each, "reason"), fields.text(each, "message")
    message = fields.text(condition, "message")
    before, colon, after = message.partition(": ")
    yield (before, after) if colon and before in _REASONS else ("PodSchedulingErrors", message)


def _over_limit(part: Part, group: Object, message: str, shown: Evidence) -> Cause:
    found = LIMIT.search(message)
    if found is None:
        words = f"its queue `{part.kai_queue}` is at its limit: {short(message, 160)}"
        return Cause("over-limit", State.WAITING, words, BY_ITSELF, (shown,))
    queue, what, limit, used, asked = found.groups()
    if _float(asked) > _float(limit):
        words = f"it asks for {asked} {what} at once, and its queue `{queue}` may have {limit} at most"
        remedy = f"ask for less, or ask {ADMINISTRATOR} for a higher limit"
        return Cause("never-fits", State.NEVER, words, remedy, (shown,))
    words = (
        f"its queue `{queue}` is at its limit: {used} of {limit} {what} are in use, and it asks for {asked}"
    )
    words += place_words(kai_position(group, part.seen))
    return Cause(
        "over-limit", State.WAITING, words, "nothing: it starts when others of the queue end", (shown,)
    )


def _over_quota(part: Part, _group: Object, message: str, shown: Evidence) -> Cause:
    found = OVER_QUOTA.search(message)
    remedy = f"take a lane of preemptible work, or ask {ADMINISTRATOR} for more quota"
    if found is None:
        words = (
            f"it may not be preempted, so it has to fit into the quota of `{part.kai_queue}`: "
            f"{short(message, 160)}"
        )
        return Cause("over-quota", State.WAITING, words, remedy, (shown,))
    asked, what, queue, quota, used = found.groups()
    never = _float(asked) > _float(quota)
    words = (
        f"it may not be preempted, so it has to fit into the quota of `{queue}`: that is {quota} "
        f"{what}, {used} of "
        f"them taken for good, and it asks for {asked}"
    )
    return Cause("over-quota", State.NEVER if never else State.WAITING, words, remedy, (shown,))


def _no_queue(part: Part, _group: Object, _message: str, shown: Evidence) -> Cause:
    words = f"KAI knows no queue `{part.kai_queue}` that work can be put into"
    remedy = f"{ADMINISTRATOR} creates it (`allot render --platform-objects` prints it)"
    return Cause("no-kai-queue", State.WAITING, words, remedy, (shown,))


def _delayed(_part: Part, _group: Object, _message: str, shown: Evidence) -> Cause:
    words = "KAI waits a while before it takes devices from others for it"
    return Cause("preemption-delay", State.WAITING, words, BY_ITSELF, (shown,))


def _errors(part: Part, group: Object, message: str, shown: Evidence) -> Cause:
    found = GANG.search(message)
    due = _DUE.search(message)
    why = short(due[1].rstrip(". "), 160) if due is not None else short(message, 160)
    place = place_words(kai_position(group, part.seen))
    if found is not None:
        words = (
            f"{found[2]} of its pods have to start together, and there is room for {found[1]}: {why}{place}"
        )
        remedy = "nothing if others end; else a smaller `min` in its file, or fewer devices per pod"
        return Cause("gang", State.WAITING, words, remedy, (shown,))
    if "topology" in message.lower():
        words = f"its pods have to be together in one place, and none has room: {why}{place}"
        remedy = "wait until others end there, or write `topology: {prefer: …}` for `require`"
        return Cause("topology", State.WAITING, words, remedy, (shown,))
    words = f"KAI finds no place for its pods: {why}{place}"
    remedy = ask_on(part)
    return Cause("no-devices-free", State.WAITING, words, remedy, (shown,))


def kai_silent(part: Part) -> Iterator[Cause]:
    """Pods for KAI of which it has made no group."""
    waiting = [
        pod for pod in part.in_phase(Phase.PENDING) if part.now - (fields.created(pod) or part.now) > 60
    ]
    if not part.by_kai or not waiting or part.groups or not part.seen.knows(KAI_POD_GROUP):
        return
    words = f"KAI has taken no notice of {counted(len(waiting), 'pod')} of it: there is no PodGroup"
    remedy = f"ask {ADMINISTRATOR} whether KAI and its pod grouper run"
    shown = (evidence(waiting[0], "metadata.annotations[pod-group-name]", "there is none"),)
    yield Cause("kai-silent", State.WAITING, words, remedy, shown)


def gang(part: Part) -> Iterator[Cause]:
    """A group of Kubernetes' own of which not all fit."""
    for group in part.gang_groups:
        found = fields.is_false(group, "PodGroupScheduled")
        if found is None or part.in_phase(Phase.RUNNING):
            continue
        least = fields.number(group, "spec", "schedulingPolicy", "gang", "minCount")
        number = f"{least} of its workers" if least else "its workers"
        words = f"{number} have to start together, and there is not room for all: none starts"
        if found.message:
            words += f" ({short(found.message, 160)})"
        remedy = "nothing if others end; else a smaller `min` in its file, or fewer devices per worker"
        shown = (evidence(group, "status.conditions[PodGroupScheduled]", found.words),)
        yield Cause("gang", State.WAITING, words, remedy, shown)
        return


def _float(written: str) -> float:
    try:
        return float(written)
    except ValueError:
        return 0.0


_REASONS: Final[Mapping[str, _Say]] = {
    "OverLimit": _over_limit,
    "NonPreemptibleOverQuota": _over_quota,
    "QueueDoesNotExist": _no_queue,
    "PreemptionDelayNotElapsed": _delayed,
    "PodSchedulingErrors": _errors,
}
