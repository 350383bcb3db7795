"""Stale gang eviction: what runs with less than it needs for longer than its grace period has to go."""

from __future__ import annotations

from allotment.scheduling.kai.decisions import Evicted
from allotment.scheduling.kai.groups import Group
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.settings import Action
from allotment.scheduling.kai.wording import stale
from allotment.scheduling.state.pod_groups import PodStatus


def run(session: Session) -> None:
    """Look at every group, and write down since when it is stale."""
    for group in session.groups.values():
        if group.stale:
            _handle(session, group)
        else:
            group.stale_since = None


def _handle(session: Session, group: Group) -> None:
    if group.stale_since is None:
        group.stale_since = session.now
    grace = session.settings.grace if group.spec.grace is None else group.spec.grace
    if grace < 0 or session.now - group.stale_since < grace:
        return
    for task in [task for task in group.tasks.values() if task.active]:
        message = stale(task, group)
        group.set_status(task, PodStatus.RELEASING)
        node = session.nodes.get(task.node or "")
        if node is not None:
            node.update(task, session.axes)
        session.given_back(task)
        session.decisions.append(Evicted(task.id, group.key, task.node or "", Action.STALE, message))
