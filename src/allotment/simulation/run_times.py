"""How long pages take: whole distributions per recipe and card, from measurements where there are any.

Run times are skewed, so that a mean says little: what was measured is drawn from as it is. Without
measurements the pipeline's estimate holds, spread as pages are; without that a guess, which a plan states.
Page counts that nobody knows are drawn as well.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class Basis(StrEnum):
    """Where a figure is from, the best first."""

    MEASURED = "measured"
    OTHER_CARD = "measured on another card"
    ESTIMATE = "estimate"
    GUESS = "guess"


class Distribution(Protocol):
    """Values that are drawn from, in seconds or pages."""

    def draw(self, stream: random.Random) -> float:
        """One value."""

    def total(self, stream: random.Random, count: int) -> float:
        """The sum of so many values."""


@dataclass(frozen=True, slots=True)
class Times:
    """Of one recipe on one card: seconds of a page, of loading the steps; and on what they rest.

    ``doubt`` is how far all pages together may be off: the standard deviation of a factor's logarithm, drawn
    once for a course (``unknowns``); those that rest on one figure, by its name, are off together.
    ``load_doubt`` is the same of all that load the steps of one recipe.
    """

    page: Distribution
    load: Distribution | None
    basis: Basis
    said: str = ""
    doubt: float = 0.0
    rests_on: str = ""
    load_doubt: float = 0.0


@dataclass(frozen=True, slots=True)
class RunTimes:
    """The run times by recipe and card, and how many ``pages`` volumes of a recipe have that nobody counted.

    ``otherwise`` are those of a recipe on any other card, ``guess`` those of any other recipe.
    """

    known: Mapping[tuple[str, str], Times] = field(default_factory=dict, hash=False)
    otherwise: Mapping[str, Times] = field(default_factory=dict, hash=False)
    guess: Times | None = None
    pages: Mapping[str, Distribution] = field(default_factory=dict, hash=False)

    def of(self, recipe: str, card: str) -> Times:
        """Those of a recipe on a card; LookupError where there is not even a guess."""
        found = self.known.get((recipe, card)) or self.otherwise.get(recipe) or self.guess
        if found is None:
            raise LookupError(f"no run times for {recipe} on {card}")
        return found


@dataclass(frozen=True, slots=True)
class Sampled:
    """Values as they were measured, each as likely as the others."""

    values: Sequence[float]

    def draw(self, stream: random.Random) -> float:
        """One of the values."""
        return self.values[int(stream.random() * len(self.values))]

    def total(self, stream: random.Random, count: int) -> float:
        """The sum of so many of them."""
        return sum(stream.choices(self.values, k=count))
