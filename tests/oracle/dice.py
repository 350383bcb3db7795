"""Chances of a seed, and whether this scenario may have mistakes in it.

A mistake often decides a scenario before anything is searched, so most scenarios have none.
"""

from __future__ import annotations

from random import Random


class Dice(Random):
    """A random source that always throws the same for the same seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.faulty = self.chance(0.35)

    def chance(self, part: float) -> bool:
        """True in that part of all throws."""
        return self.random() < part

    def fault(self, part: float) -> bool:
        """True in that part of all throws, where there may be mistakes."""
        return self.chance(part) and self.faulty
