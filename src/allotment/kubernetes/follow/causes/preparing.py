"""The Job that prepares a recipe, without which no volume of it can be read."""

from __future__ import annotations

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.causes.phrases import short
from allotment.kubernetes.follow.model import Cause, State, by_condition, evidence
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.follow.pods import Phase, endings


def preparation(part: Part) -> Cause | None:
    """What keeps the recipe from being prepared: the Job has failed, or its pods keep failing."""
    if fields.holds(part.owner, "Complete"):
        return None
    gone = fields.condition(part.owner, "Failed")
    failed = part.in_phase(Phase.FAILED)
    if (gone is None or not gone.holds) and not failed:
        return None
    over = gone is not None and gone.holds
    words = (
        "its recipe could not be prepared" if over else "its recipe is not prepared yet, and a try has failed"
    )
    shown = list(by_condition(part.owner, "Failed"))
    for pod in failed[:1]:
        for each in endings(pod)[:1]:
            code = "" if each.code is None else f" (exit code {each.code})"
            words += code
            said = f"exit code {each.code}, {each.reason}" + (
                f": {short(each.message, 300)}" if each.message else ""
            )
            shown.append(evidence(pod, "status.containerStatuses[].state.terminated", said))
    if not over:
        words += "; it is tried again"
    if not shown:
        shown.append(evidence(part.owner, "status.failed", str(fields.count(part.owner, "status", "failed"))))
    remedy = (
        f"read what it wrote: `allot logs {part.name} --cluster`; mend `prepare`, and let it be a new "
        "pipeline"
    )
    kind = "prepare-failed" if over else "prepare-fails"
    return Cause(kind, State.FAILED if over else State.WAITING, words, remedy, tuple(shown))
