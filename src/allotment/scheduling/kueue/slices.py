"""Elastic workloads: a job that changes its size has a slice for each size, of which one or two are alive.

A smaller size, or any as long as nothing is reserved, changes the slice in place; a larger one makes a new
slice that takes the old one's place when it is admitted. The rules are those of ``pkg/workloadslicing``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from allotment.scheduling.state.workloads import Workload

Counts = Mapping[str, int]


class Ended(StrEnum):
    """Why a slice is finished."""

    OUT_OF_SYNC = "OutOfSync"
    REPLACED = "WorkloadSliceReplaced"


@dataclass(frozen=True, slots=True)
class SlicePlan:
    """What is to be done for a job: the slice that stands for it, its counts, the slices that are finished.

    Without a slice a new one is made, if the job is still elastic at all.
    """

    slice: Workload | None = None
    elastic: bool = True
    counts: Counts | None = None
    finished: Mapping[str, Ended] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Living:
    """The slices that stay: the one that stands for the job, and the one that holds quota."""

    chosen: Workload | None
    holding: Workload | None
    finished: Mapping[str, Ended]


def counts_of(workload: Workload) -> dict[str, int]:
    """How many pods each set has."""
    return {pods.name: pods.count for pods in workload.pod_sets}


def has_fewer(left: Counts, right: Counts) -> bool:
    """Whether some set that both have is smaller on the left."""
    return any(count < right[name] for name, count in left.items() if name in right)


def scaled_down(old: Counts, new: Counts) -> bool:
    """Whether sets became smaller and none larger."""
    return has_fewer(new, old) and not has_fewer(old, new)


def plan_slices(slices: Sequence[Workload], job: Counts) -> SlicePlan:
    """What a job of this size needs, with the slices that it has (``EnsureWorkloadSlices``)."""
    alive = sorted((each for each in slices if not each.finished), key=lambda each: (each.created, each.uid))
    if not alive:
        return SlicePlan()
    living = Living(alive[0], None, {}) if len(alive) == 1 else living_slices(alive)
    chosen = living.chosen
    if chosen is None:
        return SlicePlan(finished=living.finished)
    own = counts_of(chosen)
    if own.keys() != job.keys():
        return SlicePlan(elastic=False, finished=living.finished)
    if own == dict(job):
        return SlicePlan(chosen, finished=living.finished)
    if not chosen.reserved or scaled_down(own, job):
        return SlicePlan(chosen, counts=job, finished=living.finished)
    return SlicePlan(finished=living.finished)


def living_slices(slices: Sequence[Workload]) -> Living:
    """Which of several slices stay: one that holds quota, and one that is to take its place.

    (``normalizeActiveSlices``; the slices come oldest first.)
    """
    staying = [each for each in slices if each.evicted is None]
    heirs: dict[str, Workload] = {}
    for each in staying:
        if each.replaces is not None:
            known = heirs.get(each.replaces)
            if known is None or (not known.reserved and each.reserved):
                heirs[each.replaces] = each
    holding = None
    for each in staying:
        heir = heirs.get(each.key)
        if each.reserved and not (heir is not None and heir.reserved):
            holding = each
    heir = heirs.get(holding.key) if holding is not None else None
    waiting = heir if heir is not None and not heir.reserved else None
    chosen = waiting or holding or (staying[-1] if staying else None)
    finished = {
        each.key: Ended.REPLACED if each.key in heirs else Ended.OUT_OF_SYNC
        for each in slices
        if each is not chosen and each is not holding
    }
    return Living(chosen, holding, finished)
