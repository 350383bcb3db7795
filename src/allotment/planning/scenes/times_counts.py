"""How many pages volumes have that nobody has counted: as complete ones had, an estimate, or a guess."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from allotment.pictures.counts import counted
from allotment.planning.figures import Figures
from allotment.planning.scenes.pages import counts_of, pages_of
from allotment.planning.scenes.values import Assumption, Known, Source
from allotment.repository.model import Campaign, Pipeline
from allotment.repository.recipe import recipe_of
from allotment.simulation.distributions import through
from allotment.simulation.run_times import Distribution, Sampled

ENOUGH: Final = 3
BOOKS_SPREAD: Final = 2.5
"""How many times as many pages one volume in twenty has as half of them, where only a middle is told."""
GUESSED: Final = (200.0, 600.0)
REMEDY: Final = "write `estimate: {page: …, pages: 300}` into the pipeline"


def page_counts(
    pipeline: Pipeline, campaigns: Sequence[Campaign], figures: Figures, known: Known
) -> tuple[Distribution, Assumption | None]:
    """How many pages volumes have that nobody has counted, and what there is to say where there are any."""
    volumes = [volume for campaign in campaigns for volume in campaign.volumes]
    counts = [pages for volume in volumes if (pages := pages_of(volume, known))]
    unknown = len(volumes) - len(counts)
    done = known.counts.get(recipe_of(pipeline)) or counts_of([figures])
    found, shown, source, said = _found(pipeline, done, counts)
    if not unknown:
        return found, None
    subject = f"pages of {unknown:,} of {counted(len(volumes), 'volume')}"
    remedy = REMEDY if source is Source.GUESS else ""
    return found, Assumption(subject, shown, source, said, remedy=remedy)


def guessed_counts() -> Distribution:
    """How many pages volumes have of which nothing is known."""
    half, late = GUESSED
    return through(half, 0.95, late)


def _found(
    pipeline: Pipeline, done: Sequence[int], counted: Sequence[int]
) -> tuple[Distribution, str, Source, str]:
    if len(done) >= ENOUGH:
        shown = f"{done[0]:,} to {done[-1]:,}"
        return Sampled(done), shown, Source.MEASURED, f"as {len(done):,} complete volumes had"
    estimate = pipeline.estimate
    if estimate is not None and estimate.pages is not None:
        late = estimate.pages * BOOKS_SPREAD
        shown = f"about {estimate.pages:,}, one volume in twenty over {late:,.0f}"
        return through(estimate.pages, 0.95, late), shown, Source.ESTIMATE, "the pipeline's own estimate"
    if len(counted) >= ENOUGH:
        shown = f"{min(counted):,} to {max(counted):,}"
        return Sampled(tuple(counted)), shown, Source.SEEN, f"as the {len(counted):,} that could be counted"
    half, late = GUESSED
    shown = f"about {half:g}, one volume in twenty over {late:g}"
    return guessed_counts(), shown, Source.GUESS, "of books"
