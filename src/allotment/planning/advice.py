"""What a pipeline should ask for, by what it was measured to use: memory, a size, a slice, a part of a card.

Each piece of advice is what to write and why. A worker is given its peak and a tenth more. Memory is rounded
up to whole Gi unless that would leave out a card that has enough: an L4 reports 22.49Gi, and `23Gi` leaves it
out though 22.2Gi would do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from allotment.devices.catalogue.find import cards
from allotment.devices.mig.memory import partition_memory
from allotment.planning.measure import CardMeasure
from allotment.platform.model import Platform
from allotment.platform.need import Need
from allotment.quantities import GI, MI, format_bytes, format_gi
from allotment.repository.measured import SPARE, Measured

WAITS_MUCH: Final = 0.5


class Kind(StrEnum):
    """What a piece of advice is about."""

    MEMORY = "memory"
    SIZE = "size"
    SLICE = "mig"
    FRACTION = "fraction"
    NO_FRACTION = "no-fraction"
    WAIT = "device-wait"


@dataclass(frozen=True, slots=True)
class Advice:
    """One piece of advice; ``write`` is for the pipeline's file, where there is something to write."""

    kind: Kind
    message: str
    write: str = ""


def advice_for(measure: CardMeasure, need: Need | None, platform: Platform) -> tuple[Advice, ...]:
    """Everything there is to say after one measure; ``need`` is what the pipeline asks for now."""
    return tuple(_advice(measure, need, platform))


def asked_memory(room: int, sizes: Iterable[int]) -> str:
    """The least memory to ask for that gives so much room and leaves out none of the sizes that have it."""
    whole = -(-room // GI) * GI
    nearest = min((size for size in sizes if room <= size < whole), default=None)
    if nearest is None:
        return format_bytes(whole)
    hundredths = nearest * 100 // GI
    rounded = f"{hundredths // 100}.{hundredths % 100:02d}Gi"
    return rounded if -(-hundredths * GI // 100) >= room else format_bytes(-(-room // MI) * MI)


def _advice(measure: CardMeasure, need: Need | None, platform: Platform) -> Iterator[Advice]:
    entry = measure.entry
    if entry is not None:
        yield _memory(entry, need)
        yield from _size(entry, platform)
        yield from _slice(measure, entry)
        yield from _fraction(measure, entry)
    if measure.device_wait >= WAITS_MUCH and measure.card.product:
        message = (
            f"the card waited for pages {measure.device_wait:.0%} of the time: a faster source, or workers "
            "that share the card, would use it"
        )
        yield Advice(Kind.WAIT, message)


def _memory(entry: Measured, need: Need | None) -> Advice:
    asked = asked_memory(entry.room, _known_sizes())
    message = f"it peaks at {format_gi(entry.peak)}; with {100 // SPARE} % to spare that is {asked}"
    now = None if need is None or need.memory is None else need.memory.at_least or need.memory.more_than
    if now is not None and now < entry.peak:
        message += f". It asks for {format_gi(now)} now, which may be too little"
    elif now is not None and now > 2 * entry.room:
        message += f". It asks for {format_gi(now)} now, {format_gi(now - entry.room)} more than that"
    return Advice(Kind.MEMORY, message, f"gpu: {{memory: {asked}}}")


def _size(entry: Measured, platform: Platform) -> Iterator[Advice]:
    """The smallest of the platform's sizes that has room."""
    sizes = [
        (least, name)
        for name, size in platform.sizes.items()
        if size.gpu is not None and size.gpu.memory is not None
        if (least := size.gpu.memory.at_least or size.gpu.memory.more_than or 0) >= entry.room
    ]
    if sizes:
        least, name = min(sizes)
        yield Advice(
            Kind.SIZE, f"the platform's size `{name}` has room: {format_gi(least)} or more", f"size: {name}"
        )


def _slice(measure: CardMeasure, entry: Measured) -> Iterator[Advice]:
    """The smallest partition of the same card that has room."""
    card = measure.card.card
    if card is None or card.mig is None:
        return
    fitting = [
        (memory, profile)
        for profile in card.mig.profiles
        if (memory := partition_memory(card, profile)) is not None and memory >= entry.room
        if not card.mig.is_whole_card(profile) and "+" not in profile.name
    ]
    if not fitting:
        return
    memory, profile = min(fitting, key=lambda each: (each[0], each[1].compute_slices))
    asked = asked_memory(entry.room, [memory])
    message = (
        f"a MIG slice {profile.name} of an {card.id} has room ({format_gi(memory)}), {profile.most} go on a "
        "card, and the card itself keeps them apart; how fast pages are on a slice is not known"
    )
    yield Advice(Kind.SLICE, message, f"gpu: {{sharing: mig, memory: {asked}}}")


def _fraction(measure: CardMeasure, entry: Measured) -> Iterator[Advice]:
    why_not = entry.why_not_steady()
    if why_not is not None:
        yield Advice(Kind.NO_FRACTION, f"not for a part of a card: {why_not}")
        return
    memory, share = measure.card.memory, format_bytes(entry.room)
    workers = 0 if memory is None else memory // entry.room
    if measure.card.is_slice or workers < 2:
        return
    part = -(-entry.room * 100 // memory) / 100 if memory else 0.0
    message = (
        f"steady enough for a fraction of {part:g} of an {measure.card.name} ({workers} workers on one "
        f"card): pages and volumes stay within {1 - entry.steadiness:.0%} of the peak. Nothing keeps them "
        "apart"
    )
    yield Advice(Kind.FRACTION, message, f"gpu: {{sharing: fraction, share: {share}}}")


def _known_sizes() -> Iterator[int]:
    """What cards of the catalogue, and their partitions, report."""
    for card in cards():
        if card.memory is not None:
            yield card.memory
        for profile in () if card.mig is None else card.mig.profiles:
            memory = partition_memory(card, profile)
            if memory is not None:
                yield memory
