"""Allocate: every job that waits gets what is free, in the order of queues; elastic ones a pod at a time."""

from __future__ import annotations

from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.lines import Line
from allotment.scheduling.kai.placing import Placer
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.settings import Action
from allotment.scheduling.kai.statement import Statement


def run(session: Session) -> None:
    """Let the session's jobs have what is free."""
    waiting = [group for group in session.groups.values() if group.pending and group.root.ready]
    line = Line(session, depth=session.settings.depth.get(Action.ALLOCATE)).extend(waiting)
    nodes = list(session.nodes.values())
    while line:
        group = line.pop()
        if group is None:
            return
        statement = Statement(session)
        ran_before = any(task.allocated for task in group.tasks.values())
        if not Placer(session, statement, wait=False).place(nodes, group):
            statement.rollback()
            continue
        waits = _must_wait(group)
        if waits:
            statement.into_line(group)
        statement.commit()
        if not waits and not ran_before:
            group.started = session.now
        if group.pending:
            line.push(group)


def _must_wait(group: Group) -> bool:
    """Whether some leaf would begin with less than it needs while others of its pods are in line."""
    return any(leaf.in_line and leaf.active - leaf.in_line < leaf.minimum for leaf in group.leaves.values())
