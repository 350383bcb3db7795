"""A comparison as a value: columns are variants, rows are figures, each an interval over the same seeds.

Everything that is said of it (the table, the first decision that differs, the advice) is made of this value;
whoever shows it adds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from allotment.planning.scenes.values import Assumption
from allotment.simulation.metrics import Metrics
from allotment.simulation.outcome import Outcome
from allotment.simulation.quantiles import Spread
from allotment.simulation.setting import TeamShare

FORMAT_VERSION: Final = 1


class Unit(StrEnum):
    """In what a figure is counted."""

    SECONDS = "seconds"
    PART = "part"
    COUNT = "count"
    NODES = "nodes"
    GPU_HOURS = "GPU-hours"
    MONEY = "money"


class Better(StrEnum):
    """Which way a figure is better; what is only told has neither."""

    LESS = "less"
    MORE = "more"
    NEITHER = ""


class Told(StrEnum):
    """What a difference from another column is: whether it is chance, whether it counts, and which way.

    ``SMALL`` is beyond chance, and less than counts.
    """

    SAME = "same"
    BETTER = "better"
    WORSE = "worse"
    OTHER = "other"
    SMALL = "small"
    CHANCE = "chance"


@dataclass(frozen=True, slots=True)
class Counts:
    """From how much on a difference counts: a ``part`` of the other's figure, and at least ``least``.

    ``of`` is the key of the row whose figure the part is of, where that is not its own.
    """

    part: float = 0.10
    least: float = 0.0
    of: str = ""


A_TENTH: Final = Counts()


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. ``key`` is stable for programs, ``title`` for people; ``of`` names a team or work."""

    key: str
    title: str
    unit: Unit
    better: Better = Better.LESS
    of: str = ""
    counts: Counts = A_TENTH


@dataclass(frozen=True, slots=True)
class Difference:
    """A column's figure less another's, seed by seed: the middle and the interval of the pairs.

    ``less`` and ``more`` are in how many draws it was so; ``chance`` is how likely so uneven a split is where
    there is no difference (the sign test). How large it is, is said of the figures that stand in a table:
    ``size`` is the column's middle less the other's, ``relative`` that against the other's, ``counts_from``
    the size from which on it counts.
    """

    spread: Spread
    less: int
    more: int
    draws: int
    chance: float
    relative: float | None
    told: Told
    size: float = 0.0
    counts_from: float = 0.0


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure of one column over the draws (``values``, by seed), and its difference from the first column.

    None in ``values`` is beyond the horizon.
    """

    spread: Spread
    values: tuple[float | None, ...]
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """One variant: a scheduler, with changes to it all (``quota.archive=8``).

    ``course`` and ``figures`` are of the first seed, for pictures. ``refused`` says why the work cannot be
    played so at all; then there are no cells.
    """

    name: str
    scheduler: str
    changes: tuple[str, ...] = ()
    cells: Mapping[str, Cell] = field(default_factory=dict)
    course: Outcome | None = None
    figures: Metrics | None = None
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Differs:
    """The first decision of the first seed that differs between two columns, in a sentence and in parts.

    ``there`` is what the column ``name`` does at ``at`` seconds, ``here`` what the first column does instead,
    and why.
    """

    name: str
    base: str
    at: float
    work: str
    there: str
    here: str
    because: str

    @property
    def sentence(self) -> str:
        """All of it."""
        return f"{self.there}; {self.here}" + (f", because {self.because}" if self.because else "")


class Verdict(StrEnum):
    """Whether something is worth adding."""

    YES = "yes"
    MAYBE = "maybe"
    NO = "no"
    UNKNOWN = "cannot be told"


@dataclass(frozen=True, slots=True)
class Advice:
    """Whether a scheduler is worth adding for this work: for what reasons, and when not.

    ``adding`` is the column's name, ``against`` the simpler one beside which it does worst. ``is_here`` says
    that the platform has it already, ``now`` what it is against the one that the platform has instead.
    """

    adding: str
    against: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    costs: tuple[str, ...] = ()
    not_if: tuple[str, ...] = ()
    is_here: bool = False
    now: Advice | None = None

    @property
    def question(self) -> str:
        """What is asked: ``worth adding kai?``"""
        return f"worth {'keeping' if self.is_here else 'adding'} {self.adding}?"

    @property
    def answer(self) -> str:
        """``yes, against default``."""
        return f"{self.verdict}, against {self.against}"

    @property
    def lines(self) -> tuple[str, ...]:
        """Why, what speaks against it, when not, and what it is against what the platform has."""
        own = (*self.reasons, *self.costs, *(f"not if {each}" for each in self.not_if))
        if self.now is None:
            return own
        why = "; ".join((*self.now.reasons[:1], *self.now.costs[:1]))
        return (*own, f"{self.now.answer}, which the platform has" + (f": {why}" if why else ""))

    @property
    def sentence(self) -> str:
        """The question, the answer and why."""
        text = f"{self.question} {self.answer}"
        return f"{text}: {'; '.join(self.lines)}" if self.lines else text


@dataclass(frozen=True, slots=True)
class Comparison:
    """All of it. The first column is the one that the others are held against.

    Seeds are ``seed`` and the ``draws - 1`` after it; times are seconds from the beginning, ``until`` is the
    horizon. ``works`` are the names of what was compared, ``unended`` says what does not end, and why,
    ``alike`` which columns or draws came out alike, and ``advice_rests_on`` what the advice is made of.
    """

    world: str
    works: tuple[str, ...]
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    seed: int
    draws: int
    until: float
    differs: tuple[Differs, ...] = ()
    advice: tuple[Advice, ...] = ()
    advice_rests_on: str = ""
    alike: tuple[str, ...] = ()
    unended: tuple[str, ...] = ()
    gpus: tuple[tuple[str, int], ...] = ()
    teams: Mapping[str, TeamShare] = field(default_factory=dict)
    currency: str = "EUR"
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()
    format_version: int = FORMAT_VERSION

    @property
    def played(self) -> tuple[Column, ...]:
        """The columns in which the work could be played."""
        return tuple(column for column in self.columns if not column.refused)

    @property
    def is_idle(self) -> bool:
        """Whether nothing begins in any of them, in the first draw, nor would once others had ended."""
        courses = [column.course for column in self.played if column.course is not None]
        if any(course.spans for course in courses):
            return False
        return all(end.never for course in courses for end in course.ends)
