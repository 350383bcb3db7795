"""How much of what is idle on a node is of no use to the tasks that usually come.

The measure is that of "Beware of Fragmentation" (USENIX ATC '23): of each usual task, weighted by how often
it comes, what is idle counts as a fragment where the node cannot take the task; where it can, the cards with
too little left count. A task without a card can use none of what is idle. The usual tasks are the most
frequent ones that make up 95 of 100.

For one set of cards the measure is a staircase over the cpu that is left, which is computed once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from allotment.simulation.filling.machines import Machine, Want

USUAL: Final = 0.95
Shape = tuple[int, int, int, tuple[str, ...]]
Stairs = tuple[list[int], list[float]]
Rest = tuple[int, ...]


class Fragments:
    """The measure for one body of tasks."""

    def __init__(self, wants: Iterable[Want]) -> None:
        self._groups = _groups(usual(wants))
        self._stairs: dict[tuple[str, Rest], Stairs] = {}

    def amount(self, model: str, rest: Rest, cpu: int) -> float:
        """Thousandths of cards that are fragments, with so much cpu left and this left of the cards."""
        cpus, amounts = self._stairs.get((model, rest)) or self._staircase(model, rest)
        return amounts[bisect_right(cpus, cpu)]

    def of(self, machine: Machine) -> float:
        """That of a node as it is."""
        return self.amount(machine.model, machine.rest, machine.cpu)

    def _staircase(self, model: str, rest: Rest) -> Stairs:
        """The amount below the least cpu that a usual task asks for, and from each such cpu on."""
        total = float(sum(rest))
        usable: dict[int, float] = defaultdict(float)
        for (gpus, share, models), weights in self._groups.items():
            will_do = [left for left in rest if left >= share]
            if len(will_do) < gpus or (models and model not in models):
                continue
            gain = sum(will_do)
            for cpu, weight in weights:
                usable[cpu] += weight * gain
        cpus = sorted(usable)
        amounts = [total, *(max(0.0, total - gained) for gained in accumulate(map(usable.__getitem__, cpus)))]
        self._stairs[model, rest] = cpus, amounts
        return cpus, amounts


def usual(wants: Iterable[Want]) -> dict[Shape, float]:
    """The most frequent shapes of tasks, with their weights, which add up to one."""
    counts = Counter((want.cpu, want.share, want.gpus, want.models) for want in wants)
    ranked = sorted(counts.items(), key=lambda item: (item[1], item[0]), reverse=True)
    enough, chosen, covered = USUAL * counts.total(), {}, 0
    for shape, count in ranked:
        if covered >= enough:
            break
        chosen[shape] = float(count)
        covered += count
    return {shape: count / covered for shape, count in chosen.items()}


def _groups(weights: dict[Shape, float]) -> dict[tuple[int, int, tuple[str, ...]], list[tuple[int, float]]]:
    """By cards: how often which cpu comes with them. Tasks without cards use none of what is idle."""
    groups: dict[tuple[int, int, tuple[str, ...]], list[tuple[int, float]]] = defaultdict(list)
    for (cpu, share, gpus, models), weight in weights.items():
        if gpus:
            groups[gpus, share, models].append((cpu, weight))
    return groups
