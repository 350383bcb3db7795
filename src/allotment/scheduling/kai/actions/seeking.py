"""What the actions that evict have in common: who may ask for it, and on which nodes room is looked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from allotment.scheduling.kai.decisions import Reason
from allotment.scheduling.kai.fitting import too_large
from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.lines import Line, in_order
from allotment.scheduling.kai.next_pods import pods_to_place
from allotment.scheduling.kai.nodes import Node
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.settings import Action
from allotment.scheduling.kai.solving.simulating import Judge, Message, Simulation
from allotment.scheduling.kai.solving.solver import Solver
from allotment.scheduling.kai.wording import not_found


def seekers(session: Session, action: Action, wanted: Callable[[Group], bool]) -> Iterator[Group]:
    """The jobs that wait and may have others evicted, in their order."""
    waiting = [group for group in session.groups.values() if group.pending and group.root.ready]
    allowed = [group for group in waiting if wanted(group) and not _delayed(session, group)]
    line = Line(session, depth=session.settings.depth.get(action)).extend(allowed)
    while line:
        group = line.pop()
        if group is None:
            return
        yield group


def _delayed(session: Session, group: Group) -> bool:
    """Whether its preemption delay has not passed since it was made or last evicted."""
    delay = group.spec.delay
    if not delay or delay <= 0 or session.leaf_of(group) is None:
        return False
    end = max(group.created, group.evicted if group.evicted is not None else group.created) + delay
    if session.now >= end:
        return False
    if all(reason != Reason.DELAY for reason, _ in group.faults):
        until = datetime.fromtimestamp(end, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        group.fault(
            Reason.DELAY,
            f"Workload is within its preemption delay window ({delay:g}s) and may not trigger evictions"
            f" before {until}",
        )
    return True


def beyond_all_nodes(session: Session, group: Group) -> bool:
    """Whether some pod that comes next asks for more than any node has, so that no eviction helps."""
    for task in pods_to_place(group, real=False):
        why = too_large(session, task)
        if why is not None:
            group.fault(Reason.PODS, not_found(task, why))
            return True
    return False


def feasible_nodes(session: Session, group: Group) -> list[Node]:
    """Nodes with GPUs that are free or become free; all where some pod needs none."""
    nodes = session.nodes.values()
    if any(not task.asks_gpu for task in group.tasks.values()):
        return list(nodes)
    axes = session.axes
    return [node for node in nodes if node.idle_gpus(axes)[0] > 0 or node.releasing_gpus(axes)[0] > 0]


def solve(
    session: Session, group: Group, candidates: Iterable[Group], judge: Judge, message: Message
) -> bool:
    """Search who has to go for a job, and let them go."""
    victims = [each for each in candidates if each.preemptible and each.active]
    ordered = in_order(session, victims, victims=True)
    solver = Solver(
        session,
        feasible_nodes(session, group),
        lambda: Line(session, victims=True).fill(ordered),
        Simulation(session, judge, message),
    )
    statement = solver.solve(group)
    if statement is None:
        return False
    statement.commit()
    return True
