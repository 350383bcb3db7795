"""The search for one flavor for the resources of one group: all are looked at in order until one will do.

A flavor that would do by evicting others or by borrowing may be passed by for a later one, as the queue's
fungibility has it. The rules are those of ``findFlavorForPodSets`` in ``pkg/scheduler/flavorassigner``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from allotment.scheduling.kueue.assignment import (
    BEST,
    WORST,
    Attempt,
    Choice,
    Choices,
    Mode,
    PodSetChoice,
    Progress,
    Standing,
    is_preferred,
    tries_next,
)
from allotment.scheduling.kueue.charges import Info, PodSetTotal
from allotment.scheduling.kueue.decisions import Reason, more_severe
from allotment.scheduling.kueue.flavors import unsuited
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.ground import Ground
from allotment.scheduling.kueue.quota import Prober, quota_of
from allotment.scheduling.kueue.tree import Cell, Node
from allotment.scheduling.state.queues import ClusterQueue, ResourceGroup

Pinned = Mapping[str, Mapping[str, str]]
"""Flavors by pod set and resource that an earlier look at the workload chose."""


@dataclass(frozen=True, slots=True)
class Sought:
    """Who is to get flavors: the workload, where its search goes on, and what it is bound to."""

    info: Info
    progress: Progress | None = None
    pinned: Pinned | None = None
    replaced: Info | None = None


@dataclass(slots=True)
class Group:
    """Pod sets that get the same flavors."""

    indexes: list[int] = field(default_factory=list)
    totals: list[PodSetTotal] = field(default_factory=list)
    choices: list[PodSetChoice] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    attempts: dict[str, Attempt] = field(default_factory=dict)


@dataclass(slots=True)
class Seeker:
    """Who seeks flavors in which ClusterQueue; ``prober`` says whether others could be evicted for it."""

    ground: Ground
    sought: Sought
    prober: Prober

    @property
    def node(self) -> Node:
        """The ClusterQueue in the tree."""
        return self.ground.node(self.sought.info)

    @property
    def queue(self) -> ClusterQueue:
        """The ClusterQueue."""
        return self.node.queue or ClusterQueue(self.node.name)


@dataclass(slots=True)
class Search:
    """The search for one flavor for the resources of one group."""

    seeker: Seeker
    group: Group
    part: ResourceGroup
    requests: Mapping[str, int]
    resource: str
    taken: Mapping[Cell, int]
    reasons: list[str] = field(default_factory=list)
    attempts: dict[str, Attempt] = field(default_factory=dict)

    def run(self) -> Choices:
        """The resources with their flavor; empty if there is none."""
        fungible = self.seeker.ground.settings.on(Gate.FLAVOR_FUNGIBILITY)
        fungibility = self.seeker.queue.fungibility
        best: Choices = {}
        best_standing = WORST
        last = -1
        for index in range(self._start(fungible=fungible), len(self.part.flavors)):
            last = index
            flavor = self.part.flavors[index]
            if not self._may_be(flavor):
                continue
            choices, standing = self._try(flavor)
            if not fungible:
                if standing.grade > best_standing.grade:
                    best, best_standing = choices, standing
                if best_standing == BEST:
                    break
                continue
            if not tries_next(standing, fungibility):
                best, best_standing = choices, standing
                break
            if is_preferred(standing, best_standing, fungibility):
                best, best_standing = choices, standing
        if fungible:
            tried = -1 if last == len(self.part.flavors) - 1 else last
            for choice in best.values():
                choice.tried = tried
        if best_standing.grade.mode is Mode.FIT:
            self.reasons = []
        return best

    def _start(self, *, fungible: bool) -> int:
        progress = self.seeker.sought.progress
        if progress is None or not fungible:
            return 0
        return progress.next_flavor(self.group.indexes[0], self.resource)

    def _may_be(self, flavor: str) -> bool:
        """Whether the flavor is for these pods at all."""
        sought, settings = self.seeker.sought, self.seeker.ground.settings
        if sought.pinned is not None and not self._pinned(sought.pinned, flavor):
            self.reasons.append(
                f"skipping flavor {flavor} as it is not found in the nomination mapping "
                f"for resource {self.resource}"
            )
            return False
        allowed = sought.info.workload.allowed_flavors
        if settings.on(Gate.CONCURRENT) and allowed is not None and flavor not in allowed:
            self.reasons.append(
                f"skipping flavor {flavor} due to WorkloadAllowedResourceFlavorAnnotation annotation"
            )
            return False
        sets = [sought.info.workload.pod_sets[index] for index in self.group.indexes]
        why = unsuited(
            self.seeker.ground,
            self.seeker.node,
            self.part,
            flavor,
            sets,
            placing=settings.on(Gate.TOPOLOGY),
        )
        if why is not None:
            self.reasons.append(why)
            self.attempts[flavor] = Attempt(Mode.NO_FIT, Reason.NO_MATCHING_FLAVOR, reasons=(why,))
            return False
        return True

    def _pinned(self, pinned: Pinned, flavor: str) -> bool:
        names = [total.name for total in self.group.totals]
        return any(pinned.get(name, {}).get(self.resource) == flavor for name in names)

    def _try(self, flavor: str) -> tuple[Choices, Standing]:
        """How the flavor does for all of the group's resources that are asked for."""
        seeker, fungibility = self.seeker, self.seeker.queue.fungibility
        choices: Choices = {}
        standing = BEST
        worst, borrowing = Reason.NONE, 0
        told: list[str] = []
        for resource, amount in self.requests.items():
            if resource not in self.part.resources:
                continue
            need, why = self._beyond_replaced(flavor, resource, amount)
            if why is not None:
                standing = WORST
                told.append(why)
                worst = more_severe(worst, Reason.NO_MATCHING_FLAVOR)
            cell = (flavor, resource)
            found = quota_of(
                seeker.ground, seeker.node, cell, self.taken.get(cell, 0), need, prober=seeker.prober
            )
            if found.message is not None:
                told.append(found.message)
                worst = more_severe(worst, found.reason)
            borrowing = max(borrowing, found.standing.borrowing)
            if is_preferred(standing, found.standing, fungibility):
                standing = found.standing
            if not standing.grade:
                continue
            choices[resource] = Choice(flavor, found.standing.grade.mode, found.standing.borrowing)
        self.reasons += told
        self.attempts[flavor] = Attempt(standing.grade.mode, worst, borrowing, tuple(sorted(set(told))))
        return choices, standing

    def _beyond_replaced(self, flavor: str, resource: str, amount: int) -> tuple[int, str | None]:
        """What a larger slice needs beyond the one that it replaces, which also says the flavor."""
        replaced = self.seeker.sought.replaced
        if replaced is None:
            return amount, None
        for index in self.group.indexes:
            old = replaced.totals[index]
            original = old.flavors.get(resource, "")
            if original != flavor:
                return amount, (
                    f"could not assign {flavor} flavor since the original workload is assigned: {original}"
                )
            amount -= old.requests.get(resource, 0)
        return amount, None


def merge(known: dict[str, Attempt], new: Mapping[str, Attempt], part: ResourceGroup, resource: str) -> None:
    """Take attempts for one more resource in: a flavor is as bad as it is for the worst of them."""
    for flavor, attempt in new.items():
        old = known.get(flavor)
        if old is None:
            known[flavor] = attempt
        else:
            known[flavor] = Attempt(
                min(old.mode, attempt.mode),
                more_severe(old.reason, attempt.reason),
                max(old.borrowing, attempt.borrowing),
                tuple(sorted({*old.reasons, *attempt.reasons})),
            )
    for flavor, old in known.items() if new else ():
        if flavor in part.flavors and flavor not in new:
            why = f"flavor {flavor} does not provide resource {resource}"
            known[flavor] = Attempt(
                Mode.NO_FIT, Reason.NO_MATCHING_FLAVOR, old.borrowing, tuple(sorted({*old.reasons, why}))
            )
