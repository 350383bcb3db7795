"""The nodes that have room for one kind of task, so that the best is at hand whenever such a task comes.

A node changes when a task is put on it; only those that changed are thought of again. Which of the nodes that
are equally good is taken has a name. Real schedulers differ in it: kube-scheduler takes one by chance, the
simulator of "Beware of Fragmentation" the first by name.
"""

from __future__ import annotations

import heapq
import random
from enum import StrEnum
from typing import Final, Protocol

NO_ROOM: Final = -1
_SCORES: Final = 101


class Ties(StrEnum):
    """Which of the nodes that are equally good."""

    FIRST = "first"
    LAST = "last"
    SHUFFLED = "shuffled"
    RANDOM = "random"


class Ranking(Protocol):
    """Scores of nodes by their number."""

    seen: int

    def rate(self, node: int, score: int) -> None:
        """A node is this good from now on; ``NO_ROOM``: it cannot take the task."""

    def best(self) -> int | None:
        """The node to take."""


class ByName:
    """Takes the first or the last of equals, in the order of the nodes' numbers."""

    def __init__(self, nodes: int, *, last: bool = False) -> None:
        self.seen = 0
        self._sign = -1 if last else 1
        self._scores = [NO_ROOM] * nodes
        self._heap: list[tuple[int, int]] = []

    def rate(self, node: int, score: int) -> None:
        """What stood in the heap before is passed over once it comes up."""
        if self._scores[node] == score:
            return
        self._scores[node] = score
        if score != NO_ROOM:
            heapq.heappush(self._heap, (-score, self._sign * node))

    def best(self) -> int | None:
        """The best that still is as good as the heap says."""
        heap = self._heap
        while heap:
            score, number = heap[0]
            if self._scores[abs(number)] == -score:
                return abs(number)
            heapq.heappop(heap)
        return None


class ByChance:
    """Takes any of equals, each as likely as the others."""

    def __init__(self, nodes: int, stream: random.Random) -> None:
        self.seen = 0
        self._stream = stream
        self._scores = [NO_ROOM] * nodes
        self._places = [0] * nodes
        self._equals: list[list[int]] = [[] for _ in range(_SCORES)]
        self._top = NO_ROOM

    def rate(self, node: int, score: int) -> None:
        """The node moves from those it was equal with to others."""
        before = self._scores[node]
        if before == score:
            return
        if before != NO_ROOM:
            equals, place = self._equals[before], self._places[node]
            moved = equals.pop()
            if moved != node:
                equals[place] = moved
                self._places[moved] = place
        self._scores[node] = score
        if score != NO_ROOM:
            self._places[node] = len(self._equals[score])
            self._equals[score].append(node)
            self._top = max(self._top, score)

    def best(self) -> int | None:
        """One of the best."""
        while self._top >= 0 and not self._equals[self._top]:
            self._top -= 1
        if self._top < 0:
            return None
        equals = self._equals[self._top]
        return equals[int(self._stream.random() * len(equals))]


def ranking_of(ties: Ties, nodes: int, stream: random.Random) -> Ranking:
    """An empty ranking under a tie rule."""
    return ByChance(nodes, stream) if ties is Ties.RANDOM else ByName(nodes, last=ties is Ties.LAST)
