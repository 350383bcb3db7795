"""A cluster for a trace: nodes that count their cards, as many as keep it busy, and a queue for each team.

A trace says little of its cluster, so that its size is an input: a factor of how many cards its jobs would
hold in the mean if none ever waited. Below 1 the line only grows; about 1 makes teams compete. Queues are
those that a platform file with these quotas is rendered to: Kueue's in one cohort that lends, KAI's under
one parent, with a minimum runtime.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from allotment.errors import UsageError
from allotment.scheduling.default import Settings as DefaultSettings
from allotment.scheduling.kai import Settings as KaiSettings
from allotment.scheduling.kueue import Settings as KueueSettings
from allotment.scheduling.kueue.settings import BOTH_RULES
from allotment.scheduling.state.amounts import CPU, PODS
from allotment.scheduling.state.nodes import HOSTNAME, ClusterNode, Flavor
from allotment.scheduling.state.queues import (
    ANY,
    LOWER,
    ClusterQueue,
    Cohort,
    LabelSelector,
    LocalQueue,
    Preemption,
    Quota,
    ResourceGroup,
)
from allotment.scheduling.state.share_queues import FREELY, NO_LIMIT, Allotted, ShareQueue
from allotment.scheduling.state.state import State
from allotment.simulation.machines import COUNTED
from allotment.simulation.setting import Pace, Scheduler, Setting, TeamShare
from allotment.simulation.traces.jobs import WHOLE, Job, JobKind, TraceNode
from allotment.simulation.traces.works import MODEL

ALL: Final = "allotment"
CARD: Final = "GPU"
NODE_CARDS: Final = 8
NODE_CPU: Final = 96_000
NODE_MEMORY: Final = 768 * 1024
NODE_PODS: Final = 250
MOST_NODES: Final = 100_000
MINIMUM_RUNTIME: Final = 600.0
_MIB: Final = 1024**2


@dataclass(frozen=True, slots=True)
class Demand:
    """What jobs would hold in the mean if none waited, from the first arrival to the last.

    Never more than all of them hold side by side, however soon after each other they come.

    ``widest`` is how many cards the widest of them has at once.
    """

    cards: float
    cores: float
    widest: int

    @classmethod
    def of(cls, jobs: Sequence[Job]) -> Demand:
        """That of jobs; those of which nobody knows how long they ran count as nothing."""
        arrivals = [job.arrival for job in jobs]
        over = max(arrivals, default=0.0) - min(arrivals, default=0.0) or max(
            map(_seconds, jobs), default=0.0
        )
        if not over:
            over = 1.0  # nothing takes any time
        cards = sum(job.gpus * job.share / WHOLE * _seconds(job) for job in jobs)
        standing = sum(job.gpus * job.share / WHOLE * job.pods for job in jobs if job.kind is JobKind.FLEET)
        cores = sum(job.cpu / 1000 * _seconds(job) for job in jobs)
        at_once = sum(job.gpus * job.share / WHOLE * _side_by_side(job) for job in jobs)
        return cls(
            min(cards / over + standing, at_once),
            cores / over,
            max((_together(job) * job.gpus for job in jobs), default=0),
        )


def _seconds(job: Job) -> float:
    """How long its pods run, all of them one after the other."""
    several = job.volumes if job.kind is JobKind.CAMPAIGN else job.pods
    return (job.seconds or 0.0) * several


def _side_by_side(job: Job) -> int:
    """How many of its pods there are at once, if none ever waits."""
    return min(job.pods, job.volumes) if job.kind is JobKind.CAMPAIGN else job.pods


def _together(job: Job) -> int:
    """How many of its pods start at once or not at all."""
    return job.pods if job.kind is JobKind.JOB else 1


def sized(demand: Demand, factor: float, *, cards: int = NODE_CARDS) -> tuple[TraceNode, ...]:
    """Nodes of so many cards each for a demand; never fewer than its widest job needs."""
    count = max(demand.cards * factor / cards, demand.widest / cards, 1.0)
    if count > MOST_NODES:
        raise UsageError(
            f"so many cards are {count:,.0f} nodes of {cards}, and at most {MOST_NODES:,} are played",
            remedy="give a smaller --size, or say how many with --nodes",
        )
    return alike(math.ceil(count), cards=cards)


def alike(count: int, *, cards: int = NODE_CARDS) -> tuple[TraceNode, ...]:
    """So many nodes with so many cards each."""
    digits = len(str(count - 1))
    return tuple(
        TraceNode(f"node-{number:0{digits}}", NODE_CPU, NODE_MEMORY, cards, CARD) for number in range(count)
    )


def even_shares(teams: Iterable[str], cards: int, limit: float | None = None) -> dict[str, TeamShare]:
    """The same quota for each team: all cards divided, in whole ones; the first teams have what is over."""
    names = sorted(teams)
    each, over = divmod(cards, len(names)) if names else (0, 0)
    return {
        name: TeamShare(
            name, name, local_queue=name, share_queue=name, quota=float(each + (number < over)), limit=limit
        )
        for number, name in enumerate(names)
    }


def setting_of(
    scheduler: Scheduler,
    nodes: Sequence[TraceNode],
    shares: Mapping[str, TeamShare],
    pace: Pace | None = None,
) -> Setting:
    """Nodes and queues as a scheduler's model meets them."""
    state = State(
        cluster_queues={share.name: _cluster_queue(share) for share in shares.values()},
        cohorts={ALL: Cohort(ALL)},
        local_queues={queue.key: queue for queue in map(_local_queue, shares.values())},
        flavors={ALL: Flavor(ALL)},
        nodes={node.name: cluster_node(node) for node in nodes},
        namespaces={share.namespace: {} for share in shares.values()},
        share_queues={queue.name: queue for queue in _share_queues(shares.values())},
    )
    return Setting(
        scheduler,
        state,
        shares,
        card_of_node={node.name: node.model for node in nodes if node.gpus},
        pace=pace or Pace(),
        default=DefaultSettings(is_early=True, preempts=True),
        kueue=KueueSettings(fair=BOTH_RULES),
        kai=KaiSettings(reclaim_min_runtime=MINIMUM_RUNTIME, preempt_min_runtime=MINIMUM_RUNTIME),
    )


