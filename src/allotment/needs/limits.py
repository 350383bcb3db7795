"""What cannot be had: said before anything starts, each fault at its place.

A key that would be passed over in silence would give a pipeline something else than it asked for. The limits
of a claim are those of ``resource.k8s.io/v1``: 32 devices, 8 alternatives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from allotment.devices.claims import MOST_ALTERNATIVES, MOST_DEVICES
from allotment.needs.cards import NO_KINDS, Kinds, UnknownCardError, chosen_cards
from allotment.needs.fault import Fault
from allotment.needs.rules import BAD_SELECT, NOT_ISOLATED, NOT_YET, TOO_LARGE, UNKNOWN_CARD, WHOLE_SAME_CARD
from allotment.needs.same import SAME_CARD
from allotment.needs.select import compile_refusal
from allotment.needs.ways import way_of
from allotment.needs.ways.choosing import choice_of, kept_ways
from allotment.needs.ways.config_faults import config_faults
from allotment.platform.need import Need

__all__ = ["Fault", "faults_of"]

_CUT = "mig"


def faults_of(need: Need, kinds: Kinds = NO_KINDS, kubernetes: str | None = None) -> Iterator[Fault]:
    """Everything in the need and its fallbacks that cannot be had, in the order of the file's keys.

    ``kinds`` are the platform's kinds of card, which a need may name beside those of the catalogue;
    ``kubernetes`` is the version that is to take the claim (None: the newest).
    """
    yield from _of_one(need, (), kinds, kubernetes)
    for place, fallback in enumerate(need.fallback):
        yield from _of_one(fallback, ("fallback", place), kinds, kubernetes)
        if fallback.fallback:
            message = "a fallback has a `fallback` of its own"
            yield Fault(("fallback", place), NOT_YET, message, "put all of them in one list, in order")
    count = len(choice_of(need).alternatives)
    if count > MOST_ALTERNATIVES:
        lists = len(need.fallback) < MOST_ALTERNATIVES
        with_lists = " with their lists of ways" if lists else ""
        fallbacks = "1 fallback" if len(need.fallback) == 1 else f"{len(need.fallback)} fallbacks"
        most = f"a claim holds at most {MOST_ALTERNATIVES}"
        message = f"{fallbacks}{with_lists} make {count} alternatives, and {most}"
        hint = "shorten the lists" if lists else f"keep the first {MOST_ALTERNATIVES - 1}"
        yield Fault(("fallback",), TOO_LARGE, message, hint)


def _of_one(need: Need, loc: tuple[str | int, ...], kinds: Kinds, kubernetes: str | None) -> Iterator[Fault]:
    for fault in (*_of_sharing(need, kinds), *config_faults(need)):
        yield replace(fault, loc=(*loc, *fault.loc))
    for place, word in enumerate(need.card):
        try:
            chosen_cards((word,), kinds)
        except UnknownCardError as error:
            where = ("card", place) if len(need.card) > 1 else ("card",)
            yield Fault((*loc, *where), UNKNOWN_CARD, error.message, error.hint)
    if need.select is not None and (refusal := compile_refusal(need.select, kubernetes)) is not None:
        yield Fault((*loc, "select"), BAD_SELECT, refusal, "Kubernetes would refuse the claim for it")
    for key, count in (("count", need.count), ("cpu", need.cpu or 1)):
        if count > MOST_DEVICES:
            message = f"`{key}: {count}` is {count} devices, and a claim holds at most {MOST_DEVICES}"
            yield Fault((*loc, key), TOO_LARGE, message, f"ask for {MOST_DEVICES} or fewer")


def _of_sharing(need: Need, kinds: Kinds) -> Iterator[Fault]:
    if need.cpu is not None:
        return
    if not kept_ways(need):
        ways = "; ".join(f"`{word}`: {way_of(word).keeps_apart}" for word in need.sharing)
        message = f"`isolation: {need.isolation}` is asked for, and no way that is listed keeps it ({ways})"
        yield Fault(
            ("sharing",), NOT_ISOLATED, message, "add `mig` or `whole` to `sharing`, or take `isolation` out"
        )
    for word in need.sharing:
        yield from way_of(word).faults(need, kinds)
    others = [word for word in need.sharing if word != _CUT]
    if need.same == SAME_CARD and others:
        message = f"`same: {SAME_CARD}` brings slices of one card together, and `{others[0]}` takes cards"
        hint = "write `sharing: mig`, or ask for `same: card-model` or `same: pcie-root`"
        yield Fault(("same",), WHOLE_SAME_CARD, message, hint)
