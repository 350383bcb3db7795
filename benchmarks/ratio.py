"""What a benchmark answers: a ratio against a rival that ran beside it, and the most it may be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ratio:
    """``value`` must not pass ``budget``; ``explanation`` says of what to what, with the figures."""

    name: str
    value: float
    budget: float
    explanation: str = ""
