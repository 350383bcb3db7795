"""How long the steps are loaded, by recipe and kind of card: measured, estimated, guessed or stated.

Every complete volume's manifest tells how long its worker loaded the steps. A worker that does several
volumes loads them once and says the same in each, so that equal figures of one host are one start. Starts of
one recipe on one card differ little from each other; what an estimate is wrong by, it is for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from allotment.pictures.counts import counted
from allotment.planning.figures import Figures, VolumeFigures
from allotment.planning.scenes.times_cards import NO_CARD, card_of, cards_words
from allotment.planning.scenes.times_taken import DOUBTS, SOURCES, doubt_of, middle_of, seconds_words, taken
from allotment.planning.scenes.values import Assumption, Source
from allotment.repository.model import Pipeline
from allotment.simulation.distributions import Constant, through
from allotment.simulation.run_times import Basis, Distribution, Sampled

GUESSED: Final = 30.0
START_SPREAD: Final = 1.25
"""How much longer one start in twenty loads than half of them, where only a middle is told."""
OFF: Final[Mapping[Basis, float]] = {
    Basis.MEASURED: DOUBTS[Basis.MEASURED],
    Basis.OTHER_CARD: DOUBTS[Basis.OTHER_CARD],
    Basis.ESTIMATE: doubt_of(2.0),
    Basis.GUESS: doubt_of(3.0),
}
OF_ONE_START: Final = 0.3
WITHOUT_MODELS: Final = frozenset({"checksum"})
"""Built-in steps that load nothing."""
REMEDY: Final = "write `estimate: {page: 4s, load: 90s}` into the pipeline, or run a volume of it"


@dataclass(frozen=True, slots=True)
class Load:
    """Seconds of loading, on what they rest, and how far all of them may be off together."""

    seconds: Distribution
    basis: Basis
    said: str
    doubt: float = 0.0
    source: Source | None = None

    def assumption(self, subject: str) -> Assumption:
        """What is taken for it."""
        middle = middle_of(self.seconds)
        said = "; ".join(part for part in (self.said, taken(middle, self.doubt)) if part)
        remedy = REMEDY if self.basis is Basis.GUESS and self.source is None else ""
        source = SOURCES[self.basis] if self.source is None else self.source
        return Assumption(subject, seconds_words(middle), source, said, remedy=remedy)


@dataclass(frozen=True, slots=True)
class Loads:
    """Of one pipeline: what was measured by card, and what is taken elsewhere."""

    otherwise: Load
    by_card: Mapping[str, Load] = field(default_factory=dict)

    def on(self, card: str) -> Load:
        """On a kind of card."""
        return self.by_card.get(card, self.otherwise)

    def assumptions(self, pipeline: str, cards: Collection[str]) -> list[Assumption]:
        """What is taken for it on these kinds of card; where all are alike, they are not named."""
        told: dict[Load, list[str]] = {}
        for card in cards or (NO_CARD,):
            told.setdefault(self.on(card), []).append(card)
        subject = f"loading the steps of {pipeline}"
        if len(told) == 1:
            return [load.assumption(subject) for load in told]
        return [load.assumption(f"{subject} on {cards_words(those)}") for load, those in told.items()]


def loads_of(pipeline: Pipeline, figures: Figures, stated: float | None) -> Loads:
    """How long a pipeline loads; ``stated`` is what somebody says of all that load."""
    if stated is not None:
        return Loads(taken_load(stated))
    starts = _starts(figures)
    if not starts:
        return Loads(_unmeasured(pipeline))
    by_card: dict[str, list[float]] = {}
    for _, card, seconds in sorted(starts):
        by_card.setdefault(card, []).append(seconds)
    seen = {card: _measured(values) for card, values in by_card.items()}
    best = max(by_card, key=lambda card: (len(by_card[card]), card))
    found = seen[best]
    said = f"on {cards_words([best])}, and another card may be slower or faster"
    doubt = math.hypot(found.doubt, OFF[Basis.OTHER_CARD])
    return Loads(Load(found.seconds, Basis.OTHER_CARD, said, doubt), seen)


def _starts(figures: Figures) -> frozenset[tuple[str, str, float]]:
    """The starts that were measured: host, card and seconds of each."""
    return frozenset((each.host, _card(each), each.load) for each in figures.volumes if each.load)


def _card(volume: VolumeFigures) -> str:
    """The card of the last attempt, which is the one that the loading is of."""
    named = next(iter(volume.peaks or ()), "") or (volume.pages[-1].card if volume.pages else "")
    return card_of(named)


def _measured(seconds: list[float]) -> Load:
    said = f"{counted(len(seconds), 'start')} of complete volumes in the bucket"
    doubt = max(OFF[Basis.MEASURED], OF_ONE_START / math.sqrt(len(seconds)))
    return Load(Sampled(tuple(sorted(seconds))), Basis.MEASURED, said, doubt)


def _unmeasured(pipeline: Pipeline) -> Load:
    estimate = pipeline.estimate
    if estimate is not None and estimate.load is not None:
        return _spread(float(estimate.load), Basis.ESTIMATE, "the pipeline's own estimate")
    if pipeline.steps and all(call.step in WITHOUT_MODELS for call in pipeline.steps):
        steps = " and ".join(dict.fromkeys(call.step for call in pipeline.steps))
        return Load(Constant(0.0), Basis.GUESS, f"{steps} loads no model", source=Source.DEFAULT)
    return taken_load(None)


def taken_load(stated: float | None) -> Load:
    """Of steps of which nobody says anything, but for what somebody says of all that load."""
    if stated is not None:
        said = "instead of what is known of it"
        return Load(Constant(stated), Basis.ESTIMATE, said, source=Source.SET)
    return _spread(GUESSED, Basis.GUESS, "nobody has measured or estimated it")


def _spread(middle: float, basis: Basis, said: str) -> Load:
    return Load(through(middle, 0.95, middle * START_SPREAD), basis, said, OFF[basis])
