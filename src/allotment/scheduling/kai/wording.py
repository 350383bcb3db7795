"""KAI's words for why something is refused or has to go, with its way of writing numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from allotment.scheduling.kai.axes import CPU, GPU, MEMORY, Triple
from allotment.scheduling.state.share_queues import NO_LIMIT

if TYPE_CHECKING:
    from allotment.scheduling.kai.accounts import Account
    from allotment.scheduling.kai.groups import Group
    from allotment.scheduling.kai.tasks import Task

UNITS: Final = {CPU: 1000.0, MEMORY: 1_000_000_000.0, GPU: 1.0}
_LIMITED: Final = {CPU: ("CPU cores", "cores"), MEMORY: ("memory", "GB"), GPU: ("GPUs", "GPUs")}
_QUOTA: Final = {CPU: ("CPU cores", "cores"), MEMORY: ("GB memory", "GB"), GPU: ("GPUs", "GPUs")}


def number(value: float, unit: float = 1.0) -> str:
    """An amount with at most three digits after the point."""
    if value == NO_LIMIT:
        return "Unlimited"
    text = f"{value / unit:.6f}"
    whole, _, digits = text.partition(".")
    digits = digits[:3].rstrip("0")
    return f"{whole}.{digits}" if digits else whole


def over_limit(account: Account, resource: int, asked: Triple) -> str:
    """A queue would hold more than its limit."""
    what, unit = _LIMITED[resource]
    limit, held, more = (
        number(amount, UNITS[resource])
        for amount in (account.limit[resource], account.held[resource], asked[resource])
    )
    return (
        f"{account.name} quota has reached the allowable limit of {what}. Limit is {limit} {unit},"
        f" currently {held} {unit} allocated and workload requested {more} {unit}"
    )


def over_quota(account: Account, resource: int, asked: Triple) -> str:
    """What cannot be preempted would hold more than the quota."""
    what, unit = _QUOTA[resource]
    quota, held, more = (
        number(amount, UNITS[resource])
        for amount in (account.quota[resource], account.held_firmly[resource], asked[resource])
    )
    return (
        f"Non-preemptible workload is over quota. Workload requested {more} {what}, but {account.name} quota"
        f" is {quota} {unit}, while {held} {unit} are already allocated for non-preemptible pods."
        f" Use a preemptible workload to go over quota."
    )


_LARGEST: Final = {GPU: ("GPU", ""), CPU: ("CPU", " cores"), MEMORY: ("memory", " GB")}


def too_large(task: Task, name: str, number_of: int, largest: float, shard: str) -> str:
    """A pod asks for more than any node has in all."""
    what, unit = _LARGEST.get(number_of, (name, ""))
    cpu, memory, gpu = (number(task.vector[each], UNITS[each]) for each in (CPU, MEMORY, GPU))
    asked = f"GPU: {gpu}, CPU: {cpu} (cores), memory: {memory} (GB)"
    if largest == 0:
        end = f"No node in the {shard} node-pool has {what} resources"
    else:
        most = number(largest, UNITS.get(number_of, 1.0))
        end = (
            f"Max {what} resources available in a single node in the {shard} node-pool"
            f" is topped at {most}{unit}"
        )
    return f"The pod {task.id} requires {asked}. {end}"


def not_found(task: Task, why: str) -> str:
    """A pod finds no place."""
    return f"Resources were not found for pod {task.id} due to: {why}"


def _amounts(amounts: Sequence[float]) -> str:
    cpu, memory, gpu = (number(amounts[each], UNITS[each]) for each in (CPU, MEMORY, GPU))
    return f"GPU: {gpu}, CPU: {cpu} (cores), memory: {memory} (GB)"


def queue_standing(account: Account) -> str:
    """How a queue stands when something of it is reclaimed."""
    return (
        f"{account.name} uses <{_amounts(account.held)}> with a quota of <{_amounts(account.quota)}>,"
        f" fair-share of <{_amounts(account.fair)}> and queue priority of <{account.priority}>."
    )


def standings(victim: Account | None, taker: Account | None) -> str:
    """How both queues stand, or those above them if these are not siblings."""
    if victim is None or taker is None:
        return ""
    if victim.parent is not taker.parent:
        victim, taker = victim.parent or victim, taker.parent or taker
    return f"\n{queue_standing(victim)}\n{queue_standing(taker)}"


def reclaimed(task: Task, by: Group, standing: str) -> str:
    """A pod goes to another queue."""
    return f"Pod {task.id} was preempted by workload {by.name}.{standing}"


def preempted(task: Task, by: Group) -> str:
    """A pod goes for a higher priority of its own queue."""
    return f"Pod {task.id} was preempted by higher priority workload {by.name}"


def consolidated(task: Task) -> str:
    """A pod is moved."""
    return (
        f"Pod {task.id} was preempted and rescheduled due to bin packing (resource consolidation) procedure"
    )


def stale(task: Task, group: Group) -> str:
    """A pod of a group that is too small."""
    leaf = group.leaves[task.leaf]
    part = "" if group.flat else f" in sub-group {leaf.name}"
    return (
        f"Workload doesn't meet the minimum required number of pods ({leaf.minimum}){part},"
        f" evicting remaining pod: {task.id}"
    )
