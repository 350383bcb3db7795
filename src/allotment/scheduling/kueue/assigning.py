"""Flavors for a workload: for each group of pod sets and of resources the first that will do, or the best.

Resources are walked in Kueue's order; all resources of one group come from the flavor that is found for the
first of them. What earlier pod sets of the workload take is counted. Then the pods that want one are given a
place. The rules are those of ``FlavorAssigner`` in ``pkg/scheduler/flavorassigner``; ``quota.py`` has the
part about one flavor and one resource.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from allotment.scheduling.kueue.assignment import (
    BEST,
    WORST,
    Assignment,
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
from allotment.scheduling.kueue.placing import place
from allotment.scheduling.kueue.quota import Prober, quota_of
from allotment.scheduling.kueue.tree import Cell, Node
from allotment.scheduling.state.amounts import PODS, in_walking_order, plus
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
class _Group:
    """Pod sets that get the same flavors."""

    indexes: list[int] = field(default_factory=list)
    totals: list[PodSetTotal] = field(default_factory=list)
    choices: list[PodSetChoice] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    attempts: dict[str, Attempt] = field(default_factory=dict)


@dataclass(slots=True)
class Assigner:
    """Finds flavors in one ClusterQueue; ``prober`` says whether others could be evicted for it."""

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

    def assign(self, counts: Sequence[int] | None = None) -> Assignment:
        """The assignment for the whole workload, or for fewer pods."""
        info, ground, old = self.sought.info, self.ground, self.sought.replaced
        totals = list(info.totals)
        if counts is not None:
            totals = [total.scaled(count) for total, count in zip(totals, counts, strict=True)]
        result = Assignment(
            generation=ground.generations.get(info.cluster_queue, 0),
            cycle=ground.cycle,
            shape=info.shape,
            replaced=old.totals if old else None,
            standing=old.workload.admission if old else None,
        )
        for group in self._groups(totals):
            if not self._assign_group(group, result):
                self._settle(result)
                return result
        if result.mode is not Mode.NO_FIT and ground.settings.on(Gate.TOPOLOGY):
            place(ground, self.node, info, result)
        self._settle(result)
        return result

    def _settle(self, result: Assignment) -> None:
        if self.ground.settings.on(Gate.OBSERVABLE):
            result.settle_reason(self.queue)

    def _groups(self, totals: Sequence[PodSetTotal]) -> list[_Group]:
        counts_pods = self.queue.group_of(PODS) is not None
        groups: dict[str, _Group] = {}
        for index, (total, pods) in enumerate(zip(totals, self.sought.info.workload.pod_sets, strict=False)):
            requests = total.requests
            if counts_pods:
                requests = in_walking_order({**requests, PODS: total.count})
            choice = PodSetChoice(total.name, total.count, requests)
            if self.ground.settings.on(Gate.TOPOLOGY):
                choice.choices = {name: Choice(flavor, Mode.FIT) for name, flavor in total.flavors.items()}
                choice.delayed = total.delayed
                choice.placement = total.placement
            name = pods.topology.group if pods.topology and pods.topology.group is not None else str(index)
            group = groups.setdefault(name, _Group())
            group.indexes.append(index)
            group.totals.append(total)
            group.choices.append(choice)
        return list(groups.values())

    def _assign_group(self, group: _Group, result: Assignment) -> bool:
        """Assign what a group asks for; whether it got something."""
        chosen = self._choose(group, result)
        complete = True
        for choice in group.choices:
            choice.choices = self._own(choice, chosen)
            choice.reasons = list(group.reasons)
            choice.attempts = {name: replace(each) for name, each in group.attempts.items()}
            self._append(result, choice)
            if choice.requests and not choice.choices:
                complete = False
        return complete

    def _choose(self, group: _Group, result: Assignment) -> Choices:
        requests: dict[str, int] = {}
        chosen: Choices = {}
        for choice in group.choices:
            for resource, amount in choice.requests.items():
                requests[resource] = plus(requests.get(resource, 0), amount)
            chosen.update(choice.choices)
        requests = in_walking_order(requests)
        for resource, amount in requests.items():
            part = self.queue.group_of(resource)
            if part is None and (amount == 0 or self._ignores_undeclared):
                continue
            if resource in chosen:
                continue
            found, reasons = self._find(group, part, requests, resource, result.cells)
            if not found:
                group.reasons = reasons
                return {}
            chosen.update(found)
            group.reasons += reasons
        return chosen

    @property
    def _ignores_undeclared(self) -> bool:
        settings = self.ground.settings
        return settings.ignore_undeclared and settings.on(Gate.QUOTA_CHECK)

    def _find(
        self,
        group: _Group,
        part: ResourceGroup | None,
        requests: Mapping[str, int],
        resource: str,
        taken: Mapping[Cell, int],
    ) -> tuple[Choices, list[str]]:
        """The flavor for the resources of one group, and what stood in the way of better ones."""
        if part is None:
            return {}, [f"resource {resource} unavailable in ClusterQueue"]
        search = _Search(self, group, part, requests, resource, taken)
        found = search.run()
        _merge(group.attempts, search.attempts, part, resource)
        return found, search.reasons

    def _own(self, choice: PodSetChoice, chosen: Choices) -> Choices:
        """Of a group's flavors those that a pod set has use for."""
        if choice.requests:
            return {resource: each for resource, each in chosen.items() if resource in choice.requests}
        pods = next(p for p in self.sought.info.workload.pod_sets if p.name == choice.name)
        if pods.topology is None or pods.topology.group is None:
            return {}
        places = self.ground.places_of(self.node)
        return {resource: each for resource, each in chosen.items() if each.flavor in places}

    def _append(self, result: Assignment, choice: PodSetChoice) -> None:
        result.pod_sets.append(choice)
        result.fixed = None
        tried: dict[str, int] = {}
        old = self._old_requests(choice.name)
        for resource, each in choice.choices.items():
            result.borrowing = max(result.borrowing, each.borrowing)
            cell = (each.flavor, resource)
            amount = choice.requests.get(resource, 0) - old.get(resource, 0)
            result.cells[cell] = plus(result.cells.get(cell, 0), amount)
            tried[resource] = each.tried
        result.tried.append(tried)

    def _old_requests(self, name: str) -> Mapping[str, int]:
        replaced = self.sought.replaced
        for total in replaced.totals if replaced else ():
            if total.name == name:
                return total.requests
        return {}


