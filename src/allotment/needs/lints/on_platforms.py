"""Lints of a need on its platform: what its ways ask of a cluster, and what the schedulers make of its claim.

Facts: gates of Kubernetes 1.34 to 1.37 and of NVIDIA's DRA driver v0.5; KAI 0.17 (its allocator is asked
without features); kubernetes/kubernetes issue 140436, mended in 1.36.3 (counters of a refused device).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from allotment.devices.classes import MIG_CLASS
from allotment.errors import Severity
from allotment.needs.cards import cards_taken
from allotment.needs.fault import Fault
from allotment.needs.lints.looked import Looked, known_card, memory_of_card
from allotment.needs.memory import in_words
from allotment.needs.rules import (
    GATE_OFF,
    GIVEN_UP,
    KAI_CANNOT,
    MEASURED_ELSEWHERE,
    NO_FRACTIONS,
    NO_ISOLATION,
    NOT_MEASURED,
    SAME_REFUSED,
    SHARE_BELOW_PEAK,
)
from allotment.needs.same import SAME_CARD
from allotment.needs.ways import Isolation, Scope, Way, ways_of
from allotment.needs.ways.gates import GATE_WORDS, driver_words, kubernetes_words, off_by_default
from allotment.needs.ways.share import asked_bytes
from allotment.needs.ways.slices import UNPROMISED
from allotment.platform.need import Need
from allotment.quantities import format_bytes

PlatformLint = Callable[[Looked], Iterator[Fault]]

_MOST: Final = 6
_ALIKE: Final = 0.9  # cards that differ by less in memory count as of one size
_MENDED: Final = (1, 36, 3)
_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?")


def way_given_up(looked: Looked) -> Iterator[Fault]:
    """Ways that are listed and not used."""
    if looked.choice.given_up and not looked.is_refused_list:
        message = "; ".join(looked.choice.given_up)
        hint = "this is what happens; shorten the list to say it plainly"
        yield Fault(("sharing",), GIVEN_UP, message, hint, Severity.NOTE, looked.choice.given_up)


def no_isolation(looked: Looked) -> Iterator[Fault]:
    """Ways in which pods can reach each other's memory."""
    for way in looked.ways:
        if way.isolation is not Isolation.HARDWARE:
            message = f"`{way.word}` does not keep pods apart in hardware: {way.keeps_apart}"
            hint = "`isolation: hardware` refuses it; `sharing: mig` keeps memory apart"
            yield Fault(("sharing",), NO_ISOLATION, message, hint, Severity.NOTE)


def not_measured(looked: Looked) -> Iterator[Fault]:
    """A shared card without the figures that say it can be shared."""
    way = next((way for way in looked.ways if way.measured), None)
    if way is None:
        return
    faults = [why for each in looked.figures if (why := each.why_not_steady()) is not None]
    if looked.figures and not faults:
        return
    if faults:
        message = f"`{way.word}` keeps nobody out of a neighbour's memory, and {faults[0]}"
        hint = "measure more pages, or ask for `sharing: mig` or `whole`"
        yield Fault(("sharing",), NOT_MEASURED, message, hint, evidence=tuple(faults))
        return
    older = looked.measured.of_pipeline(looked.name)
    what = "only other recipes of it were measured" if older else "nobody has measured what it uses"
    evidence = tuple(f"{each.recipe} on {each.card}, {each.measured}" for each in older)
    message = f"`{way.word}` keeps nobody out of a neighbour's memory, and {what}"
    hint = "run it with `sharing: whole`, then `allot measure --write measured.yaml`"
    yield Fault(("sharing",), NOT_MEASURED, message, hint, evidence=evidence)


def measured_elsewhere(looked: Looked) -> Iterator[Fault]:
    """Cards that the need takes and it was not measured on; a warning where they are named, or smaller."""
    need, way = looked.need, next((way for way in looked.ways if way.measured), None)
    measured = [known_card(each.card) for each in looked.figures]
    if way is None or not measured or need.select is not None:
        return
    taken = cards_taken(need, looked.platform.cards)
    others = [card.id for card in sorted(taken, key=memory_of_card) if card not in measured]
    if others:
        names = " and ".join(each.card for each in looked.figures)
        more = f" and {len(others) - 1:,} other kinds" if len(others) > 2 else ""
        message = f"it was measured on {names}, and this need may get {others[0]}{more}"
        if len(others) == 2:
            message += f" or {others[1]}"
        fits = [card.id for card in taken if card in measured]
        hint = (
            f"write `card: {fits[0]}`, or measure on the others too" if fits else "measure on those cards too"
        )
        known = min((memory_of_card(card) for card in measured if card is not None), default=0)
        smaller = memory_of_card(min(taken, key=memory_of_card)) < _ALIKE * known
        severe = need.card or smaller or not fits
        severity = Severity.WARNING if severe else Severity.NOTE
        yield Fault(("sharing",), MEASURED_ELSEWHERE, message, hint, severity, tuple(others[:_MOST]))


