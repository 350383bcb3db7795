"""Whose end would let something in: the smallest that does, or a set of which none is not needed.

Each guess is tried with the scheduler's model, as many as there is time for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Tried = Callable[[Sequence[str]], bool]


@dataclass(frozen=True, slots=True)
class Ends:
    """``keys`` that let it in by ending; None where none do. ``tried_all``: nothing was left untried."""

    keys: tuple[str, ...] | None
    tried_all: bool


def ends_that_let_in(order: Sequence[str], lets_in: Tried, may_try: Callable[[], bool], most: int) -> Ends:
    """The first of ``most`` that does alone; else the first few together, without those not needed."""
    tried = order[:most]
    for key in tried:
        if not may_try():
            return Ends(None, tried_all=False)
        if lets_in([key]):
            return Ends((key,), tried_all=True)
    for count in range(2, len(tried) + 1):
        if not may_try():
            return Ends(None, tried_all=False)
        if lets_in(tried[:count]):
            return Ends(_needed(tried[:count], lets_in, may_try), tried_all=True)
    return Ends(None, tried_all=may_try() and len(order) <= most)


def _needed(keys: Sequence[str], lets_in: Tried, may_try: Callable[[], bool]) -> tuple[str, ...]:
    needed = list(keys)
    for key in keys:
        fewer = [each for each in needed if each != key]
        if may_try() and lets_in(fewer):
            needed = fewer
    return tuple(needed)
