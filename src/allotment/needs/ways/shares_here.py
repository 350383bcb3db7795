"""How much of a card each alternative of a need takes on this machine, and what its worker is told.

A share says it itself, by part or by memory. Who takes turns or uses MPS takes what was measured of the
recipe, or the limit of pinned memory that it asks for; as long as nobody has measured it, a worker gets the
card alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from allotment.devices.card_shares import CardShare
from allotment.devices.claims import ClaimSpec
from allotment.needs.ways import way_of
from allotment.needs.ways.choosing import choice_of
from allotment.needs.ways.share import asked_bytes
from allotment.platform.need import Need

MPS: Final = "mps"
BY_PART: Final = frozenset({"fraction", "consumable"})
BY_MEASURE: Final = frozenset({"time-slicing", MPS})


@dataclass(frozen=True, slots=True)
class ShareHere:
    """What a worker gets of a card, by which way; ``threads`` in percent and ``pinned`` bytes are for MPS."""

    way: str
    share: CardShare
    threads: int | None = None
    pinned: int | None = None


def shares_here(need: Need | None, claim: ClaimSpec, measured: int | None) -> Mapping[str, ShareHere]:
    """The shares of the claim's alternatives by the names of their requests; whole cards are left out.

    ``measured`` are the bytes that a worker of this recipe should be given.
    """
    if need is None:
        return {}
    alternatives = choice_of(need).alternatives
    ways = [None if each.way is None else each.way.word for each in alternatives]
    names = [name for request in claim.requests for name in _names(request.name, claim)]
    return {
        name: _share(each.need, way, measured)
        for name, each, way in zip(names, alternatives, ways, strict=True)
        if way in BY_PART | BY_MEASURE
    }


def asks_for_measured(needs: Iterable[Need | None]) -> bool:
    """Whether anything rests on what was measured."""
    return any(
        way_of(word).measured
        for need in needs
        if need is not None
        for each in (need, *need.fallback)
        for word in each.sharing
    )


def _names(request: str, claim: ClaimSpec) -> list[str]:
    found = next(each for each in claim.requests if each.name == request)
    return [request] if found.exactly is not None else [f"{request}/{sub.name}" for sub in found.alternatives]


def _share(need: Need, way: str | None, measured: int | None) -> ShareHere:
    if way in BY_PART:
        amount = asked_bytes(need)
        part = None if amount is not None or need.share is None else float(need.share)
        return ShareHere(str(way), CardShare(amount, part))
    asked = (need.config or {}).get(MPS) or {}
    if way != MPS:
        return ShareHere(str(way), CardShare(measured))
    pinned = asked.get("pinned_memory")
    return ShareHere(MPS, CardShare(pinned or measured), asked.get("threads"), pinned)
