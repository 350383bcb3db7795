"""Pausing a campaign and going on with it, by who starts its pods.

Kueue undoes a user's ``suspend`` of a Job within moments, at the price of a restart of all pods, so a pause
is ``spec.active: false`` of its Workloads there. Elsewhere it is the Job's ``spec.suspend``, applied by a
manager of its own and given up when the campaign goes on. A pause that somebody else made is theirs to end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from allotment.kubernetes.apply.fields import PAUSE, owners_of
from allotment.kubernetes.apply.outcome import Verb
from allotment.kubernetes.apply.steps import Activate, Apply, Step
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.render.context import Context

SUSPEND: Final = ("spec", "suspend")
ACTIVE: Final = ("spec", "active")


def pause_steps(
    context: Context, job: Object, workloads: Iterable[Object], *, suspend: bool
) -> tuple[list[Step], list[str]]:
    """What makes a live, unfinished Job as its file says, and what there is to say."""
    if context.with_kueue:
        return _by_workloads(job, list(slices_of(job, workloads)), suspend=suspend)
    return _by_suspend(job, suspend=suspend)


def slices_of(job: Object, workloads: Iterable[Object]) -> Iterator[Object]:
    """The Workloads of a Job that have not finished: the admitted one, and one that waits to be more."""
    return (each for each in workloads_of(job, workloads) if not _is_finished(each))


def workloads_of(job: Object, workloads: Iterable[Object]) -> Iterator[Object]:
    """All Workloads of a Job."""
    uid = job["metadata"]["uid"]
    for each in workloads:
        owners = each["metadata"].get("ownerReferences") or ()
        if any(owner.get("uid") == uid for owner in owners):
            yield each


def is_active(workload: Object) -> bool:
    """Whether Kueue may run it."""
    return bool((workload.get("spec") or {}).get("active", True))


def _is_finished(workload: Object) -> bool:
    conditions = (workload.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Finished" and each.get("status") == "True" for each in conditions)


def _by_workloads(job: Object, slices: list[Object], *, suspend: bool) -> tuple[list[Step], list[str]]:
    stopped = [each for each in slices if not is_active(each)]
    if suspend:
        is_paused = bool(slices) and len(stopped) == len(slices)
        return ([] if is_paused else [Activate(job, active=False)]), []
    ours = [each for each in stopped if PAUSE in owners_of(each, *ACTIVE)]
    said = [
        f"Workload {each['metadata']['name']} was deactivated by "
        f"{' and '.join(owners_of(each, *ACTIVE)) or 'somebody'}, and stays so: set `spec.active` to go on"
        for each in stopped
        if each not in ours
    ]
    return ([Activate(job, active=True)] if ours else []), said


def _by_suspend(job: Object, *, suspend: bool) -> tuple[list[Step], list[str]]:
    is_suspended = bool(job["spec"].get("suspend"))
    owners = owners_of(job, *SUSPEND)
    metadata = {key: job["metadata"][key] for key in ("name", "namespace", "uid")}
    value = {"apiVersion": job["apiVersion"], "kind": job["kind"], "metadata": metadata}
    if suspend and not (is_suspended and PAUSE in owners):
        stopped = {**value, "spec": {"suspend": True}}
        return [Apply(stopped, job, PAUSE, verb=Verb.PAUSED)], []
    if not suspend and PAUSE in owners:
        return [Apply(value, job, PAUSE, verb=Verb.RESUMED)], []
    if not suspend and is_suspended:
        who = " and ".join(owners) or "somebody"
        name = job["metadata"]["name"]
        return [], [f"Job {name} was suspended by {who}, and stays so: set its `spec.suspend` to go on"]
    return [], []
