"""What devices have of what a condition asks, in words: the values that it reads, and which cards it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from allotment.devices.catalogue import by_product_name
from allotment.devices.cel.parts import Read, reads
from allotment.devices.inventory import Listed
from allotment.devices.slices import AttributeValue, Device, Version
from allotment.needs.clauses import Candidate
from allotment.needs.memory import in_words
from allotment.pictures.counts import counted

MOST_NAMED: Final = 3
OTHERS: Final = "others"
_PLAIN_KINDS: Final = ("", "whole", "processor")


def card_name(listed: Listed) -> str:
    """The card by its id in the catalogue, or as its driver calls it; and which part of it."""
    card = by_product_name(listed.card)
    name = listed.card if card is None else card.id
    return name if listed.kind in {*_PLAIN_KINDS, listed.card} else f"{name} {listed.kind}"


def cards_words(devices: Iterable[Candidate]) -> str:
    """``24 x H100-SXM, 4 x L4``: the most first."""
    return counted_words(Counter(card_name(each.listed) for each in devices))


def counted_words(counts: Counter[str]) -> str:
    """So many of each, the most first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = ", ".join(f"{count:,} x {name}" for name, count in ordered[:MOST_NAMED])
    rest = len(ordered) - MOST_NAMED
    return f"{shown} and {rest} more" if rest > 0 else shown


def named(names: Sequence[str], noun: str, most: int = MOST_NAMED) -> str:
    """The first names of a list, and how many more there are."""
    unique = list(dict.fromkeys(names))
    shown = ", ".join(unique[:most])
    rest = len(unique) - most
    if rest > 0 and noun == OTHERS:
        return f"{shown} and {counted(rest, 'other')}"
    return f"{shown} and {rest:,} more {noun}" if rest > 0 else shown


def values_words(texts: Iterable[str], candidate: Candidate) -> str:
    """What the device has of everything that the expressions read."""
    places = dict.fromkeys(place for text in texts for place in reads(text))
    return ", ".join(_value_words(place, candidate) for place in places)


def memory_words(candidate: Candidate) -> str:
    """What the device tells of its memory."""
    memory = candidate.listed.memory
    if memory is None:
        return "no memory is told"
    return f"memory is {in_words(memory)}" if memory else "memory is 0, which means that nobody knows"


def value_at(place: Read, driver: str, device: Device) -> AttributeValue | str | None:
    """The device's value of an attribute, or the text of a capacity; None where it has none."""
    keys = (f"{place.domain}/{place.key}", *((place.key,) if place.domain == driver else ()))
    if place.map == "capacity":
        amounts = (device.capacity[key].value for key in keys if key in device.capacity)
        return next(amounts, None)
    if place.map == "attributes":
        return next((device.attributes[key] for key in keys if key in device.attributes), None)
    return None


def _value_words(place: Read, candidate: Candidate) -> str:
    if place.map == "driver":
        return f"`driver` is {candidate.driver}"
    if place.map == "allowMultipleAllocations":
        return f"`{place.map}` is {str(candidate.device.allow_multiple_allocations).lower()}"
    if place.map == "capacity" and place.key == "memory" and candidate.listed.memory is not None:
        return memory_words(candidate)
    value = value_at(place, candidate.driver, candidate.device)
    if value is None:
        foreign = "" if place.domain == candidate.driver else f" of {place.domain}"
        return f"no `{place.key}`{foreign}"
    return f"`{place.key}` is {said(value)}"


def said(value: AttributeValue | str) -> str:
    """A value as a person reads it."""
    if isinstance(value, tuple):
        return f"[{', '.join(said(each) for each in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return value.text if isinstance(value, Version) else str(value) or "empty"
