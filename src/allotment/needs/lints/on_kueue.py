"""Lints of a need on a platform where Kueue admits: what it refuses, what it does not count, how it places.

Facts: Kueue 0.19 (``pkg/dra``: classes are counted, ``firstAvailable`` is refused, constraints and selectors
are passed on); Kueue 0.17, as seen on a real one: a claim with a selector is refused, and one of a class
alone is admitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.errors import AllotmentError, Severity
from allotment.needs.cards import chosen_cards, class_of
from allotment.needs.claim import claim_for, exactly, says_more_than_classes
from allotment.needs.cluster import for_cluster
from allotment.needs.fault import Fault
from allotment.needs.lints.looked import Looked
from allotment.needs.rules import KUEUE_REFUSES, KUEUE_TOPOLOGY, KUEUE_UNCOUNTED
from allotment.needs.ways import Scope
from allotment.needs.ways.choosing import able, before_selectors, choice_of
from allotment.needs.words import request_words


def kueue_refuses(looked: Looked) -> Iterator[Fault]:
    """Lists of alternatives, which Kueue admits none of."""
    if looked.with_kueue and looked.is_refused_list:
        first = kept_words(looked)
        version = looked.platform.versions.kueue
        message = (
            f"Kueue {version} admits no claim with alternatives: {first} alone is claimed, and the rest "
            "given up"
        )
        key = "fallback" if looked.need.fallback else "sharing"
        hint = "write the one that is to be counted"
        yield Fault((key,), KUEUE_REFUSES, message, hint, Severity.WARNING, looked.choice.given_up)


def kueue_knows_classes_alone(looked: Looked) -> Iterator[Fault]:
    """A claim that says more than classes of devices, for a Kueue that admits none."""
    version = looked.platform.versions.kueue
    need, _ = for_cluster(looked.need)
    if not looked.with_kueue or need is None or looked.choice.scope is Scope.ANNOTATION:
        return
    if not before_selectors(version):
        return
    cards = looked.platform.cards
    try:
        claim = claim_for(need, kinds=cards, by_class=True, able=able(looked.platform))
    except AllotmentError:
        return
    if says_more_than_classes(claim):
        key = next(
            (key for key in ("memory", "select", "same", "config", "card") if getattr(need, key)), None
        )
        message = (
            f"Kueue {version} admits no claim with selectors, constraints or configuration, and this need "
            "becomes one: its pods never start"
        )
        hint = "ask for a `card` of the platform's `cards` and nothing else of it; Kueue 0.18 admits them"
        yield Fault((key or "sharing",), KUEUE_REFUSES, message, hint, Severity.WARNING)


def kept_words(looked: Looked) -> str:
    """The alternative that is claimed: its way, or what it asks for where another one has the same way."""
    kept, *others = choice_of(looked.need).alternatives
    if kept.way is None:
        return "the first"
    if any(each.way is kept.way for each in others):
        return request_words(exactly(kept, looked.platform.cards))
    return f"`{kept.way.word}`"


def not_counted_by_kueue(looked: Looked) -> Iterator[Fault]:
    """What a quota of Kueue does not see: which of a class's devices, and what they share."""
    if not looked.with_kueue or looked.need.cpu is not None or looked.choice.scope is Scope.ANNOTATION:
        return
    need = looked.need
    asked = [key for key in ("card", "memory", "select", "same") if getattr(need, key)]
    if class_of(chosen_cards(need.card, looked.platform.cards), looked.platform.cards) is not None:
        asked.remove("card")
    if asked:
        device_class = looked.ways[0].device_class
        message = (
            f"Kueue counts devices of class {device_class} and does not see `{'`, `'.join(asked)}`: a quota "
            "is for cards of every kind together"
        )
        hint = "give the kind a class of its own under `cards` in the platform's file"
        yield Fault((asked[0],), KUEUE_UNCOUNTED, message, hint, Severity.NOTE)


def kueue_topology(looked: Looked) -> Iterator[Fault]:
    """A layout, by which Kueue places without seeing devices."""
    topology = looked.file.topology
    if looked.with_kueue and topology is not None:
        message = (
            f"Kueue places by `{topology.level}` and counts what pods request there, and no claimed devices"
        )
        hint = "its pods may be sent where no card is free; ask for the layout with KAI, or not at all"
        yield Fault((), KUEUE_TOPOLOGY, message, hint, Severity.WARNING)


KUEUE_LINTS: Final = (kueue_refuses, kueue_knows_classes_alone, not_counted_by_kueue, kueue_topology)
