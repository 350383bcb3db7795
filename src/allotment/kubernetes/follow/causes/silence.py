"""Nothing runs, and no other cause was found: what can still be said without guessing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.model import Cause, State, evidence
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.follow.pods import Phase

RECENT: Final = 60.0


def silence(part: Part) -> Iterator[Cause]:
    """Nothing runs, and nothing says why."""
    shown = evidence(part.owner, "status", "nothing in it says why no pod runs")
    stopping = part.in_phase(Phase.STOPPING)
    age = part.now - (fields.created(part.owner) or part.now)
    if part.width == 0:
        words, remedy = (
            "its window is 0, so none of its pods is to run",
            "write a window of 1 or more and apply",
        )
        shown = evidence(part.owner, "spec.parallelism" if part.is_job else "spec.replicas", "0")
        yield Cause("window-of-nothing", State.WAITING, words, remedy, (shown,))
    elif stopping:
        words = f"{len(stopping)} of its pods are stopping, and no new ones have come yet"
        at = fields.text(stopping[0], "metadata", "deletionTimestamp")
        told = (evidence(stopping[0], "metadata.deletionTimestamp", at),)
        yield Cause("stopping", State.WAITING, words, "nothing: it takes a grace period at most", told)
    elif part.is_job and not part.pods and age < RECENT:
        words = "it has only just been sent, and has no pods yet"
        at = fields.text(part.owner, "metadata", "creationTimestamp")
        told = (evidence(part.owner, "metadata.creationTimestamp", at),)
        yield Cause("just-sent", State.WAITING, words, "nothing: look again in a minute", told)
    else:
        words = "no pod of it runs, and nothing that could be read says why"
        remedy = f"look at it with `kubectl describe -n {part.namespace} {_described(part)}`"
        yield Cause("unknown", State.WAITING, words, remedy, (shown,))


def _described(part: Part) -> str:
    return f"{'job' if part.is_job else 'deployment'} {fields.name(part.owner)}"
