"""How long pages and loading take, by recipe and kind of card, and on what that rests.

The best that there is for a card is taken: what the bucket's manifests show; else the three figures of
`measured.yaml`; else what was measured on another card; else the pipeline's estimate; else a guess. What was
measured belongs to a recipe and a card, whichever campaign measured it. The less a figure rests on, the more
all pages of a course may be off together, which is drawn as one factor.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from allotment.planning.figures import Figures
from allotment.planning.scenes.times_cards import NO_CARD, cards_words
from allotment.planning.scenes.times_counts import guessed_counts, page_counts
from allotment.planning.scenes.times_loads import Load, loads_of, taken_load
from allotment.planning.scenes.times_pages import MEASURED, guessed_page, measured_pages, other_pages
from allotment.planning.scenes.times_taken import DOUBTS, SOURCES, late_words, middle_of, taken
from allotment.planning.scenes.values import Assumption, Known
from allotment.repository.measured import MeasuredFile
from allotment.repository.model import Campaign, Pipeline, Repository
from allotment.repository.recipe import recipe_of
from allotment.simulation.distributions import Constant, through
from allotment.simulation.run_times import Basis, Distribution, RunTimes, Times

GUESSED_GANG: Final = (3_600.0, 6 * 3_600.0)
WRITE_ESTIMATE: Final = "write `estimate: {page: 4s}` into the pipeline, or run a volume and `allot measure`"


@dataclass(frozen=True, slots=True)
class Party:
    """A team's files, which of its campaigns are played, and what is known of them.

    ``keys`` are those of run times by pipeline, where it is not its recipe: two pipelines may do the same and
    think otherwise of how long it takes. ``of`` names the team, where it is not whose plan it is.
    """

    repository: Repository
    campaigns: Sequence[Campaign]
    known: Known
    keys: Mapping[str, str] = field(default_factory=dict)
    of: str = ""


@dataclass(slots=True)
class Found:
    """Run times with what a plan has to say about them."""

    known: dict[tuple[str, str], Times] = field(default_factory=dict)
    otherwise: dict[str, Times] = field(default_factory=dict)
    pages: dict[str, Distribution] = field(default_factory=dict)
    assumptions: list[Assumption] = field(default_factory=list)
    load: Load = field(default_factory=partial(taken_load, None))

    @staticmethod
    def some_pages() -> Distribution:
        """How many pages volumes have of which nothing is known."""
        return guessed_counts()

    def run_times(self) -> RunTimes:
        """As a simulation has them."""
        guess = _loading(guessed_page(math.inf), self.load)
        return RunTimes(dict(self.known), dict(self.otherwise), guess, dict(self.pages))


def times_for(
    parties: Iterable[Party],
    cards: Mapping[str, Collection[str]],
    *,
    longest_page: float = math.inf,
    load: float | None = None,
) -> Found:
    """The run times of the pipelines of these campaigns; ``cards`` are those that each recipe may get.

    What any of them has measured of a recipe holds for it, and first what the team itself has. ``load`` is
    what somebody says of how long all of them load.
    """
    found, parties = Found(load=taken_load(load)), list(parties)
    entries = tuple(entry for party in parties for entry in party.known.measured.entries)
    for party in parties:
        measured = MeasuredFile(entries=(*entries, *party.known.measured.entries))
        desk = _Desk(cards, replace(party.known, measured=measured), longest_page, load, party)
        used: dict[str, list[Campaign]] = {}
        for campaign in party.campaigns:
            used.setdefault(campaign.pipeline, []).append(campaign)
        for name, its in sorted(used.items()):
            _pipeline(found, party.repository.pipelines[name], its, desk)
    return found


@dataclass(frozen=True, slots=True)
class _Desk:
    """What is the same for every pipeline of a team."""

    cards: Mapping[str, Collection[str]]
    known: Known
    longest_page: float
    load: float | None
    party: Party


def _pipeline(found: Found, pipeline: Pipeline, campaigns: Sequence[Campaign], desk: _Desk) -> None:
    recipe, known, party = recipe_of(pipeline), desk.known, desk.party
    key = party.keys.get(pipeline.id, recipe)
    name = f"{pipeline.id} of {party.of}" if party.of else pipeline.id
    kinds = sorted(desk.cards.get(key, ())) if pipeline.gpu is not None else []
    if key in found.pages:
        return
    figures = known.figures.get(recipe, Figures())
    by_card = measured_pages(pipeline, recipe, figures, known)
    rest = other_pages(pipeline, by_card, desk.longest_page)
    loads = loads_of(pipeline, figures, desk.load)
    found.otherwise[key] = _loading(rest, loads.otherwise)
    for card in {*by_card, *loads.by_card}:
        found.known[key, card] = _loading(by_card.get(card, rest), loads.on(card))
    told: dict[tuple[Basis, str], list[str]] = {}
    for card in kinds or [NO_CARD]:
        times = by_card.get(card, rest)
        told.setdefault((times.basis, times.said), []).append(card)
    for those in told.values():
        found.assumptions.append(_page(name, those, by_card.get(those[0], rest)))
    found.assumptions += loads.assumptions(name, kinds)
    found.pages[key], about = page_counts(pipeline, campaigns, figures, known)
    if about is not None:
        found.assumptions.append(replace(about, subject=f"{about.subject} of {name}"))


def _loading(times: Times, load: Load) -> Times:
    return replace(times, load=load.seconds, load_doubt=load.doubt)


def _page(name: str, those: Sequence[str], times: Times) -> Assumption:
    """What is taken for a page on these kinds of card."""
    subject = f"a page of {name} on {cards_words(those)}"
    middle = taken(middle_of(times.page), times.doubt)
    basis = times.said.removeprefix(MEASURED)  # the source says that it was
    said = "; ".join(part for part in (basis, f"the middle is {middle}" if middle else "") if part)
    remedy = "" if times.basis is Basis.MEASURED else WRITE_ESTIMATE
    return Assumption(subject, late_words(times.page), SOURCES[times.basis], said, remedy=remedy)


def gang_times(seconds: float | None = None) -> Times:
    """How long a gang runs whose file does not say."""
    if seconds is not None:
        return Times(Constant(seconds), None, Basis.ESTIMATE, "the gang's own `duration`")
    half, late = GUESSED_GANG
    said = "nobody has said: write `duration: 2h` into the gang's file"
    return Times(through(half, 0.95, late), None, Basis.GUESS, said, DOUBTS[Basis.GUESS], "gangs")
