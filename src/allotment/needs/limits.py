"""What this version cannot do for a need, and what no claim can: said before anything starts.

The files may use every key; a key that would be passed over in silence would give a pipeline something else
than it asked for. The limits of a claim are those of ``resource.k8s.io/v1``: 32 devices, 8 alternatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from allotment.devices.claims import MOST_ALTERNATIVES, MOST_DEVICES
from allotment.needs.cards import NO_KINDS, Kinds, UnknownCardError, chosen_cards
from allotment.needs.rules import BAD_SELECT, NOT_YET, TOO_LARGE, UNKNOWN_CARD
from allotment.needs.select import compile_refusal
from allotment.platform.need import WHOLE, Need


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that cannot be had: ``loc`` is its place within the need, ``key`` last."""

    loc: tuple[str | int, ...]
    rule: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class _Refused:
    """A key, when it asks for what is not there yet, and what to do instead."""

    key: str
    asks: Callable[[Need], bool]
    hint: str


_REFUSED = (
    _Refused("sharing", lambda need: need.sharing != (WHOLE,), "write `sharing: whole`, or leave it out"),
    _Refused("share", lambda need: need.share is not None, "take it out: the pod gets a whole card"),
    _Refused("config", lambda need: need.config is not None, "take it out: the pod gets a whole card"),
)


def faults_of(need: Need, kinds: Kinds = NO_KINDS) -> Iterator[Fault]:
    """Everything in the need and its fallbacks that cannot be had, in the order of the file's keys.

    ``kinds`` are the platform's kinds of card, which a need may name beside those of the catalogue.
    """
    yield from _of_one(need, (), kinds)
    for place, fallback in enumerate(need.fallback):
        yield from _of_one(fallback, ("fallback", place), kinds)
        if fallback.fallback:
            message = "a fallback has a `fallback` of its own"
            yield Fault(("fallback", place), NOT_YET, message, "put all of them in one list, in order")
    if len(need.fallback) >= MOST_ALTERNATIVES:
        message = (
            f"{len(need.fallback)} fallbacks make {len(need.fallback) + 1} alternatives, "
            f"and a claim holds at most {MOST_ALTERNATIVES}"
        )
        yield Fault(("fallback",), TOO_LARGE, message, f"keep the first {MOST_ALTERNATIVES - 1}")


def _of_one(need: Need, loc: tuple[str | int, ...], kinds: Kinds) -> Iterator[Fault]:
    for refused in _REFUSED:
        if refused.asks(need):
            message = f"`{refused.key}` is understood, but this version cannot run it yet"
            yield Fault((*loc, refused.key), NOT_YET, message, refused.hint)
    for place, word in enumerate(need.card):
        try:
            chosen_cards((word,), kinds)
        except UnknownCardError as error:
            where = ("card", place) if len(need.card) > 1 else ("card",)
            yield Fault((*loc, *where), UNKNOWN_CARD, error.message, error.hint)
    if need.select is not None and (refusal := compile_refusal(need.select)) is not None:
        yield Fault((*loc, "select"), BAD_SELECT, refusal, "Kubernetes would refuse the claim for it")
    for key, count in (("count", need.count), ("cpu", need.cpu or 1)):
        if count > MOST_DEVICES:
            message = f"`{key}: {count}` is {count} devices, and a claim holds at most {MOST_DEVICES}"
            yield Fault((*loc, key), TOO_LARGE, message, f"ask for {MOST_DEVICES} or fewer")
