"""Admission fair sharing: inside one ClusterQueue the LocalQueue goes first that has used least of late.

Use fades by half in a set time; what is admitted counts at once. The rules are those of
``pkg/util/admissionfairsharing`` and of the ledger in ``pkg/cache/queue/afs``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from allotment.scheduling.kueue.entries import Entry
from allotment.scheduling.kueue.memory import LineUse, Memory
from allotment.scheduling.state.amounts import CPU
from allotment.scheduling.state.queues import BY_USAGE
from allotment.scheduling.state.state import State

Uses = Mapping[str, LineUse]


def _units(resource: str, amount: float) -> float:
    """An amount in whole units."""
    return amount / 1000 if resource == CPU else amount


def line_uses(memory: Memory, state: State, now: float) -> Uses:
    """What each LocalQueue has used of late, brought up to now where it is time to."""
    fairness = memory.settings.fading
    if fairness is None:
        return memory.uses
    running = _running(memory)
    uses = dict(memory.uses)
    for key, line in state.local_queues.items():
        queue = state.cluster_queues.get(line.cluster_queue)
        if queue is None or queue.admission != BY_USAGE:
            continue
        known = uses.get(key)
        if known is None:
            uses[key] = LineUse(at=now)
            continue
        elapsed = now - known.at
        if elapsed < fairness.interval:
            continue
        new = fairness.fading(elapsed)
        here = running.get(key, {})
        used = {
            name: (1 - new) * known.used.get(name, 0.0) + new * here.get(name, 0.0)
            for name in {**known.used, **here}
        }
        uses[key] = LineUse(used, {}, now)
    return uses


def _running(memory: Memory) -> dict[str, dict[str, float]]:
    """What the workloads of each LocalQueue hold."""
    running: dict[str, dict[str, float]] = {}
    for infos in memory.held.values():
        for info in infos.values():
            here = running.setdefault(info.workload.queue_key, {})
            for (_flavor, resource), amount in info.cells.items():
                here[resource] = here.get(resource, 0.0) + _units(resource, amount)
    return running


def line_values(memory: Memory, state: State) -> dict[str, float]:
    """What LocalQueues are compared by: use by the weights of resources, over the queue's own weight."""
    fairness = memory.settings.fading
    if fairness is None:
        return {}
    values: dict[str, float] = {}
    for key, line in state.local_queues.items():
        queue = state.cluster_queues.get(line.cluster_queue)
        if queue is None or queue.admission != BY_USAGE:
            continue
        use = memory.uses.get(key, LineUse())
        amounts = dict(use.used)
        for added in use.added.values():
            for name, amount in added.items():
                amounts[name] = amounts.get(name, 0.0) + amount
        total = sum(fairness.weights.get(name, 1.0) * amounts[name] for name in sorted(amounts))
        values[key] = float("inf") if line.weight <= 0 else total / line.weight
    return values


def with_admitted(memory: Memory, state: State, admitted: Iterable[Entry]) -> Uses:
    """The same with what was just admitted: it counts at once for what it will use until the next look."""
    fairness = memory.settings.fading
    if fairness is None:
        return memory.uses
    uses = dict(memory.uses)
    for entry in admitted:
        queue = state.cluster_queues[entry.info.cluster_queue]
        if queue.admission != BY_USAGE or entry.info.workload.reserved:
            continue
        covered = {name for group in queue.groups for name in group.resources}
        part = fairness.fading(fairness.interval)
        added: dict[str, float] = {}
        for total in entry.info.totals:
            for name, amount in total.requests.items():
                if not memory.settings.ignore_undeclared or name in covered:
                    added[name] = added.get(name, 0.0) + part * _units(name, amount)
        key = entry.info.workload.queue_key
        known = uses.get(key, LineUse(at=memory.at))
        uses[key] = LineUse(known.used, {**known.added, entry.info.key: added}, known.at)
    return uses
