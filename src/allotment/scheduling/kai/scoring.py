"""In which order the nodes are tried for a pod: the sum of what several plugins of KAI give, then the name.

What fits at once comes before what has to wait, a node with a shared GPU that still has room before others
(whatever the pod asks for), and nodes are filled one after the other unless the shard spreads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from allotment.scheduling.kai.axes import CPU, GPU
from allotment.scheduling.kai.nodes import Node
from allotment.scheduling.kai.session import Session
from allotment.scheduling.kai.settings import Spreading
from allotment.scheduling.kai.tasks import Task

_SHARING: Final = 10_000.0
_AVAILABLE: Final = 1000.0
_RESOURCE_TYPE: Final = 10.0
_DENSEST: Final = 9


def in_order(session: Session, nodes: Sequence[Node], task: Task) -> list[Node]:
    """The nodes on which a pod may be tried, best first."""
    placed = _placement(session, nodes, task)
    plugins, topologies = session.plugins, session.topologies
    scored: list[tuple[float, str, Node]] = []
    for node in nodes:
        near = topologies.score(task, node)
        if near is None:
            continue
        score = 0.0
        if plugins.availability and node.fits_now(task):
            score += _AVAILABLE
        if plugins.sharing_order and node.shared.used and _shares(node, task):
            score += _SHARING
        if plugins.resource_type and not task.asks_gpu and node.cpu_only:
            score += _RESOURCE_TYPE
        scored.append((-(score + placed(node) + near), node.name, node))
    scored.sort(key=lambda each: each[:2])
    return [node for _, _, node in scored]


def _shares(node: Node, task: Task) -> bool:
    return any(node.shared.fits(task, group) for group in node.shared.used)


def _placement(session: Session, nodes: Sequence[Node], task: Task) -> Callable[[Node], float]:
    settings = session.settings
    axis, how = (GPU, settings.gpu_placement) if task.asks_gpu else (CPU, settings.cpu_placement)
    if not session.plugins.placement:
        return lambda _node: 0.0
    if how is Spreading.SPREAD:
        return lambda node: _spread(node, axis)
    free = [node.idle[axis] + node.releasing[axis] for node in nodes if node.allocatable[axis] != 0]
    least, most = min(free, default=0.0), max(0.0, *free, 0.0)
    return lambda node: _pack(node, axis, least, most)


def _pack(node: Node, axis: int, least: float, most: float) -> float:
    if node.allocatable[axis] == 0 or most == 0:
        return 0.0
    if least == most:
        return float(_DENSEST)
    return _DENSEST * (1 - (node.idle[axis] + node.releasing[axis] - least) / (most - least))


def _spread(node: Node, axis: int) -> float:
    capacity = float(node.gpu_count) if axis == GPU else node.allocatable[axis]
    return (node.idle[axis] + node.releasing[axis]) / capacity if capacity else 0.0
