"""How wide work can ever be by quotas, where that is less than what it asks for, or than there are cards.

A window that Kueue lets in as slices of a workload makes no pods that wait: nothing would tell why it stays
narrow. The sum is that of ``allot queues``: quota, and what the others of the cohort could lend. Cards in no
quota stay idle under Kueue whatever waits, and look like cards that nobody wants.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from allotment.kubernetes.cluster.capacity import KUEUE, Capacity
from allotment.kubernetes.cluster.quota import capacities_of, cluster_queue_of
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.planning.queues_of_cluster import shares_of_cluster
from allotment.planning.quotas_and_cards import noun_of, quota_words
from allotment.planning.scenes.sent import wanted
from allotment.planning.scenes.stage import Stage, as_cluster
from allotment.simulation.setting import Scheduler, TeamShare
from allotment.simulation.work import Work

_BY_QUOTA: Final = frozenset({Scheduler.KUEUE, Scheduler.BOTH})


def in_no_quota(stage: Stage) -> Iterator[str]:
    """How many cards Kueue gives to nobody, as the quotas together are fewer."""
    if stage.scheduler not in _BY_QUOTA:
        return
    cluster = as_cluster(stage, stage.snapshot.time)
    shares = shares_of_cluster(cluster)
    for resource in shares.resources:
        quota, there = shares.quota_in_all(resource), shares.there_in_all(resource)
        if quota is not None and there is not None and quota < there:
            yield from quota_words(KUEUE, quota, int(there), resource, noun_of(cluster))


def quota_bounds(
    works: Sequence[Work], snapshot: Snapshot, scheduler: Scheduler, teams: Mapping[str, TeamShare]
) -> Iterator[str]:
    """What is planned and is never as wide as its window, with the sum that says why."""
    if scheduler not in _BY_QUOTA:
        return
    known: dict[str, Mapping[str, Capacity]] = {}
    for work in works:
        team = teams.get(work.team)
        if not work.planned or team is None:
            continue
        queue = cluster_queue_of(snapshot, team.namespace, team.local_queue) or ""
        for resource, each in work.ask.charges.items():
            if resource not in known:
                known[resource] = capacities_of(snapshot, resource, scheduler=KUEUE)
            capacity = known[resource].get(queue)
            if capacity is None or capacity.most is None or each <= 0:
                continue
            pods, asked = math.floor(capacity.most / each), wanted(work)
            if 0 < pods < asked:
                yield f"{work.name}: at most {pods:,} of {asked:,} pods at once: {capacity.arithmetic()}"
