"""A part of a campaign as the window controller sees it: its Job, window and Workloads, the volumes left.

Facts: ``batch/v1``: an index that is complete or failed for good is in ``completedIndexes`` or
``failedIndexes``; ``managedFields`` say when a manager last changed what it owns. Kueue 0.17 to 0.19: a Job
that grows gets a second Workload, which replaces the first when it is admitted; after a cut the count in the
Workload's spec is true and its admission stale; ``reclaimablePods`` is what Kueue has given back already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

from allotment.kubernetes.apply.fields import WINDOW
from allotment.kubernetes.apply.jobs import has_window, is_handed_over, movers_of, width_of
from allotment.kubernetes.apply.memory import CAMPAIGN, ending_of
from allotment.kubernetes.apply.settling import AT_MOST, WINDOW_NOTE
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.ranges import indexes_of
from allotment.kubernetes.kinds import JOB, POD, WORKLOAD, Object
from allotment.kubernetes.render.names import TEAM_LABEL
from allotment.kubernetes.render.placing import ELASTIC, MIN_MEMBER, QUEUE_NAME
from allotment.needs.ways.fraction import SCHEDULER
from allotment.quantities import QuantityError, parse_exact

_WINDOW: Final = re.compile(r"(\d{1,6})\.\.(\d{1,6})")
_NO_START: Final = "FailedToStart"

Cell = tuple[str, str]
"""A flavor and a resource."""


@dataclass(frozen=True, slots=True)
class Slices:
    """The Workloads of a Job: what was granted, what is asked for instead, the last that has ended."""

    granted: Object | None = None
    asked: Object | None = None
    ended: Object | None = None

    @property
    def has_given_back(self) -> bool:
        """Whether Kueue counts fewer pods than the window has, since volumes have run out."""
        return any(reclaimed(each) for each in self.live)

    @property
    def live(self) -> tuple[Object, ...]:
        """Those that have not ended."""
        return tuple(each for each in (self.granted, self.asked) if each is not None)

    @property
    def is_paused(self) -> bool:
        """Whether somebody has taken its right to run."""
        return any(fields.at(each, "spec", "active") is False for each in self.live)

    @property
    def is_stuck(self) -> bool:
        """Whether Kueue gave up to start it."""
        found = None if self.ended is None else fields.condition(self.ended, "Finished")
        return self.granted is None and found is not None and found.reason == _NO_START


@dataclass(frozen=True)
class Part:
    """A live Job of a campaign that has not ended."""

    job: Object
    snapshot: Snapshot

    @property
    def uid(self) -> str:
        """The Job's uid."""
        return fields.uid(self.job)

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return fields.namespace(self.job)

    @property
    def name(self) -> str:
        """Its name."""
        return fields.name(self.job)

    @property
    def team(self) -> str:
        """Whose it is."""
        return fields.label(self.job, TEAM_LABEL)

    @property
    def campaign(self) -> str:
        """What it is a part of."""
        return fields.label(self.job, CAMPAIGN)

    @property
    def width(self) -> int:
        """How many pods it has at once."""
        return width_of(self.job)

    @cached_property
    def window(self) -> tuple[int, int] | None:
        """The least and the most, as the file says."""
        found = _WINDOW.fullmatch(fields.annotation(self.job, WINDOW_NOTE))
        return None if found is None else (int(found[1]), max(int(found[1]), int(found[2])))

    @cached_property
    def left(self) -> int:
        """How many indexes are neither complete nor failed for good."""
        ended = indexes_of(fields.text(self.job, "status", "completedIndexes"))
        ended |= indexes_of(fields.text(self.job, "status", "failedIndexes"))
        return max(0, fields.count(self.job, "spec", "completions") - len(ended))

    @property
    def told(self) -> int | None:
        """How wide a person lets it be at most."""
        said = fields.annotation(self.job, AT_MOST).strip()
        return int(said) if said.isdecimal() and len(said) < 7 else None

    @property
    def is_queued(self) -> bool:
        """Whether Kueue admits it."""
        return bool(fields.label(self.job, QUEUE_NAME))

    @property
    def is_elastic(self) -> bool:
        """Whether Kueue lets its width move without a restart."""
        return fields.annotation(self.job, ELASTIC) == "true"

    @property
    def is_by_kai(self) -> bool:
        """Whether KAI alone decides when its pods run."""
        template = fields.mapping(self.job, "spec", "template", "spec")
        return not self.is_queued and template.get("schedulerName") == SCHEDULER

    @property
    def gang(self) -> int:
        """How many of its pods KAI starts together."""
        said = fields.annotation(self.job, MIN_MEMBER)
        return int(said) if said.isdecimal() and len(said) < 7 else 1

    @property
    def is_suspended(self) -> bool:
        """Whether it has no pods on purpose."""
        return fields.is_true(self.job, "spec", "suspend")

    @property
    def owners(self) -> tuple[str, ...]:
        """Others than us who own the width."""
        return movers_of(self.job)

    @property
    def is_ours(self) -> bool:
        """Whether its width is the window controller's to move."""
        return is_handed_over(self.job)

    @cached_property
    def stepped(self) -> float:
        """When its width was moved last, or it was created."""
        at = [fields.created(self.job) or 0.0]
        for entry in fields.items(self.job, "metadata", "managedFields"):
            is_width = "f:parallelism" in fields.mapping(entry, "fieldsV1", "f:spec")
            if entry.get("manager") == WINDOW and is_width:
                at.append(fields.moment(entry, "time") or 0.0)
        return max(at)

    @cached_property
    def slices(self) -> Slices:
        """Its Workloads."""
        found = sorted(
            self.snapshot.owned(WORKLOAD, self.uid, self.namespace),
            key=lambda each: fields.created(each) or 0,
        )
        live = [each for each in found if not fields.holds(each, "Finished")]
        granted = [each for each in live if fields.holds(each, "QuotaReserved")]
        asked = [each for each in live if not fields.holds(each, "QuotaReserved")]
        ended = [each for each in found if fields.holds(each, "Finished")]
        return Slices(_last(granted), _last(asked), _last(ended))

    @cached_property
    def unplaced(self) -> int:
        """How many of its pods have no place yet, by a gate of Kueue's or for want of one."""
        pods = self.snapshot.owned(POD, self.uid, self.namespace)
        return sum(
            fields.text(each, "status", "phase") == "Pending"
            and not fields.text(each, "spec", "nodeName")
            and not fields.is_ending(each)
            for each in pods
        )


