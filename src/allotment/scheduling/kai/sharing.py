"""Which GPU of a node a pod shares: the fullest that has room, or the emptiest where the shard spreads.

``gpu_sharing`` of KAI and the ``gpupack`` and ``gpuspread`` plugins. A whole GPU that is taken for sharing
gets a name of its own; a pod that finds its memory only when others leave is put in line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from allotment.scheduling.kai.axes import GPU
from allotment.scheduling.kai.settings import Spreading
from allotment.scheduling.kai.ties import Ties

if TYPE_CHECKING:
    from allotment.scheduling.kai.nodes import Node
    from allotment.scheduling.kai.session import Session
    from allotment.scheduling.kai.tasks import Task

WHOLE = None

_SCORES: Mapping[Spreading | None, tuple[float, Callable[[float], float]]] = {
    Spreading.PACK: (0.0, lambda used: used),
    Spreading.SPREAD: (1.0, lambda used: 1 - used),
    None: (0.0, lambda _used: 0.0),
}


def _candidates(session: Session, task: Task, node: Node) -> list[str | None]:
    """Shared GPUs with room and whole ones, best first; None stands for a whole one."""
    groups = [group for group in node.shared.used if node.shared.fits(task, group)]
    if session.ties is Ties.LAST_USED:
        groups.reverse()
    elif session.ties is Ties.NAME:
        groups.sort()
    of_whole, of_used = _SCORES[session.plugins.gpus]
    scored: list[tuple[float, str | None]] = [
        (-of_used(node.shared.used_part(each)), each) for each in groups
    ]
    idle, releasing = node.idle[GPU], node.releasing[GPU]
    if idle > 0 or releasing > 0:
        scored += [(-of_whole, WHOLE)] * (int(idle) + int(releasing))
    scored.sort(key=lambda each: each[0])
    return [group for _, group in scored]


def _choice(session: Session, task: Task, node: Node, *, wait: bool) -> tuple[list[str | None], bool] | None:
    """The GPUs that a pod shares, and whether it has to wait for them; nothing if there are too few."""
    chosen: list[str | None] = []
    waits = False
    now: bool | None = None
    for group in _candidates(session, task, node):
        if now is None:
            now = node.fits_now(task)
        if group is WHOLE:
            waits = waits or wait or not now
        else:
            waits = waits or not node.shared.fits_now(task, group) or not now
        chosen.append(group)
        if len(chosen) == task.devices:
            return chosen, waits
    return None


def choose(session: Session, task: Task, node: Node, *, wait: bool) -> tuple[tuple[str, ...], bool] | None:
    """The same with names for the GPUs that begin to be shared."""
    found = _choice(session, task, node, wait=wait)
    if found is None:
        return None
    groups, waits = found
    return tuple(session.new_gpu_group(node) if each is WHOLE else each for each in groups), waits


def needs_new_gpu(session: Session, task: Task, node: Node) -> bool:
    """Whether a pod would begin to share a GPU; only groups with a number for a name are known to exist."""
    found = _choice(session, task, node, wait=False)
    if found is None or found[1]:
        found = _choice(session, task, node, wait=True)
    if found is None:
        return True
    return any(group is WHOLE or not group.lstrip("+-").isdigit() for group in found[0])
