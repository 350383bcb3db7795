"""The two makers of scenarios that KAI tries one after the other.

The first looks at one node at a time, and takes all victims named so far that touch it. The second takes as
few nodes as may do, those with least room first, and doubles the steps by which it takes more.
(``plugins/nodelocalgreedy``, ``plugins/multinodegang``.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from allotment.scheduling.kai.nodes import Node
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.solving.building import Accumulation
from allotment.scheduling.kai.solving.scenarios import Scenario
from allotment.scheduling.kai.tasks import Task

Maker = Callable[[Session, Accumulation], Iterator[Scenario]]


def node_by_node(session: Session, grown: Accumulation) -> Iterator[Scenario]:
    """For the latest victim, per node that it was on: all batches so far of the jobs that touch the node."""
    while (base := grown.next()) is not None:
        if not base.potential:
            if base.recorded:
                yield base
            continue
        yield from list(_per_node(session, base, grown))


def _per_node(session: Session, base: Scenario, grown: Accumulation) -> Iterator[Scenario]:
    latest = session.groups[base.potential[-1].group.key]
    seen: set[tuple[str, ...]] = set()
    for node in sorted({task.node for task in latest.tasks.values() if task.node}):
        tasks = [task for batch in base.touching(node) for task in batch.tasks]
        if grown.too_few(tasks):
            continue
        key = tuple(sorted(task.id for task in tasks))
        if not tasks or key in seen:
            continue
        seen.add(key)
        yield _grouped(base, tasks)


def _grouped(base: Scenario, tasks: Sequence[Task]) -> Scenario:
    scenario = base.bare()
    for group in dict.fromkeys(task.group for task in tasks):
        scenario.add(group, [task for task in tasks if task.group is group])
    return scenario


def few_nodes(session: Session, grown: Accumulation) -> Iterator[Scenario]:
    """Ever more of the nodes that bear victims; what is on them goes in whole batches."""
    while (base := grown.next()) is not None:
        if not base.potential:
            yield base
            continue
        yield from list(_prefixes(session, base, grown.feasible))


def _prefixes(session: Session, base: Scenario, feasible: Mapping[str, Node]) -> Iterator[Scenario]:
    recorded: dict[str, float] = {}
    for task in base.recorded_tasks:
        if task.node:
            recorded[task.node] = recorded.get(task.node, 0.0) + task.accepted_gpus
    on_node = _batches_by_node(base)
    room = {name: _room(session, base, name, numbers, recorded) for name, numbers in on_node.items()}
    wants = [task.quota_gpus for task in base.pending]
    least = min(wants)
    order = sorted((name for name in on_node if not 0 < least > room[name]), key=lambda name: room[name])
    outside = (name for name in feasible if name not in on_node)
    there = sum(feasible[name].free_gpus(session.axes) + recorded.get(name, 0.0) for name in outside)
    count = _covering([room[name] for name in order], max(0.0, sum(wants) - there))
    step = 1
    while count <= len(order):
        taken = {number for name in order[:count] for number in on_node[name]}
        scenario = base.bare()
        for number in sorted(taken):
            scenario.take(base.potential[number])
        yield scenario
        if count == len(order):
            return
        count = min(count + step, len(order))
        step *= 2


def _batches_by_node(base: Scenario) -> dict[str, list[int]]:
    on_node: dict[str, list[int]] = {}
    for number, batch in enumerate(base.potential):
        for task in batch.tasks:
            if task.node:
                numbers = on_node.setdefault(task.node, [])
                if number not in numbers:
                    numbers.append(number)
    return on_node


def _room(
    session: Session, base: Scenario, name: str, numbers: Sequence[int], recorded: Mapping[str, float]
) -> float:
    node = session.nodes.get(name)
    free = recorded.get(name, 0.0) + (node.free_gpus(session.axes) if node else 0.0)
    going = (task for number in numbers for task in base.potential[number].tasks if task.node == name)
    return free + sum(task.accepted_gpus for task in going)


def _covering(rooms: Sequence[float], wanted: float) -> int:
    """How many of the nodes are needed; one more than there are if all are too few."""
    if wanted <= 0:
        return 0
    covered = 0.0
    for number, room in enumerate(rooms, start=1):
        covered += room
        if covered >= wanted:
            return number
    return len(rooms) + 1


MAKERS: tuple[Maker, ...] = (node_by_node, few_nodes)