@dataclass(slots=True)
class _Search:
    """The search for one flavor for the resources of one group."""

    assigner: Assigner
    group: _Group
    part: ResourceGroup
    requests: Mapping[str, int]
    resource: str
    taken: Mapping[Cell, int]
    reasons: list[str] = field(default_factory=list)
    attempts: dict[str, Attempt] = field(default_factory=dict)

    def run(self) -> Choices:
        """The resources with their flavor; empty if there is none."""
        fungible = self.assigner.ground.settings.on(Gate.FLAVOR_FUNGIBILITY)
        fungibility = self.assigner.queue.fungibility
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
        progress = self.assigner.sought.progress
        if progress is None or not fungible:
            return 0
        return progress.next_flavor(self.group.indexes[0], self.resource)

    def _may_be(self, flavor: str) -> bool:
        """Whether the flavor is for these pods at all."""
        sought, settings = self.assigner.sought, self.assigner.ground.settings
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
            self.assigner.ground,
            self.assigner.node,
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
        assigner, fungibility = self.assigner, self.assigner.queue.fungibility
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
                assigner.ground, assigner.node, cell, self.taken.get(cell, 0), need, prober=assigner.prober
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
        replaced = self.assigner.sought.replaced
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


def _merge(known: dict[str, Attempt], new: Mapping[str, Attempt], part: ResourceGroup, resource: str) -> None:
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
