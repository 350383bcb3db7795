"""What was found out about nodes for pods that are alike, for as long as it holds.

Most nodes of a full cluster are no candidates, and stay that until something changes on them. So those are
kept out of the search: ``open`` are the numbers of the nodes that may be candidates. A log of the nodes that
have changed tells what is to be found out anew, so that a search costs what has changed since the last one
and the candidates that it looks at.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from allotment.scheduling.default.scoring import Candidate


@dataclass(slots=True)
class Changes:
    """Which nodes have changed, by number and in order, and how often all of them have at once."""

    log: list[int] = field(default_factory=list)
    everywhere: int = 0


@dataclass(slots=True)
class Answers:
    """Candidates and refusals by the number of the node."""

    nodes: int
    open: list[int] = field(init=False)
    found: dict[int, Candidate] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    read: int = 0
    everywhere: int = 0

    def __post_init__(self) -> None:
        self.open = list(range(self.nodes))

    def catch_up(self, changes: Changes) -> None:
        """Forget what does not hold any more."""
        new = len(changes.log) - self.read
        if self.everywhere != changes.everywhere or new > 2 * self.nodes:
            self.open = list(range(self.nodes))
            self.found.clear()
            self.refused.clear()
            self.reasons.clear()
        elif new:
            for number in set(changes.log[self.read :]):
                self._forget(number)
        self.read, self.everywhere = len(changes.log), changes.everywhere

    def _forget(self, number: int) -> None:
        self.found.pop(number, None)
        reason = self.refused.pop(number, None)
        if reason is None:
            return
        self.reasons[reason] -= 1
        place = bisect_left(self.open, number)
        if place == len(self.open) or self.open[place] != number:
            insort(self.open, number)

    def in_order(self, start: int, most: int) -> list[int]:
        """The first nodes that may be candidates, from one number on and round."""
        place = bisect_left(self.open, start)
        first = self.open[place : place + most]
        return first + self.open[: min(place, most - len(first))]

    def is_candidate(self, number: int, candidate: Candidate) -> None:
        """A node would do."""
        self.found[number] = candidate

    def is_none(self, number: int, reason: str) -> None:
        """A node would not."""
        self.refused[number] = reason
        self.reasons[reason] += 1

    def close(self) -> None:
        """Leave those out of the next search that are refused."""
        self.open = [number for number in self.open if number not in self.refused]

    def why(self) -> dict[str, int]:
        """How many nodes are refused for which reason."""
        return {reason: number for reason, number in self.reasons.items() if number}