def share_below_peak(looked: Looked) -> Iterator[Fault]:
    """A share of less than the pipeline was measured to use."""
    if looked.need.share is None or not any(way.measured for way in looked.ways):
        return
    for each in looked.figures:
        card = known_card(each.card)
        size = None if card is None else card.memory
        share = asked_bytes(looked.need) or (round(float(looked.need.share) * size) if size else None)
        if share is not None and share < each.room:
            message = (
                f"its share is {in_words(share)}, and on {each.card} it was measured to need "
                f"{in_words(each.room)}"
            )
            evidence = f"peak {in_words(each.peak)} over {each.pages} pages of {each.volumes} volumes"
            hint = f"write `share: {format_bytes(each.room)}` or more"
            yield Fault(("share",), SHARE_BELOW_PEAK, message, hint, evidence=(evidence,))


def no_fractions_here(looked: Looked) -> Iterator[Fault]:
    """Fractions where no KAI schedules."""
    if looked.on_cluster and not looked.with_kai and looked.choice.scope is Scope.ANNOTATION:
        message = f"only KAI knows fractions, and the platform's scheduler is `{looked.platform.scheduler}`"
        hint = "ask for `mig` or `consumable`, or list `whole` after it"
        yield Fault(("sharing",), NO_FRACTIONS, message, hint)


def gate_off(looked: Looked) -> Iterator[Fault]:
    """What has to be switched on first: of Kubernetes a warning, of others a note."""
    if not looked.on_cluster:
        return
    version = looked.platform.versions.kubernetes
    for need, way in _gated(looked):
        if off := off_by_default(way.gates, version):
            what = " and ".join(GATE_WORDS[gate] for gate in off)
            message = (
                f"Kubernetes {version} takes {what} only with a gate that is off: without it the field is "
                "dropped"
            )
            evidence = tuple(kubernetes_words(gate) for gate in off)
            hint = "switch it on in the API server and the scheduler, or ask for `mig` or `whole`"
            yield Fault(("sharing",), GATE_OFF, message, hint, Severity.WARNING, evidence)
        wanted = [driver_words(gate) for gate in way.driver_gates] if way.wants_gates(need) else []
        wanted += [f"{each.name} of {each.owner} ({each.left_alone} by default)" for each in way.settings]
        if wanted:
            message = f"`{way.word}` needs {' and '.join(wanted)}"
            hint = "ask whoever installs it whether it is on: while it is off, pods are refused, or hang"
            yield Fault(("sharing",), GATE_OFF, message, hint, Severity.NOTE, tuple(wanted))


def same_card_refused(looked: Looked) -> Iterator[Fault]:
    """Slices of one card, where the scheduler books what it then refuses."""
    if not looked.on_cluster or looked.need.same != SAME_CARD or looked.need.count < 2:
        return
    version = looked.platform.versions.kubernetes
    number = _VERSION.fullmatch(version)
    if number is None:
        return
    told = number[3] is not None
    if (int(number[1]), int(number[2]), int(number[3] or 0)) >= _MENDED:
        return
    unsure = "" if told else " up to 1.36.2"
    message = (
        f"Kubernetes {version}{unsure} may refuse slices of one card that are cut on demand while a card is "
        "empty: it books the counters of a device that the constraint then refuses"
    )
    severity = Severity.WARNING if told or int(number[2]) < _MENDED[1] else Severity.NOTE
    yield Fault(
        ("same",), SAME_REFUSED, message, "use 1.36.3, or slices that are set up in advance", severity
    )


def kai_cannot(looked: Looked) -> Iterator[Fault]:
    """Claims that KAI's allocator does not understand."""
    if not looked.with_kai:
        return
    version = looked.platform.versions.kai
    if looked.platform.scheduler == "kai" and looked.is_refused_list:
        message = f"KAI {version} takes no claim with alternatives: the first alone is claimed"
        key = "fallback" if looked.need.fallback else "sharing"
        yield Fault((key,), KAI_CANNOT, message, "write the one that is meant", Severity.WARNING)
    for way in looked.ways:
        if way.device_class == MIG_CLASS or (way.scope is Scope.POD and way.gates):
            slices = way.device_class == MIG_CLASS
            otherwise = "places whole cards by claims, and no amounts of a card"
            message = f"KAI {version} {UNPROMISED if slices else otherwise}"
            hint = "ask for `fraction` or `whole`, or let the default scheduler place it"
            yield Fault(("sharing",), KAI_CANNOT, message, hint, Severity.WARNING)


def _gated(looked: Looked) -> Iterator[tuple[Need, Way]]:
    """The ways whose gates are needed however the word turns out."""
    for each in looked.choice.alternatives:
        if each.way is not None and all(
            way.gates or way.driver_gates or way.settings for way in ways_of(each.way.word)
        ):
            yield each.need, each.way


PLATFORM_LINTS: Final[tuple[PlatformLint, ...]] = (
    way_given_up,
    no_isolation,
    not_measured,
    measured_elsewhere,
    share_below_peak,
    no_fractions_here,
    gate_off,
    same_card_refused,
    kai_cannot,
)
