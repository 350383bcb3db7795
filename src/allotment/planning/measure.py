"""What a pipeline uses of a card, from what its workers measured: figures, and how far they can be trusted.

The peak is the most of any worker, since a limit must hold for the worst page. How steady it is decides
whether less than a card is safe where nothing keeps workers apart: the middle page against the peak, and the
lowest volume against it. What the figures cannot tell is said beside them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Final

from allotment.devices.catalogue import Card
from allotment.devices.catalogue.find import by_product_name
from allotment.devices.mig.memory import partition_memory
from allotment.planning.figures import Figures, PageFigures
from allotment.quantities import format_gi
from allotment.repository.measured import BY_CARD, BY_PROCESS, Measured, PageSeconds

_MIG: Final = " MIG "
_SAMPLED_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class KnownCard:
    """A kind of card by the product name that it reports. ``memory`` is None where nobody knows it."""

    product: str
    name: str
    memory: int | None = None
    card: Card | None = None
    is_slice: bool = False


@dataclass(frozen=True, slots=True)
class CardMeasure:
    """What one recipe was measured to use of one kind of card.

    ``entry`` is what `measured.yaml` gets: None where no device memory was told. ``peaks`` are volumes with
    their peaks, ``seconds`` the sorted times of pages, ``unknown`` what these figures cannot tell.
    """

    pipeline: str
    recipe: str
    card: KnownCard
    pages: int
    seconds: tuple[float, ...]
    device_wait: float
    peaks: tuple[tuple[str, int], ...] = ()
    entry: Measured | None = None
    evidence: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def page_seconds(self) -> PageSeconds:
        """The times of pages in three figures."""
        return page_seconds(self.seconds)


def known_card(product: str) -> KnownCard:
    """A card by its product name, as a whole, or that of a MIG device: a card's, and a profile."""
    parent, mark, profile = product.partition(_MIG)
    card = by_product_name(parent)
    if card is None:
        return KnownCard(product, product, is_slice=bool(mark))
    if not mark:
        return KnownCard(product, card.id, card.memory, card)
    cut = None if card.mig is None else card.mig.profile(profile)
    memory = None if cut is None else partition_memory(card, cut)
    return KnownCard(product, f"{card.id} {profile}", memory, card, is_slice=True)


def measures_of(pipeline: str, recipe: str, figures: Figures) -> tuple[CardMeasure, ...]:
    """The figures of a recipe, a kind of card each, sorted by name; pages without a card last."""
    products = sorted({page.card for volume in figures.volumes for page in volume.pages})
    found = (_measure(pipeline, recipe, product, figures) for product in products)
    return tuple(sorted(found, key=lambda each: (not each.card.product, each.card.name)))


def page_seconds(seconds: Sequence[float]) -> PageSeconds:
    """Three figures of sorted times: half, 95 of 100 and all of the pages took at most so long."""
    return PageSeconds(_at(seconds, 0.5), _at(seconds, 0.95), _at(seconds, 1.0))


def _at(ordered: Sequence[float], part: float) -> float:
    """The value that so many of the sorted values do not pass, as the nearest rank has it."""
    return round(ordered[max(0, math.ceil(part * len(ordered)) - 1)], 3)


def _measure(pipeline: str, recipe: str, product: str, figures: Figures) -> CardMeasure:
    pages = [page for volume in figures.volumes for page in volume.pages if page.card == product]
    of_card = [volume for volume in figures.volumes if any(page.card == product for page in volume.pages)]
    peaks = tuple(
        (volume.volume, peak) for volume in of_card if (peak := volume.peak(product)) is not None and product
    )
    seconds = tuple(sorted(page.seconds for page in pages))
    card = known_card(product)
    wait = _wait(pages)
    used = sorted(page.peak for page in pages if page.peak is not None)
    entry = None
    if peaks and used and product:
        peak = max(amount for _, amount in peaks)
        entry = Measured(
            pipeline=pipeline,
            recipe=recipe,
            card=card.name,
            peak=peak,
            steadiness=_steadiness(used, [amount for _, amount in peaks], peak),
            volumes=len(peaks),
            pages=len(used),
            page_seconds=page_seconds(seconds),
            device_wait=wait,
            measured=f"{datetime.fromtimestamp(max(each.at for each in of_card), UTC):%Y-%m-%dT%H:%M:%SZ}",
            told_by=BY_PROCESS if all(page.told_by == BY_PROCESS for page in pages) else BY_CARD,
        )
    failed = sum(volume.failed for volume in of_card)
    return CardMeasure(
        pipeline=pipeline,
        recipe=recipe,
        card=card,
        pages=len(pages),
        seconds=seconds,
        device_wait=wait,
        peaks=peaks,
        entry=entry,
        evidence=tuple(_evidence(entry, peaks)),
        unknown=tuple(_unknown(entry, card, failed, figures.unread)),
    )


def _wait(pages: Sequence[PageFigures]) -> float:
    waited, worked = sum(page.waited for page in pages), sum(page.seconds for page in pages)
    return round(waited / (waited + worked), 3) if waited + worked > 0 else 0.0


def _steadiness(used: Sequence[int], peaks: Sequence[int], peak: int) -> float:
    """Rounded down: what is shown may be relied on."""
    return math.floor(1000 * min(median(used), *peaks) / peak) / 1000 if peak else 0.0


def _evidence(entry: Measured | None, peaks: Sequence[tuple[str, int]]) -> Iterator[str]:
    if entry is None:
        return
    lowest, highest = min(peaks, key=lambda each: each[1]), max(peaks, key=lambda each: each[1])
    pages = "1 page" if entry.pages == 1 else f"{entry.pages:,} pages"
    yield f"{pages} of {'1 volume' if entry.volumes == 1 else f'{entry.volumes:,} volumes'}"
    if entry.volumes > 1:
        spread = (highest[1] - lowest[1]) / highest[1] if highest[1] else 0.0
        yield (
            f"volumes peak between {format_gi(lowest[1])} ({lowest[0]}) and {format_gi(highest[1])} "
            f"({highest[0]}), {spread:.0%} apart"
        )


def _unknown(entry: Measured | None, card: KnownCard, failed: int, unread: int) -> Iterator[str]:
    if not card.product:
        yield "no card was told: these pages were made on processors, or before cards were recorded"
    elif entry is None:
        yield "the driver told nothing of device memory"
    if entry is not None and entry.told_by == BY_CARD:
        yield (
            "the driver did not name the workers' processes: the figures are of all that used the card then, "
            "and hold if nobody else did"
        )
    if entry is not None and entry.volumes == 1:
        yield "how far volumes differ: only one was measured"
    if entry is not None:
        yield f"peaks that lasted less than {_SAMPLED_SECONDS:g} s, and what larger pages would use"
    if failed:
        yield f"what the {'page' if failed == 1 else f'{failed:,} pages'} that failed would have used"
    if unread:
        manifests = "a manifest that" if unread == 1 else f"{unread:,} manifests that"
        yield f"what stands in {manifests} could not be read"