def parts_of(snapshot: Snapshot) -> Iterator[Part]:
    """The parts of campaigns that go on, in the order of their names."""
    for job in snapshot.of(JOB):
        if has_window(job) and ending_of(job) is None and not fields.is_ending(job):
            yield Part(job, snapshot)


def count_of(workload: Object) -> int:
    """How many pods a Workload is for; a cut changes this and not its admission."""
    return sum(fields.count(each, "count") for each in fields.items(workload, "spec", "podSets"))


def reclaimed(workload: Object) -> int:
    """How many pods' quota Kueue has given back since there is nothing left for them."""
    return sum(fields.count(each, "count") for each in fields.items(workload, "status", "reclaimablePods"))


def pod_costs(workload: Object) -> Mapping[Cell, Fraction]:
    """What quota one pod more of an admitted Workload takes, by flavor and resource."""
    found: dict[Cell, Fraction] = {}
    for each in fields.items(workload, "status", "admission", "podSetAssignments"):
        flavors, usage = fields.mapping(each, "flavors"), fields.mapping(each, "resourceUsage")
        count = fields.count(each, "count")
        for resource, flavor in flavors.items():
            try:
                amount = parse_exact(str(usage.get(resource, "0"))) / max(1, count)
            except QuantityError:
                continue
            if amount > 0:
                found[str(flavor), str(resource)] = amount
    return found


def _last(found: list[Object]) -> Object | None:
    return found[-1] if found else None
