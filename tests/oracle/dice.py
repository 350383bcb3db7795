"""Chances of a seed, whether this scenario may have mistakes in it, and whether there are many devices.

A mistake often decides a scenario before anything is searched, so most scenarios have none. Where many
devices are alike, searches are long: it shows whether steps that are not taken are counted as upstream does.
"""

from __future__ import annotations

from random import Random


class Dice(Random):
    """A random source that always throws the same for the same seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.crowded = self.chance(0.1)
        self.faulty = not self.crowded and self.chance(0.35)

    def chance(self, part: float) -> bool:
        """True in that part of all throws."""
        return self.random() < part

    def fault(self, part: float) -> bool:
        """True in that part of all throws, where there may be mistakes."""
        return self.chance(part) and self.faulty
