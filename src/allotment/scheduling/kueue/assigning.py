"""Flavors for a workload: for each group of pod sets and of resources the first that will do, or the best.

Resources are walked in Kueue's order; all resources of one group come from the flavor that is found for the
first of them. What earlier pod sets of the workload take is counted. Then the pods that want one are given a
place. The rules are those of ``FlavorAssigner`` in ``pkg/scheduler/flavorassigner``; ``quota.py`` has the
part about one flavor and one resource.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from allotment.scheduling.kueue.assignment import (
    Assignment,
    Choice,
    Choices,
    Mode,
    PodSetChoice,
)
from allotment.scheduling.kueue.charges import PodSetTotal
from allotment.scheduling.kueue.gates import Gate
from allotment.scheduling.kueue.placing import place
from allotment.scheduling.kueue.searching import Group, Search, Seeker, merge
from allotment.scheduling.kueue.tree import Cell
from allotment.scheduling.state.amounts import PODS, in_walking_order, plus
from allotment.scheduling.state.queues import ResourceGroup


@dataclass(slots=True)
class Assigner(Seeker):
    """Finds flavors in one ClusterQueue for all that a workload asks for."""

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

    def _groups(self, totals: Sequence[PodSetTotal]) -> list[Group]:
        counts_pods = self.queue.group_of(PODS) is not None
        groups: dict[str, Group] = {}
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
            group = groups.setdefault(name, Group())
            group.indexes.append(index)
            group.totals.append(total)
            group.choices.append(choice)
        return list(groups.values())

    def _assign_group(self, group: Group, result: Assignment) -> bool:
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

    def _choose(self, group: Group, result: Assignment) -> Choices:
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
        group: Group,
        part: ResourceGroup | None,
        requests: Mapping[str, int],
        resource: str,
        taken: Mapping[Cell, int],
    ) -> tuple[Choices, list[str]]:
        """The flavor for the resources of one group, and what stood in the way of better ones."""
        if part is None:
            return {}, [f"resource {resource} unavailable in ClusterQueue"]
        search = Search(self, group, part, requests, resource, taken)
        found = search.run()
        merge(group.attempts, search.attempts, part, resource)
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
