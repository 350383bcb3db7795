"""The simplest scheduler: whole cards are counted, first come, first served, on the first node with room.

It knows no teams, no kinds of card and no parts of them: it is what is left of a scheduler when everything is
taken away that costs time, and what the others are measured against. The pods of a work that wait are a
count. Nobody is passed over: while the first of the line finds no room, those behind it wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count
from math import ceil

from allotment.simulation.adapters.adapter import Order, PodId, Start, Waits
from allotment.simulation.machines import card_under, closed_nodes, counted_gpus, node_names
from allotment.simulation.setting import Setting
from allotment.simulation.work import Kind, Work

NO_ROOM = "Insufficient cards"
BEHIND = "In line"

Shape = tuple[int, tuple[tuple[str, str], ...]]
"""How many cards, and which labels the node must have."""


@dataclass(slots=True)
class _Line:
    """A work and its pods that have no node yet; ``number`` is its place by arrival."""

    work: Work
    shape: Shape
    number: int
    waiting: deque[PodId] = field(default_factory=deque)
    running: int = 0
    told: bool = False


def adapter(setting: Setting) -> Simple:
    """The adapter for a setting."""
    return Simple(setting)


class Simple:
    """Counts of free cards by node."""

    heeds_ready = False

    def __init__(self, setting: Setting) -> None:
        self.names = node_names(setting)
        self.labels = [_labels(setting, name) for name in self.names]
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.cards = _devices_of(setting)
        counted = counted_gpus(setting)
        self.all = [len(self.cards.get(name, ())) or counted.get(name, 0) for name in self.names]
        self.free = list(self.all)
        closed = closed_nodes(setting)
        self.closed = {number for number, name in enumerate(self.names) if name in closed}
        self.gone: set[int] = set()
        self.lines: dict[str, _Line] = {}
        self.held: dict[PodId, tuple[int, int, tuple[str, ...]]] = {}
        self.heaps: dict[Shape, list[int]] = {}
        self.queue: list[tuple[int, str]] = []
        self.fresh: list[_Line] = []
        self.possible: dict[Shape, bool] = {}
        self.numbered = count()
        self.changed = False

    def arrived(self, work: Work, now: float) -> int:
        """A work goes to the end of the line; all of its pods may exist."""
        labels = tuple(sorted(work.ask.node_selector.items()))
        self.lines[work.name] = _Line(work, (ceil(work.ask.gpus - 1e-9), labels), next(self.numbered))
        return work.most

    def placed(self, starts: Sequence[Start], now: float) -> None:
        """These pods have a node."""
        for start in starts:
            line = self.lines[start.pod.work]
            line.running += 1
            cards, _wanted = line.shape
            number = self.numbers[start.node]
            self.free[number] -= cards
            for device in start.devices:
                if device in self.cards.get(start.node, ()):
                    self.cards[start.node].remove(device)
            self.held[start.pod] = number, cards, start.devices

    def created(self, pods: Sequence[PodId], now: float) -> None:
        """These pods wait."""
        for pod in pods:
            line = self.lines[pod.work]
            if not line.waiting:
                heappush(self.queue, (line.number, pod.work))
                self.fresh.append(line)
            line.waiting.append(pod)
        self.changed = True

    def ready(self, pods: Iterable[PodId], now: float) -> None:
        """Nothing depends on it."""

    def ended(self, pods: Iterable[PodId], now: float) -> None:
        """What these pods had is free."""
        for pod in pods:
            held = self.held.pop(pod, None)
            if held is None:
                self.lines[pod.work].waiting.remove(pod)
                continue
            self.lines[pod.work].running -= 1
            number, cards, devices = held
            self.free[number] += cards
            self.cards.setdefault(self.names[number], []).extend(devices)
            if number not in self.gone:
                self._offer(number)
        self.changed = True

    def left(self, work: str, units: int, now: float) -> int:
        """As many pods as the work's window has."""
        return self.lines[work].work.most

    def finished(self, work: str, now: float) -> None:
        """The work leaves the line."""
        del self.lines[work]
        self.changed = True

    def node(self, name: str, now: float, *, up: bool) -> None:
        """A node is lost, or back."""
        number = self.numbers[name]
        if up:
            self.gone.discard(number)
            self._offer(number)
        else:
            self.gone.add(number)
        self.changed = True

    def due(self, now: float) -> float | None:
        """At once, if anything has changed."""
        return now if self.changed else None

    def round(self, now: float) -> Sequence[Order]:
        """Serve the line from its head for as long as there is room."""
        self.changed = False
        orders: list[Order] = []
        head = ""
        while self.queue and not head:
            _number, name = self.queue[0]
            line = self.lines.get(name)
            if line is None or not line.waiting or not self._could(line.shape):
                heappop(self.queue)
            elif self._serve(line, orders):
                heappop(self.queue)
                line.told = False
            else:
                head = name
        fresh, self.fresh = self.fresh, []
        if head:
            fresh.append(self.lines[head])
        for line in fresh:
            orders += self._told(line, head)
        return orders

    def notes(self) -> Sequence[str]:
        """Nothing is lost on it that it would have known."""
        return ()

    def _told(self, line: _Line, head: str) -> Iterator[Order]:
        """Why a line's pods wait."""
        name = line.work.name
        if not line.waiting or (line.told and name != head):
            return
        if not self._could(line.shape):
            yield Waits(name, NO_ROOM, f"no node has {line.shape[0]} cards and the labels", never=True)
        elif name == head:
            yield Waits(name, NO_ROOM, f"no node has {line.shape[0]} cards free")
        else:
            yield Waits(name, BEHIND, f"{head} came first")
        line.told = True

    def _serve(self, line: _Line, orders: list[Order]) -> bool:
        """Give nodes to the pods of a work; whether all of them have one."""
        together = 1 if line.work.kind is not Kind.GANG or line.running else line.work.least
        if len(line.waiting) < together:
            return False
        while line.waiting:
            needed = min(together, len(line.waiting))
            places: list[int] = []
            while len(places) < needed and (number := self._first(line.shape)) is not None:
                self.free[number] -= line.shape[0]
                places.append(number)
            if len(places) < needed:
                for number in places:
                    self.free[number] += line.shape[0]
                    self._offer(number)
                return False
            together = 1
            line.running += needed
            orders += [self._give(line.waiting.popleft(), number, line.shape[0]) for number in places]
        return True

    def _give(self, pod: PodId, number: int, cards: int) -> Start:
        name = self.names[number]
        have = self.cards.get(name)
        devices = tuple(heappop(have) for _ in range(cards)) if have else ()
        self.held[pod] = number, cards, devices
        return Start(pod, name, devices)

    def _first(self, shape: Shape) -> int | None:
        """The first node with room for a pod."""
        heap = self.heaps.get(shape)
        if heap is None:
            heap = self.heaps[shape] = [n for n in range(len(self.names)) if self._suits(n, shape)]
        while heap and (heap[0] in self.gone or self.free[heap[0]] < shape[0]):
            heappop(heap)
        return heap[0] if heap else None

    def _offer(self, number: int) -> None:
        """A node has more room than before."""
        for shape, heap in self.heaps.items():
            if self.free[number] >= shape[0] and self._suits(number, shape):
                heappush(heap, number)

    def _suits(self, number: int, shape: Shape) -> bool:
        cards, labels = shape
        if number in self.closed or self.all[number] < cards:
            return False
        return all(self.labels[number].get(key) == value for key, value in labels)

    def _could(self, shape: Shape) -> bool:
        """Whether there is a node that would have room if it were empty."""
        known = self.possible.get(shape)
        if known is None:
            known = self.possible[shape] = any(self._suits(n, shape) for n in range(len(self.names)))
        return known


def _labels(setting: Setting, name: str) -> Mapping[str, str]:
    node = setting.state.nodes.get(name)
    return node.labels if node else {}


def _devices_of(setting: Setting) -> dict[str, list[str]]:
    """The whole cards of each node that are published, the first by name on top."""
    found: dict[str, dict[str, None]] = {}
    published = setting.state.published
    for each in published.slices if published else ():
        for device in each.devices if each.node_name else ():
            card = card_under(f"{each.driver}/{each.pool.name}/{device.name}")
            found.setdefault(each.node_name or "", {})[card] = None
    cards = {name: list(devices) for name, devices in found.items()}
    for devices in cards.values():
        heapify(devices)
    return cards
