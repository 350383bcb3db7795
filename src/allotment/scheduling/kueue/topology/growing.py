"""Places for an elastic workload that grows or shrinks (the gate ElasticJobsViaWorkloadSlicesWithTAS, alpha).

Pods that stand stay where they are: more of them are placed beside the rest, fewer give up the last places.
A place that is no longer there makes all of it anew. The rules are those of ``tas_elastic_workloads.go`` in
``pkg/cache/scheduler`` and of ``TruncateAssignment`` in ``pkg/util/tas``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from allotment.scheduling.kueue.topology.asking import Ask
from allotment.scheduling.kueue.topology.domains import Domains
from allotment.scheduling.kueue.topology.replacing import merged
from allotment.scheduling.kueue.topology.spreading import Spread
from allotment.scheduling.state.workloads import DomainCount, Placement

Answers = list[tuple[str, Placement | None, str]]


@dataclass(frozen=True, slots=True)
class Growth:
    """How places are searched and taken while a workload changes its size."""

    domains: Domains
    search: Callable[[Ask, Ask | None], Spread | str]
    take: Callable[[Ask, Placement | None], None]

    def place(self, workers: Ask, leader: Ask | None) -> Answers | None:
        """The places, or None where there are none to keep."""
        before = workers.previous
        if before is None or not self._stands(before):
            return None
        if leader is not None and leader.previous is not None and not self._stands(leader.previous):
            return None
        standing = sum(each.count for each in before.domains)
        if workers.count > standing:
            return self._grow(workers, leader, before, standing)
        kept = before if workers.count == standing else truncated(before, workers.count)
        self.take(workers, kept)
        answers: Answers = [(workers.pods.name, kept, "")]
        if leader is not None:
            self.take(leader, leader.previous)
            answers.append((leader.pods.name, leader.previous, ""))
        return answers

    def _stands(self, placement: Placement) -> bool:
        return all(self.domains.leaf_of(each.values) is not None for each in placement.domains)

    def _grow(self, workers: Ask, leader: Ask | None, before: Placement, standing: int) -> Answers:
        self.take(workers, before)
        led = leader.previous if leader is not None else None
        if leader is not None:
            self.take(leader, led)
        more = replace(workers, count=workers.count - standing, previous=None)
        found = self.search(more, None if led is not None else leader)
        if isinstance(found, str):
            return [(workers.pods.name, None, found)]
        self.take(workers, found.workers)
        whole = merged(self.domains, (*found.workers.domains, *before.domains))
        answers: Answers = [(workers.pods.name, replace(before, domains=whole), "")]
        if leader is not None:
            if led is None:
                self.take(leader, found.leader)
            answers.append((leader.pods.name, led or found.leader, ""))
        return answers


def truncated(placement: Placement, count: int) -> Placement:
    """The first places for so many pods."""
    kept = []
    for each in placement.domains:
        if count <= 0:
            break
        kept.append(DomainCount(each.values, min(each.count, count)))
        count -= each.count
    return replace(placement, domains=tuple(kept))
