"""How one flavor serves one resource of a workload: it fits, others would have to go, or it does not fit.

The rules and words are those of ``fitsResourceQuota`` in ``pkg/scheduler/flavorassigner`` and of
``SimulatePreemption`` in ``pkg/scheduler/preemption``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from allotment.scheduling.kueue.assignment import Grade, Standing
from allotment.scheduling.kueue.decisions import Reason
from allotment.scheduling.kueue.ground import Ground
from allotment.scheduling.kueue.tree import Cell, Node
from allotment.scheduling.state.amounts import amount_text, limit_text, minus, plus
from allotment.scheduling.state.queues import NEVER, ClusterQueue

Prober = Callable[[Cell, int], tuple[Grade, int]]
"""Whether evicting others makes room for an amount, and how much would be borrowed then."""


@dataclass(frozen=True, slots=True)
class QuotaFit:
    """How it stands, with the message and the reason where it does not simply fit."""

    standing: Standing
    message: str | None = None
    reason: Reason = Reason.NONE


def quota_of(
    ground: Ground, node: Node, cell: Cell, assumed: int, amount: int, *, prober: Prober
) -> QuotaFit:
    """How a cell serves an amount beside what the workload has been assumed to take of it."""
    flavor, resource = cell
    usage = ground.usage
    total, most = plus(assumed, amount), node.most.get(cell, 0)
    if total > most:
        return QuotaFit(
            Standing(Grade.NO_FIT, 0),
            f"insufficient quota for {resource} in flavor {flavor}, previously considered podsets requests "
            f"({limit_text(resource, assumed)}) + current podset request ({amount_text(resource, amount)}) > "
            f"maximum capacity ({limit_text(resource, most)})",
            Reason.EXCEEDS_MAX,
        )
    borrowing, may_reclaim = usage.lowest_fit(node, cell, total)
    available = usage.available(node, cell)
    if total <= available:
        return QuotaFit(Standing(Grade.FIT, borrowing))
    lacking = limit_text(resource, minus(total, available))
    message = f"insufficient unused quota for {resource} in flavor {flavor}, {lacking} more needed"
    if node.nominal(cell) >= total or may_reclaim or _evicts_while_borrowing(ground, node.queue):
        grade, after = prober(cell, total)
        return QuotaFit(Standing(grade, after), message)
    return QuotaFit(Standing(Grade.NO_FIT, borrowing), message, Reason.WAITING)


def _evicts_while_borrowing(ground: Ground, queue: ClusterQueue | None) -> bool:
    if queue is None:
        return False
    policy = queue.preemption
    return policy.while_borrowing != NEVER or (ground.settings.fair is not None and policy.reclaim != NEVER)
