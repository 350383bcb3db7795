"""Chance with names: each thing that is left to chance has a stream of its own, of the seed and its name.

Two schedulers that are compared under one seed thus meet the same pages, failures and losses, in whatever
order they come to them (common random numbers), and a draw more in one place changes nothing elsewhere.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Draws:
    """The streams of one seed."""

    seed: int

    def stream(self, *name: object) -> random.Random:
        """A generator for one thing, the same for the same seed and name on every machine."""
        text = "\x1f".join(map(str, (self.seed, *name)))
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        return random.Random(int.from_bytes(digest, "big"))  # noqa: S311 - chance, and no secret

    def number(self, *name: object) -> float:
        """One number from 0 up to 1."""
        return self.stream(*name).random()
