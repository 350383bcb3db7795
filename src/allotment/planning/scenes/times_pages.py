"""How long a page takes, by kind of card: measured page by page, three figures, an estimate, or a guess.

Of few pages the slow ones are not known yet, so that their distribution is widened to that of pages of which
only a middle is told; the plan says so. Pages that are only read (a checksum) are guessed as reading is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev
from typing import Final

from allotment.pictures.counts import counted
from allotment.planning.figures import Figures
from allotment.planning.scenes.times_cards import NO_CARD, card_of, cards_words, kind_of
from allotment.planning.scenes.times_taken import DOUBTS, seconds_words
from allotment.planning.scenes.values import Known
from allotment.repository.measured import Measured
from allotment.repository.model import Pipeline
from allotment.simulation.distributions import Clustered, through
from allotment.simulation.run_times import Basis, Distribution, Sampled, Times

ENOUGH_PAGES: Final = 20
ENOUGH_VOLUMES: Final = 3
OF_A_VOLUME: Final = 5
"""So many pages of so many volumes are drawn from as they are."""
PAGES_SPREAD: Final = 2.5
"""How much longer one page in twenty takes than half of them, where only a middle is told."""
GUESSED_PAGE: Final = (5.0, 40.0)
ONLY_READ: Final = (0.1, 2.0)
READERS: Final = frozenset({"checksum"})
"""Built-in steps that take as long as reading a page does."""
OF_ONE_VOLUME: Final = 0.2
MEASURED: Final = "what was measured "


def measured_pages(pipeline: Pipeline, recipe: str, figures: Figures, known: Known) -> dict[str, Times]:
    """What was measured on each kind of card: the three figures first, for records replace them."""
    return dict(_measured(pipeline, recipe, figures, known))


def other_pages(pipeline: Pipeline, by_card: Mapping[str, Times], longest_page: float) -> Times:
    """For cards on which nothing was measured."""
    if by_card:
        card, best = max(by_card.items(), key=lambda each: (-each[1].doubt, each[0]))
        said = f"{MEASURED}on {cards_words([card])}; another card may be slower or faster"
        doubt = math.hypot(best.doubt, DOUBTS[Basis.OTHER_CARD])
        return Times(best.page, None, Basis.OTHER_CARD, said, doubt, f"{best.rests_on} elsewhere")
    estimate = pipeline.estimate
    if estimate is not None:
        page = through(estimate.page, 0.95, estimate.page * PAGES_SPREAD)
        said = f"the pipeline's own estimate, one page in twenty {PAGES_SPREAD:g} times as long"
        return Times(page, None, Basis.ESTIMATE, said, DOUBTS[Basis.ESTIMATE], pipeline.id)
    steps = [call.step for call in pipeline.steps]
    if steps and READERS.issuperset(steps):
        return _guess(ONLY_READ, longest_page, f"{' and '.join(dict.fromkeys(steps))} only reads the page")
    return guessed_page(longest_page)


def guessed_page(longest_page: float) -> Times:
    """Of a recipe of which nobody says anything."""
    return _guess(GUESSED_PAGE, longest_page, "nobody has measured or estimated it")


def _guess(half_and_late: tuple[float, float], longest_page: float, why: str) -> Times:
    half, late = half_and_late
    said = f"{why}: half within {half:g} s, one in twenty over {late:g} s"
    page = through(half, 0.95, late, longest_page)
    return Times(page, None, Basis.GUESS, said, DOUBTS[Basis.GUESS], "guess")


def _measured(pipeline: Pipeline, recipe: str, figures: Figures, known: Known) -> Iterator[tuple[str, Times]]:
    of_recipe = (entry for entry in known.measured.entries if entry.recipe == recipe)
    for entry in sorted(of_recipe, key=lambda each: each.pipeline == pipeline.id):
        yield kind_of(entry.card), _of_entry(entry, recipe)
    by_card: dict[str, list[list[float]]] = {}
    for volume in figures.volumes:
        of_volume: dict[str, list[float]] = {}
        for page in volume.pages:
            of_volume.setdefault(card_of(page.card), []).append(page.seconds + page.waited)
        for card, seconds in of_volume.items():
            by_card.setdefault(card, []).append(seconds)
    for card, volumes in by_card.items():
        yield card, _of_records(volumes, card or NO_CARD, recipe)


def _of_entry(entry: Measured, recipe: str) -> Times:
    waited = 1 - min(entry.device_wait, 0.9)
    half, late, most = (
        each / waited for each in (entry.page_seconds.p50, entry.page_seconds.p95, entry.page_seconds.max)
    )
    said = f"three figures of {entry.pages:,} pages in measured.yaml"
    doubt = max(DOUBTS[Basis.MEASURED], OF_ONE_VOLUME / math.sqrt(max(1, entry.volumes)))
    page = through(half, 0.95, late, max(most, late))
    return Times(page, None, Basis.MEASURED, said, doubt, f"{recipe} {entry.card}")


def _of_records(volumes: Sequence[Sequence[float]], card: str, recipe: str) -> Times:
    pages = sorted(each for volume in volumes for each in volume)
    said = f"{counted(len(pages), 'page')} of {counted(len(volumes), 'volume')} in the bucket"
    page, widened = _drawn_from(volumes, pages)
    means = [math.log(max(fmean(volume), 1e-6)) for volume in volumes]
    apart = stdev(means) if len(means) > 1 else OF_ONE_VOLUME
    doubt = min(max(DOUBTS[Basis.MEASURED], apart / math.sqrt(len(means))), DOUBTS[Basis.GUESS])
    return Times(page, None, Basis.MEASURED, said + widened, doubt, f"{recipe} {card}")


def _drawn_from(volumes: Sequence[Sequence[float]], pages: Sequence[float]) -> tuple[Distribution, str]:
    """The pages as they were measured, or of few a wider distribution through their middle; and its words."""
    large = [tuple(volume) for volume in volumes if len(volume) >= OF_A_VOLUME]
    if len(large) >= ENOUGH_VOLUMES:
        return Clustered(tuple(large)), ""
    if len(pages) >= ENOUGH_PAGES:
        return Sampled(tuple(pages)), ""
    half, most = pages[len(pages) // 2], pages[-1]
    if most >= half * PAGES_SPREAD:
        return through(half, 0.95, most), f", the slowest {seconds_words(most)}"
    few = f"; of so few, one page in twenty is taken to be {PAGES_SPREAD:g} times as long as the middle"
    return through(half, 0.95, half * PAGES_SPREAD), f", the slowest {seconds_words(most)}{few}"
