"""How long pages take, by recipe and kind of card, and on what that rests.

The best that there is for a card is taken: what the bucket's records show, page by page; else the three
figures of `measured.yaml`; else what was measured on another card; else the pipeline's estimate; else a
guess. The less it rests on, the more all pages of a course may be off together, which is drawn as one factor.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Final

from allotment.devices.catalogue.find import cards
from allotment.planning.figures import Figures
from allotment.planning.measure import known_card
from allotment.planning.scenes.pages import counts_of, pages_of
from allotment.planning.scenes.values import Assumption, Known, Source
from allotment.repository.measured import Measured
from allotment.repository.model import Campaign, Estimate, Pipeline, Repository
from allotment.repository.recipe import recipe_of
from allotment.simulation.distributions import Clustered, Constant, LogNormal, through
from allotment.simulation.run_times import Basis, Distribution, RunTimes, Sampled, Times

ENOUGH_PAGES: Final = 20
ENOUGH_VOLUMES: Final = 3
OF_A_VOLUME: Final = 5
"""So many pages of so many volumes are drawn from as they are."""
PAGES_SPREAD: Final = 2.5
"""How much longer one page in twenty takes than half of them, where only a middle is told."""
BOOKS_SPREAD: Final = 2.5
GUESSED_PAGE: Final = (5.0, 40.0)
GUESSED_PAGES: Final = (200.0, 600.0)
GUESSED_GANG: Final = (3_600.0, 6 * 3_600.0)
DOUBTS: Final[Mapping[Basis, float]] = {
    Basis.MEASURED: 0.05,
    Basis.OTHER_CARD: 0.4,
    Basis.ESTIMATE: 0.35,
    Basis.GUESS: 0.8,
}
"""How far all pages may be off together: about that part of themselves, two times in three."""
_IDS: Final = frozenset(card.id for card in cards())
SOURCES: Final = {
    Basis.MEASURED: Source.MEASURED,
    Basis.OTHER_CARD: Source.OTHER_CARD,
    Basis.ESTIMATE: Source.ESTIMATE,
    Basis.GUESS: Source.GUESS,
}
NO_CARD: Final = ""
WRITE_ESTIMATE: Final = "write `estimate: {page: 4s}` into the pipeline, or run a volume and `allot measure`"


@dataclass(slots=True)
class Found:
    """Run times with what a plan has to say about them."""

    known: dict[tuple[str, str], Times] = field(default_factory=dict)
    otherwise: dict[str, Times] = field(default_factory=dict)
    pages: dict[str, Distribution] = field(default_factory=dict)
    assumptions: list[Assumption] = field(default_factory=list)

    @staticmethod
    def some_pages() -> Distribution:
        """How many pages volumes have of which nothing is known."""
        half, late = GUESSED_PAGES
        return through(half, 0.95, late)

    def run_times(self) -> RunTimes:
        """As a simulation has them."""
        guess = _guess(math.inf)
        return RunTimes(dict(self.known), dict(self.otherwise), guess, dict(self.pages))


def times_for(
    repositories: Iterable[tuple[Repository, Sequence[Campaign]]],
    cards: Mapping[str, Collection[str]],
    known: Known,
    longest_page: float = math.inf,
) -> Found:
    """The run times of the pipelines of these campaigns; ``cards`` are those that each recipe may get."""
    found = Found()
    desk = _Desk(cards, known, longest_page)
    for repository, campaigns in repositories:
        used: dict[str, list[Campaign]] = {}
        for campaign in campaigns:
            used.setdefault(campaign.pipeline, []).append(campaign)
        for name, its in sorted(used.items()):
            _pipeline(found, repository.pipelines[name], its, desk)
    return found


@dataclass(frozen=True, slots=True)
class _Desk:
    """What is the same for every pipeline."""

    cards: Mapping[str, Collection[str]]
    known: Known
    longest_page: float


def _pipeline(found: Found, pipeline: Pipeline, campaigns: Sequence[Campaign], desk: _Desk) -> None:
    recipe, known = recipe_of(pipeline), desk.known
    kinds = sorted(desk.cards.get(recipe, ())) if pipeline.gpu is not None else []
    if recipe in found.pages:
        return
    figures = known.figures.get(recipe, Figures())
    load, about_load = _load(pipeline, known.loads.get(recipe, ()))
    by_card = dict(_measured(pipeline, recipe, figures, known, load))
    rest = _rest(pipeline, by_card, load, desk.longest_page)
    told: dict[tuple[Basis, str], list[str]] = {}
    for card in kinds:
        times = by_card.get(card)
        told.setdefault(_said(times or rest), []).append(card)
    found.otherwise[recipe] = rest
    found.known |= {(recipe, card): times for card, times in by_card.items()}
    if not kinds:
        told.setdefault(_said(by_card.get(NO_CARD, rest)), []).append("processors")
    for (basis, said), those in told.items():
        remedy = "" if basis is Basis.MEASURED else WRITE_ESTIMATE
        subject = f"a page of {pipeline.id} on {', '.join(those)}"
        shown = by_card.get(those[0] if kinds else NO_CARD, rest)
        found.assumptions.append(Assumption(subject, _words(shown.page), SOURCES[basis], said, remedy=remedy))
    found.assumptions.append(about_load)
    found.pages[recipe], about = _pages(pipeline, campaigns, figures, known)
    if about is not None:
        found.assumptions.append(about)


def _said(times: Times) -> tuple[Basis, str]:
    return times.basis, times.said


def _measured(
    pipeline: Pipeline, recipe: str, figures: Figures, known: Known, load: Distribution | None
) -> Iterator[tuple[str, Times]]:
    """What was measured on each kind of card: the three figures first, for records replace them."""
    for entry in known.measured.of_recipe(pipeline.id, recipe):
        yield _card_of(entry.card), _of_entry(entry, recipe, load)
    by_card: dict[str, list[list[float]]] = {}
    for volume in figures.volumes:
        of_volume: dict[str, list[float]] = {}
        for page in volume.pages:
            of_volume.setdefault(_card_of(known_card(page.card).name), []).append(page.seconds + page.waited)
        for card, seconds in of_volume.items():
            by_card.setdefault(card, []).append(seconds)
    for card, volumes in by_card.items():
        yield card, _of_records(volumes, card, recipe, load)


def _card_of(name: str) -> str:
    """The card of a slice: a slice is known by the card that it is a part of."""
    first, _, profile = name.partition(" ")
    return first if profile and first in _IDS else name


def _of_entry(entry: Measured, recipe: str, load: Distribution | None) -> Times:
    waited = 1 - min(entry.device_wait, 0.9)
    half, late, most = (
        each / waited for each in (entry.page_seconds.p50, entry.page_seconds.p95, entry.page_seconds.max)
    )
    said = f"three figures of {entry.pages:,} pages in measured.yaml"
    doubt = max(DOUBTS[Basis.MEASURED], 0.2 / math.sqrt(max(1, entry.volumes)))
    page = through(half, 0.95, late, max(most, late))
    return Times(page, load, Basis.MEASURED, said, doubt, f"{recipe} {entry.card}")


def _of_records(
    volumes: Sequence[Sequence[float]], card: str, recipe: str, load: Distribution | None
) -> Times:
    pages = sorted(each for volume in volumes for each in volume)
    large = [tuple(volume) for volume in volumes if len(volume) >= OF_A_VOLUME]
    counted = f"{len(pages):,} {'page' if len(pages) == 1 else 'pages'}"
    said = f"{counted} of {len(volumes):,} {'volume' if len(volumes) == 1 else 'volumes'} in the bucket"
    page: Distribution
    if len(large) >= ENOUGH_VOLUMES:
        page = Clustered(tuple(large))
    elif len(pages) >= ENOUGH_PAGES:
        page = Sampled(tuple(pages))
    else:
        half = pages[len(pages) // 2]
        page = through(half, 0.95, max(pages[-1], half * PAGES_SPREAD))
    means = [math.log(max(fmean(volume), 1e-6)) for volume in volumes]
    apart = stdev(means) if len(means) > 1 else 0.2
    doubt = max(DOUBTS[Basis.MEASURED], apart / math.sqrt(len(means)))
    return Times(page, load, Basis.MEASURED, said, min(doubt, DOUBTS[Basis.GUESS]), f"{recipe} {card}")


def _rest(
    pipeline: Pipeline, by_card: Mapping[str, Times], load: Distribution | None, longest_page: float
) -> Times:
    """For cards on which nothing was measured."""
    if by_card:
        card, best = max(by_card.items(), key=lambda each: (-each[1].doubt, each[0]))
        said = f"what was measured on {card or 'processors'}; another card may be slower or faster"
        doubt = math.hypot(best.doubt, DOUBTS[Basis.OTHER_CARD])
        return Times(best.page, load, Basis.OTHER_CARD, said, doubt, f"{best.rests_on} elsewhere")
    estimate = pipeline.estimate
    if estimate is not None:
        page = through(estimate.page, 0.95, estimate.page * PAGES_SPREAD)
        said = f"the pipeline's own estimate, one page in twenty {PAGES_SPREAD:g} times as long"
        return Times(page, load, Basis.ESTIMATE, said, DOUBTS[Basis.ESTIMATE], pipeline.id)
    guess = _guess(longest_page)
    return Times(guess.page, load, guess.basis, guess.said, guess.doubt, guess.rests_on)


def _guess(longest_page: float) -> Times:
    half, late = GUESSED_PAGE
    page = through(half, 0.95, late, longest_page)
    return Times(
        page,
        None,
        Basis.GUESS,
        f"nobody has measured or estimated it: half within {half:g} s, one in twenty over {late:g} s",
        DOUBTS[Basis.GUESS],
        "guess",
    )


def _load(pipeline: Pipeline, seen: Sequence[float]) -> tuple[Distribution | None, Assumption]:
    subject = f"loading the steps of {pipeline.id}"
    if seen:
        words = f"{len(seen):,} {'start' if len(seen) == 1 else 'starts'} in the bucket's events"
        return Sampled(tuple(sorted(seen))), Assumption(subject, _middle(seen), Source.MEASURED, words)
    estimate: Estimate | None = pipeline.estimate
    if estimate is not None and estimate.load is not None:
        found = through(estimate.load, 0.95, estimate.load * PAGES_SPREAD)
        said = "the pipeline's own estimate"
        return found, Assumption(subject, _seconds(estimate.load), Source.ESTIMATE, said)
    said = "nobody has measured or estimated it"
    return None, Assumption(subject, "30 s", Source.GUESS, said, remedy=WRITE_ESTIMATE)


def _pages(
    pipeline: Pipeline, campaigns: Sequence[Campaign], figures: Figures, known: Known
) -> tuple[Distribution, Assumption | None]:
    """How many pages volumes have that nobody has counted."""
    volumes = [volume for campaign in campaigns for volume in campaign.volumes]
    counts = [pages for volume in volumes if (pages := pages_of(volume, known))]
    unknown = len(volumes) - len(counts)
    found, shown, source, said = _page_counts(
        pipeline, known.counts.get(recipe_of(pipeline)) or counts_of([figures]), counts
    )
    if not unknown:
        return found, None
    subject = f"pages of {unknown:,} of {len(volumes):,} volumes of {pipeline.id}"
    remedy = "write `estimate: {page: …, pages: 300}` into the pipeline" if source is Source.GUESS else ""
    return found, Assumption(subject, shown, source, said, remedy=remedy)


def _page_counts(
    pipeline: Pipeline, done: Sequence[int], counted: Sequence[int]
) -> tuple[Distribution, str, Source, str]:
    if len(done) >= ENOUGH_VOLUMES:
        shown = f"{done[0]:,} to {done[-1]:,}"
        return Sampled(done), shown, Source.MEASURED, f"as {len(done):,} complete volumes had"
    estimate = pipeline.estimate
    if estimate is not None and estimate.pages is not None:
        found = through(estimate.pages, 0.95, estimate.pages * BOOKS_SPREAD)
        return found, f"about {estimate.pages:,}", Source.ESTIMATE, "the pipeline's own estimate"
    if len(counted) >= ENOUGH_VOLUMES:
        shown = f"{min(counted):,} to {max(counted):,}"
        return Sampled(tuple(counted)), shown, Source.SEEN, f"as the {len(counted):,} that could be counted"
    half, late = GUESSED_PAGES
    said = f"a guess of books: half of them up to {half:g} pages, one in twenty over {late:g}"
    return through(half, 0.95, late), f"about {half:g}", Source.GUESS, said


def gang_times(seconds: float | None = None) -> Times:
    """How long a gang runs whose file does not say."""
    if seconds is not None:
        return Times(Constant(seconds), None, Basis.ESTIMATE, "the gang's own `duration`")
    half, late = GUESSED_GANG
    said = "nobody has said: write `duration: 2h` into the gang's file"
    return Times(through(half, 0.95, late), None, Basis.GUESS, said, DOUBTS[Basis.GUESS], "gangs")


def _words(page: Distribution) -> str:
    """The middle and the late pages of a distribution, in words."""
    if isinstance(page, Constant):
        return _seconds(page.value)
    if isinstance(page, LogNormal):
        return f"{_seconds(page.median)}, one in twenty over {_seconds(page.quantile(0.95))}"
    stream = random.Random(0)  # noqa: S311 - the same for the same figures
    drawn = sorted(page.draw(stream) for _ in range(401))
    return f"{_seconds(drawn[200])}, one in twenty over {_seconds(drawn[380])}"


def _middle(values: Sequence[float]) -> str:
    return _seconds(sorted(values)[len(values) // 2])


def _seconds(value: float) -> str:
    return f"{value:.2g} s" if value < 10 else f"{value:,.0f} s"
