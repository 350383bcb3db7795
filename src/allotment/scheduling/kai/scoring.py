"""In which order the nodes are tried for a pod: the sum of what several plugins of KAI give, then the name.

What fits at once comes before what has to wait, a node with a shared GPU that still has room before others
(whatever the pod asks for), and nodes are filled one after the other unless the shard spreads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby
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


@dataclass(frozen=True, slots=True, eq=False)
class Bunch:
    """Nodes, by name, that are alike to a pod; ``first`` stands for all of them."""

    score: float
    first: Node
    names: Sequence[str]


def in_order(session: Session, nodes: Sequence[Node], task: Task) -> Iterator[list[Bunch]]:
    """The nodes on which a pod may be tried, best first; bunches with the same score together."""
    bunches = sorted(_scored(session, nodes, task), key=lambda bunch: -bunch.score)
    for _, equal in groupby(bunches, key=lambda bunch: bunch.score):
        yield list(equal)


def by_name(bunches: Sequence[Bunch]) -> Iterator[str]:
    """The names of several bunches in order."""
    return iter(bunches[0].names) if len(bunches) == 1 else merge(*(bunch.names for bunch in bunches))


def _scored(session: Session, nodes: Sequence[Node], task: Task) -> list[Bunch]:
    topologies = session.topologies
    names = [[node.name] for node in nodes] if topologies.scores else session.alike.of(nodes)
    firsts = [session.nodes[bunch[0]] for bunch in names]
    placed = _placement(session, firsts, task)
    bunches: list[Bunch] = []
    for node, bunch in zip(firsts, names, strict=True):
        near = topologies.score(task, node)
        if near is not None:
            bunches.append(Bunch(_base(session, task, node) + placed(node) + near, node, bunch))
    return bunches


def _base(session: Session, task: Task, node: Node) -> float:
    """What a node gives to every pod of this shape, for as long as nothing changes on it."""
    if task.pod.claims:
        return _counted(session, task, node)
    shape = task.pod.request
    known = node.scores.get(shape)
    if known is None:
        known = node.scores[shape] = _counted(session, task, node)
    return known


def _counted(session: Session, task: Task, node: Node) -> float:
    plugins = session.plugins
    score = 0.0
    if plugins.availability and node.fits_now(task):
        score += _AVAILABLE
    if plugins.sharing_order and any(node.shared.fits(task, group) for group in node.shared.used):
        score += _SHARING
    if plugins.resource_type and not task.asks_gpu and node.cpu_only:
        score += _RESOURCE_TYPE
    return score


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