def cluster_node(node: TraceNode) -> ClusterNode:
    """A node of a trace as a cluster has it."""
    labels = {HOSTNAME: node.name, **({MODEL: node.model} if node.model else {})}
    allocatable = {CPU: node.cpu, "memory": node.memory * _MIB, PODS: NODE_PODS}
    return ClusterNode(node.name, labels, allocatable | ({COUNTED: node.gpus} if node.gpus else {}))


def _cluster_queue(share: TeamShare) -> ClusterQueue:
    nominal = math.floor(share.quota or 0)
    borrowing = None if share.limit is None else max(0, math.floor(share.limit) - nominal)
    quotas = {(ALL, COUNTED): Quota(nominal, borrowing)}
    return ClusterQueue(
        share.name,
        ALL,
        (ResourceGroup((COUNTED,), (ALL,), quotas),),
        namespaces=LabelSelector(),
        preemption=Preemption(within=LOWER, reclaim=ANY),
        weight=share.weight,
    )


def _local_queue(share: TeamShare) -> LocalQueue:
    return LocalQueue(share.namespace, share.local_queue, share.name)


def _share_queues(shares: Iterable[TeamShare]) -> Iterable[ShareQueue]:
    yield ShareQueue(ALL, cpu=FREELY, memory=FREELY, gpu=FREELY)
    for share in shares:
        quota = NO_LIMIT if share.quota is None else share.quota
        limit = NO_LIMIT if share.limit is None else share.limit
        gpu = Allotted(quota, limit, share.weight)
        yield ShareQueue(share.share_queue, ALL, cpu=FREELY, memory=FREELY, gpu=gpu)
