"""What placement policies think of a node for a task, from 0 to 100, and which of its cards they take.

Those of the evaluation of "Beware of Fragmentation" (USENIX ATC '23): its own, which takes the node where the
least becomes a fragment, and what it is compared with. A score is a whole number, so that many nodes are
equally good: which of them is taken is the tie rule's business, and no small one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol

from allotment.simulation.filling.fragments import Fragments
from allotment.simulation.filling.machines import Machine, Want
from allotment.simulation.traces.jobs import WHOLE

TOP: Final = 100
MOST_CPU: Final = 128_000
MOST_CARDS: Final = 8 * WHOLE


class Name(StrEnum):
    """The policies by name."""

    RANDOM = "random"
    DOT_PRODUCT = "dot-product"
    CLUSTERING = "clustering"
    PACKING = "packing"
    BEST_FIT = "best-fit"
    FGD = "fgd"


class Policy(Protocol):
    """Scores a node that has room for a task, and says which cards the task gets there."""

    def score(self, machine: Machine, want: Want) -> int:
        """From 0 to 100; the highest is taken."""

    def cards(self, machine: Machine, want: Want) -> Sequence[int]:
        """The numbers of the cards."""


class _Tightest:
    """Takes the cards with the least left that will do."""

    def cards(self, machine: Machine, want: Want) -> Sequence[int]:
        """The tightest cards."""
        return machine.tightest(want) if want.gpus else ()


class Random:
    """Any node that has room, and any of its cards."""

    def __init__(self, stream: random.Random) -> None:
        self._stream = stream

    def score(self, machine: Machine, want: Want) -> int:
        """All the same."""
        return TOP

    def cards(self, machine: Machine, want: Want) -> Sequence[int]:
        """A card by chance; whole ones are all alike."""
        if not want.partial:
            return machine.tightest(want) if want.gpus else ()
        return [
            self._stream.choice([number for number, left in enumerate(machine.gpus) if left >= want.share])
        ]


class DotProduct(_Tightest):
    """Prefers nodes with little left of what the task wants much of (after Tetris, SIGCOMM '14)."""

    def score(self, machine: Machine, want: Want) -> int:
        """One less half of the product of what is left and what is wanted."""
        cpu = machine.cpu / MOST_CPU * (want.cpu / MOST_CPU)
        cards = machine.left / MOST_CARDS * (want.total / MOST_CARDS)
        return int(TOP * (1 - (cpu + cards) / 2))


class Clustering(_Tightest):
    """Keeps tasks with as many cards together: on nodes that have such tasks, best only such."""

    def score(self, machine: Machine, want: Want) -> int:
        """By four kinds of nodes, within each by how little is left."""
        if not want.gpus:
            return 0
        quarter = TOP // 4
        alike = machine.kinds[want.kind] > 0
        step = (3 if len(machine.kinds) == 1 else 2) if alike else (0 if machine.kinds else 1)
        return quarter * (MOST_CARDS - machine.left) // MOST_CARDS + step * quarter


class Packing(_Tightest):
    """Shared cards first, then free cards of a node that is used, then an idle node with few cards."""

    def score(self, machine: Machine, want: Want) -> int:
        """By what the task would have to take."""
        if not want.gpus:
            return 0
        if machine.whole == len(machine.gpus):
            return max(TOP // 3 - machine.whole, machine.whole)
        taken = [left for left in machine.rest if left >= want.share][: want.gpus]
        fresh = taken.count(WHOLE)
        if fresh:
            return max(TOP // 2 - fresh, TOP // 3)
        return max(TOP - sum(left * 100 // WHOLE for left in taken) // 10, TOP // 2)


class BestFit(_Tightest):
    """The node with the least left of cpu and cards."""

    def score(self, machine: Machine, want: Want) -> int:
        """One less what is left afterwards, as a part of the largest node."""
        cpu = (machine.cpu - want.cpu) / MOST_CPU
        cards = (machine.left - want.total) / MOST_CARDS
        return int((1 - (cpu + cards) / 2) * TOP)


class FragmentationGradient:
    """The node, and of a shared task the card, where the least becomes a fragment."""

    def __init__(self, fragments: Fragments) -> None:
        self._fragments = fragments
        self._after: dict[tuple[tuple[int, ...], int, int], tuple[int, ...]] = {}

    def score(self, machine: Machine, want: Want) -> int:
        """The difference in fragments, bent into 0 to 100."""
        before = self._fragments.of(machine)
        if want.partial:
            lefts = sorted({left for left in machine.rest if left >= want.share})
            return max(self._bent(machine, want, before, left) for left in lefts)
        rest = self._without(machine.rest, WHOLE, want.share, want.gpus)
        return _bent(before - self._fragments.amount(machine.model, rest, machine.cpu - want.cpu))

    def cards(self, machine: Machine, want: Want) -> Sequence[int]:
        """The card with the best score, the first of equals; whole cards are all alike."""
        if not want.partial:
            return machine.tightest(want) if want.gpus else ()
        before = self._fragments.of(machine)
        will_do = [number for number, left in enumerate(machine.gpus) if left >= want.share]
        return [max(will_do, key=lambda number: self._bent(machine, want, before, machine.gpus[number]))]

    def _bent(self, machine: Machine, want: Want, before: float, left: int) -> int:
        rest = self._without(machine.rest, left, want.share, 1)
        return _bent(before - self._fragments.amount(machine.model, rest, machine.cpu - want.cpu))

    def _without(self, rest: tuple[int, ...], left: int, share: int, count: int) -> tuple[int, ...]:
        """What is left of the cards once so many of those with so much left have given a share."""
        if not count:
            return rest
        known = self._after.get((rest, left, count * share))
        if known is None:
            changed = list(rest)
            for _ in range(count):
                changed.remove(left)
            known = tuple(sorted([*changed, *[left - share] * count]))
            self._after[rest, left, count * share] = known
        return known


def _bent(less: float) -> int:
    return int(TOP / (1 + math.exp(-less / WHOLE)))


_MAKERS: Final[Mapping[Name, Callable[[Fragments, random.Random], Policy]]] = {
    Name.RANDOM: lambda _fragments, stream: Random(stream),
    Name.DOT_PRODUCT: lambda _fragments, _stream: DotProduct(),
    Name.CLUSTERING: lambda _fragments, _stream: Clustering(),
    Name.PACKING: lambda _fragments, _stream: Packing(),
    Name.BEST_FIT: lambda _fragments, _stream: BestFit(),
    Name.FGD: lambda fragments, _stream: FragmentationGradient(fragments),
}


def policy_of(name: Name, fragments: Fragments, stream: random.Random) -> Policy:
    """The policy of a name; ``stream`` is its chance, if it has any."""
    return _MAKERS[name](fragments, stream)
