"""What somebody has stopped on purpose, or Kueue has switched off: nothing starts before that is taken back.

A pause under Kueue is the Workload's ``spec.active: false``; under the default scheduler and KAI it is the
Job's ``spec.suspend``. Facts: Kueue 0.19, seen on a real one: a Job that a person suspends is started again,
unless a wider window waits for quota at that moment; then it stays suspended and keeps its quota.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.causes.phrases import ADMINISTRATOR
from allotment.kubernetes.follow.model import Cause, Evidence, State, by_condition, evidence
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.follow.queueing import cluster_queue, local_queue
from allotment.kubernetes.kinds import Object

STOPPED: Final = ("Hold", "HoldAndDrain")
BY_SOMEBODY: Final = "somebody has paused it"
_GIVEN_UP: Final = {
    "DeactivatedDueToRequeuingLimitExceeded": "its pods did not become ready in time, time and again",
    "DeactivatedDueToMaximumExecutionTimeExceeded": "it used up the time that it may run",
    "DeactivatedDueToAdmissionCheck": "a check of its queue refused it",
}


def by_file(cause: Cause) -> Cause:
    """The same of a pause that the campaign's file asks for."""
    return replace(cause, sentence=cause.sentence.replace(BY_SOMEBODY, "its file says `suspend: true`"))


def deactivated(part: Part) -> Iterator[Cause]:
    """A Workload that is not active: by a person, or by Kueue itself."""
    for workload in part.unfinished:
        if fields.at(workload, "spec", "active") is not False:
            continue
        said = fields.condition(workload, "Evicted") or fields.is_false(workload, "QuotaReserved")
        reason = said.reason if said is not None else ""
        shown = (evidence(workload, "spec.active", "false"), *by_condition(workload, "Evicted"))
        if reason.startswith("DeactivatedDueTo"):
            why = _GIVEN_UP.get(reason, f"for the reason {reason}")
            words = f"Kueue has switched it off: {why}"
            remedy = f"mend that, then take the pause off: {_patch(workload, 'active: true')}"
            yield Cause("switched-off", State.PAUSED, words, remedy, shown)
            return
        words = f"{BY_SOMEBODY}; what is done is kept, and it holds no device"
        remedy = "write `suspend: false` in its file (or take the line out) and `allot apply`"
        yield Cause("paused", State.PAUSED, words, remedy, shown)
        return


def suspended(part: Part) -> Iterator[Cause]:
    """A Job that somebody has suspended: the pause without Kueue, a mistake with it."""
    if not part.is_job or not part.is_suspended:
        return
    shown = (evidence(part.owner, "spec.suspend", "true"), *_by_whom(part.owner))
    if not part.queue:
        words = f"{BY_SOMEBODY}; what is done is kept, and it holds no device"
        remedy = "write `suspend: false` in its file (or take the line out) and `allot apply`"
        yield Cause("paused", State.PAUSED, words, remedy, shown)
        return
    live = part.live
    if live is None or not fields.holds(live, "Admitted") or part.wished is None:
        return
    words = (
        "the Job is suspended while Kueue has admitted it and a wider window waits: it stays "
        "suspended so, and "
        "keeps its quota from others"
    )
    job = f"-n {part.namespace} {fields.name(part.owner)}"
    patch = '{"spec":{"suspend":false}}'
    remedy = f"let it go on with `kubectl patch job {job} -p '{patch}'`; pause it by its file"
    yield Cause(
        "suspended-with-quota", State.PAUSED, words, remedy, (*shown, *by_condition(live, "Admitted"))
    )


def queue_stopped(part: Part) -> Iterator[Cause]:
    """A queue that somebody has stopped."""
    workload = part.wished or part.live
    if workload is None:
        return
    for queue in (cluster_queue(workload, part.seen), local_queue(workload, part.seen)):
        policy = fields.text(queue, "spec", "stopPolicy")
        if queue is None or policy not in STOPPED:
            continue
        waits = part.wished is not None and part.live is None
        if not waits and not fields.holds(workload, "Evicted"):
            continue
        name = fields.name(queue)
        words = f"the queue `{name}` is stopped, and nothing of it starts"
        words += " or goes on" if policy == "HoldAndDrain" else "; what ran when it was stopped goes on"
        remedy = f"ask {ADMINISTRATOR} when it opens again (`stopPolicy: None`); it then goes on by itself"
        shown = (evidence(queue, "spec.stopPolicy", policy), *by_condition(workload, "QuotaReserved"))
        yield Cause("queue-stopped", State.PAUSED, words, remedy, shown)
        return


def _by_whom(job: Object) -> tuple[Evidence, ...]:
    """Who set ``suspend``, as the Job's managed fields tell."""
    for entry in fields.items(job, "metadata", "managedFields"):
        if "f:suspend" in fields.mapping(entry, "fieldsV1", "f:spec"):
            return (
                evidence(job, "metadata.managedFields", f"`suspend` is of {fields.text(entry, 'manager')}"),
            )
    return ()


def _patch(workload: Object, change: str) -> str:
    key, _, value = change.partition(": ")
    patch = f'{{"spec":{{"{key}":{value}}}}}'
    place = f"-n {fields.namespace(workload)} {fields.name(workload)}"
    return f"`kubectl patch workload {place} --type merge -p '{patch}'`"
