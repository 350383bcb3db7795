"""Lints of a need by itself: its memory, its own selector, its slices.

Facts: the catalogue of cards; NVIDIA MIG User Guide; NVIDIA DRA driver for GPUs, issue 897 (slices of one
claim on different cards); CEL of ``resource.k8s.io`` (``isGreaterThan`` is strict).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from allotment.devices.catalogue import cards
from allotment.devices.classes import GPU_CLASS
from allotment.errors import Severity
from allotment.needs.cards import NO_KINDS, Kinds, cards_taken
from allotment.needs.fault import Fault
from allotment.needs.lints.slices import SmallerSlice, named_after, real_slices
from allotment.needs.memory import in_words
from allotment.needs.memory_traps import memory_warnings
from allotment.needs.rules import (
    CONFIG_MISMATCH,
    MISSES_CARDS,
    MISSES_SLICES,
    SAME_OF_ONE,
    SLICES_APART,
    SMALLEST_SLICE,
    STRICT_SELECT,
    UNGUARDED,
    WAY_TWICE,
    WHOLE_SLICE,
)
from allotment.needs.same import SAME_CARD
from allotment.needs.select import unguarded
from allotment.needs.ways import way_of
from allotment.platform.need import Need
from allotment.quantities import QuantityError, format_gi, parse_bytes

NeedLint = Callable[[Need, Kinds], Iterator[Fault]]

_MIG: Final = "mig"
_MOST: Final = 6
_STRICT: Final = re.compile(
    r"memory[^&|]*?(?:isGreaterThan\(\s*quantity\(\s*['\"](?P<than>[^'\"]+)['\"]\s*\)\s*\)"
    r"|compareTo\(\s*quantity\(\s*['\"](?P<to>[^'\"]+)['\"]\s*\)\s*\)\s*>(?!=)\s*0)"
)


def need_warnings(need: Need, kinds: Kinds = NO_KINDS) -> Iterator[Fault]:
    """Everything in the need and its fallbacks that most likely is not what is meant."""
    for loc, each in ((), need), *((("fallback", place), one) for place, one in enumerate(need.fallback)):
        for lint in NEED_LINTS:
            for fault in lint(each, kinds):
                yield replace(fault, loc=(*loc, *fault.loc))


def memory_of_cards(need: Need, _kinds: Kinds) -> Iterator[Fault]:
    """Memory that leaves out the very card that was meant, where whole cards are asked for."""
    if need.cpu is None and any(way_of(word).device_class == GPU_CLASS for word in need.sharing):
        for message, hint in memory_warnings(need.memory):
            yield _warning("memory", MISSES_CARDS, message, hint)


def unguarded_key(need: Need, _kinds: Kinds) -> Iterator[Fault]:
    """A selector that fails on devices that lack a key."""
    for each in unguarded(need.select or ""):
        message = f"a device without `{each.key}` makes this selector an error, for every pod on every node"
        yield _warning("select", UNGUARDED, message, f"write {each.guarded}")


def strict_select(need: Need, _kinds: Kinds) -> Iterator[Fault]:
    """A selector by more than the memory that cards exactly have."""
    for found in _STRICT.finditer(need.select or ""):
        text = found["than"] or found["to"]
        try:
            amount = parse_bytes(text)
        except QuantityError:
            continue
        if exact := [card.id for card in cards() if card.memory == amount]:
            message = f"more than {text} leaves out {' and '.join(exact)}, with exactly {in_words(amount)}"
            hint = f"write `memory: {text}`, or .compareTo(quantity('{text}')) >= 0"
            yield _warning("select", STRICT_SELECT, message, hint)


def way_twice(need: Need, _kinds: Kinds) -> Iterator[Fault]:
    """A way that stands in the list a second time."""
    for place, word in enumerate(need.sharing):
        if word in need.sharing[:place]:
            message = f"`{word}` is listed twice: what it did not find the first time it does not find later"
            yield Fault(("sharing", place), WAY_TWICE, message, "keep the first", Severity.WARNING)


def pinned_memory(need: Need, kinds: Kinds) -> Iterator[Fault]:
    """More pinned memory for each process than the card may have."""
    pinned = ((need.config or {}).get("mps") or {}).get("pinned_memory")
    room = None if pinned is None else _least_room(need, kinds)
    if pinned is not None and room is not None and pinned > room[0]:
        message = f"`pinned_memory` gives each process {in_words(pinned)}, and {room[1]}"
        hint = f"write what one process uses, {format_gi(room[0])} at most"
        yield _warning(("config", "mps", "pinned_memory"), CONFIG_MISMATCH, message, hint)


def _least_room(need: Need, kinds: Kinds) -> tuple[int, str] | None:
    """The memory of the smallest card that is asked for, or of the largest that there is; and words."""
    if need.memory is not None and (least := max(need.memory.at_least or 0, need.memory.more_than or 0)):
        return least, f"its card may have no more than {in_words(least)}"
    largest = max(cards_taken(need, kinds), key=lambda each: each.memory or 0, default=None)
    if largest is None:
        return None
    return largest.memory or 0, f"the largest card, {largest.id}, has {in_words(largest.memory or 0)}"


def same_of_one(need: Need, _kinds: Kinds) -> Iterator[Fault]:
    """What one card shares with itself."""
    if need.same is not None and need.count == 1:
        message = f"`same: {need.same}` says nothing about one card"
        yield _warning("same", SAME_OF_ONE, message, "ask for a `count` of two or more, or take it out")


def slice_is_whole_card(need: Need, kinds: Kinds) -> Iterator[Fault]:
    """Memory that no slice has but the one that is the whole card."""
    if _MIG not in need.sharing or need.memory is None:
        return
    known = real_slices(need, kinds)
    if not known or any(each.may_have(need.memory) for each in known):
        return
    largest = sorted(known, key=lambda each: -each.memory)[:_MOST]
    asked = in_words(max(need.memory.at_least or 0, need.memory.more_than or 0))
    message = f"no slice has {asked} but the one that is the whole card under another name, which is left out"
    hint = "write `sharing: whole`, or ask for less: " + _sizes(largest[:1])
    severity = Severity.ERROR if need.card and need.sharing == (_MIG,) else Severity.WARNING
    evidence = tuple(f"{each.card} {each.profile}: {each.words}" for each in largest)
    yield Fault(("memory",), WHOLE_SLICE, message, hint, severity, evidence)


def memory_of_slices(need: Need, kinds: Kinds) -> Iterator[Fault]:
    """Memory that a slice is named after and does not have."""
    if _MIG not in need.sharing or need.memory is None:
        return
    missed = named_after(need, kinds)
    if not missed:
        return
    asked = in_words(max(need.memory.at_least or 0, need.memory.more_than or 0))
    shown = sorted(missed, key=lambda each: (-each.memory, each.card))
    least = format_gi(min(each.memory for each in missed))
    message = f"{asked} leaves out slices that are named after it: {_sizes(shown[:_MOST])}"
    evidence = tuple(f"{each.card} {each.profile}: {each.words}" for each in shown)
    yield Fault(("memory",), MISSES_SLICES, message, f"write `memory: {least}`", Severity.WARNING, evidence)


def smallest_slice(need: Need, _kinds: Kinds) -> Iterator[Fault]:
    """A slice of any size."""
    if _MIG in need.sharing and need.memory is None and need.select is None:
        message = "any slice will do, and the first by name is the smallest: 1g.5gb on an A100-40"
        yield _warning("sharing", SMALLEST_SLICE, message, "say how much it needs: `memory: 9.5Gi`")


def slices_apart(need: Need, _kinds: Kinds) -> Iterator[Fault]:
    """Several slices that may lie on different cards."""
    if _MIG in need.sharing and need.count > 1 and need.same != SAME_CARD:
        message = (
            f"{need.count} slices of one pod may lie on different cards, which do not see each other's memory"
        )
        yield _warning(
            "count", SLICES_APART, message, "write `sharing: mig` and `same: card`, or ask for one slice"
        )


def _warning(key: str | tuple[str | int, ...], rule: str, message: str, hint: str) -> Fault:
    return Fault((key,) if isinstance(key, str) else key, rule, message, hint, Severity.WARNING)


def _sizes(slices: list[SmallerSlice]) -> str:
    return ", ".join(dict.fromkeys(f"{each.profile} {each.words}" for each in slices))


NEED_LINTS: Final[tuple[NeedLint, ...]] = (
    memory_of_cards,
    memory_of_slices,
    slice_is_whole_card,
    smallest_slice,
    slices_apart,
    strict_select,
    unguarded_key,
    same_of_one,
    way_twice,
    pinned_memory,
)
