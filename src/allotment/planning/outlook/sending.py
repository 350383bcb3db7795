"""What is asked before a model is: which Job would be sent, and whether all that decides was seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from allotment.errors import AllotmentError
from allotment.kubernetes import kinds
from allotment.kubernetes.apply.memory import is_prepare
from allotment.kubernetes.cluster.reading import NOT_SERVED
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.unasked import NOT_IN_FILE
from allotment.kubernetes.kinds import Kind, Object
from allotment.kubernetes.render import render
from allotment.kubernetes.render.names import PREFIX
from allotment.platform.model import Platform, Team
from allotment.repository.model import Repository


@dataclass(frozen=True, slots=True)
class Sending:
    """The Job of a campaign or a gang as it would be sent, and the claim templates that it comes with."""

    job: Object
    templates: tuple[Object, ...]


def to_be_sent(name: str, repository: Repository, platform: Platform, team: Team) -> Sending | None:
    """What would be sent; None for what has no Job, or a need that cannot be had."""
    try:
        objects = render(repository, platform, team, there={name}).objects
    except AllotmentError:
        return None
    job = next((each for each in objects if _is_of(each, name)), None)
    if job is None:
        return None
    return Sending(job, tuple(each for each in objects if each["kind"] == kinds.CLAIM_TEMPLATE.name))


def _is_of(value: Object, name: str) -> bool:
    labels = value["metadata"].get("labels") or {}
    named = name in {labels.get(f"{PREFIX}campaign"), labels.get(f"{PREFIX}gang")}
    return value["kind"] == kinds.JOB.name and named and not is_prepare(value)


def unseen(snapshot: Snapshot, needed: Iterable[Kind]) -> str:
    """Why not all of these kinds were seen; a kind that is not served has no objects to see.

    What a file was not asked for is taken to be none, and said by ``taken_for_none``.
    """
    kept = frozenset(needed)
    for each in (*snapshot.missing, *snapshot.partly):
        if each.kind in kept and each.why != NOT_IN_FILE and not each.why.startswith(NOT_SERVED):
            return f"{each.kind.shown} are {each.why}"
    return ""


def taken_for_none(snapshot: Snapshot, needed: Iterable[Kind]) -> tuple[str, ...]:
    """That objects of these kinds may be there, where the file was not asked for them."""
    names = [kind.shown for kind in needed if snapshot.lacks(kind) == NOT_IN_FILE]
    if not names:
        return ()
    return (f"{NOT_IN_FILE}, and taken to be none: {', '.join(names)}",)
