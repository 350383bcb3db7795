"""Why a need fits here or not: one sentence, the funnel under it, and the smallest change that would help.

*Never* and *waiting* are kept apart: what fits once others have ended waits, what fits into no empty world
never will. Every change that is proposed has been tried with the allocator before it is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from allotment.devices.claims import ClaimSpec
from allotment.devices.fleet import Placed
from allotment.devices.selectors import Matcher, evaluate
from allotment.devices.slices import DeviceId
from allotment.devices.world import World
from allotment.needs.fit import explain
from allotment.needs.fit_words import sentence
from allotment.needs.oddities import oddities
from allotment.needs.words import describe
from allotment.planning.why_causes import Cause, CauseKind, cause_of
from allotment.planning.why_changes import ChangeKind, Guess, Other, guesses
from allotment.planning.why_nodes import look_at_nodes
from allotment.planning.why_room import Holding, Room, holdings_of
from allotment.planning.why_sieve import Sifted, Step, sift

MOST_CHANGES: Final = 5
MOST_TRIALS: Final = 150
_MOST_ENDED: Final = 16


class State(StrEnum):
    """Whether a pod of it can be placed: now, once others have ended, or never."""

    FITS = "fits"
    WAITS = "waits"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to meet the claim, and where devices fall out. ``free`` of ``would`` would do now."""

    name: str
    asks: str
    count: int
    steps: tuple[Step, ...]
    would: int
    free: int
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one thing with which the claim fits: tried, and where it was placed.

    ``claim`` is the claim as it would be, ``ended`` who would have to end first; ``now`` says that it fits
    beside what is in use then.
    """

    kind: ChangeKind
    words: str
    claim: ClaimSpec
    node: str
    devices: tuple[DeviceId, ...]
    now: bool
    ended: tuple[Holding, ...] = ()


@dataclass(frozen=True, slots=True)
class Why:
    """The answer. ``cause`` is None where it fits; ``placed`` is where it would go now."""

    asks: str
    state: State
    sentence: str
    cause: Cause | None
    alternatives: tuple[Alternative, ...]
    changes: tuple[Change, ...]
    placed: Placed | None = None
    notes: tuple[str, ...] = ()


def why(
    claim: ClaimSpec,
    world: World,
    holdings: Sequence[Holding] | None = None,
    *,
    is_need: bool = True,
    others: Iterable[Other] = (),
    matches: Matcher = evaluate,
) -> Why:
    """Why the claim fits into the world, or not, while these have their devices (None: the world's claims).

    ``is_need`` words changes as keys of ``gpu:``, else as those of a claim. ``others`` are other ways to meet
    the same need, which are tried too.
    """
    room = Room(world, holdings_of(world) if holdings is None else holdings, matches)
    sifted = [sift(room, request, sub) for request in claim.requests for sub in request.alternatives]
    for each in sifted:
        look_at_nodes(room, claim, each)
    placed = room.place(claim, room.taken)
    ever = placed or room.place(claim, room.untaken)
    state = State.FITS if placed else State.WAITS if ever else State.NEVER
    cause = None if placed else cause_of(room, claim, sifted, waits=state is State.WAITS)
    if cause is not None and cause.kind is CauseKind.POOL and "updated" in cause.words:
        state = State.WAITS
    found = guesses(room, claim, sifted, is_need=is_need, others=others)
    return Why(
        asks=describe(claim),
        state=state,
        sentence=_sentence(room, claim, cause, state, sifted),
        cause=cause,
        alternatives=tuple(_alternative(each) for each in sifted),
        changes=() if placed else tuple(_tried(room, claim, found)),
        placed=placed,
        notes=tuple(oddities(world, room.candidates)),
    )


_STATE_WORDS: Final = {
    State.WAITS: "it waits",
    State.NEVER: "it will never fit here",
}


def _sentence(
    room: Room, claim: ClaimSpec, cause: Cause | None, state: State, sifted: Sequence[Sifted]
) -> str:
    if cause is None:
        explained = explain(claim, room.world, room.taken.devices, room.matches)
        if explained.fits_now:
            return f"it fits: {sentence(explained)}"
        return "it fits into what is left of devices that are shared"
    several = len(sifted) > 1
    about = f"`{cause.request}`: " if several and cause.kind is not CauseKind.TOGETHER else ""
    return f"{_STATE_WORDS[state]}: {about}{cause.words}"


def _alternative(found: Sifted) -> Alternative:
    return Alternative(
        found.name,
        found.words,
        found.needed,
        tuple(found.steps),
        len(found.would),
        len(found.free),
        found.fault,
    )


def _tried(room: Room, claim: ClaimSpec, found: Sequence[Guess]) -> Iterator[Change]:
    """The changes that work, the smallest first; those that still have to wait come last."""
    later: list[tuple[Change, tuple[object, ...]]] = []
    settled: set[tuple[object, ...]] = set()
    told = 0
    for guess in found[:MOST_TRIALS]:
        if guess.family in settled:
            continue
        change = _try(room, guess)
        if change is None:
            continue
        if not change.now:
            later.append((change, guess.family))
            continue
        settled.add(guess.family)
        yield change
        told += 1
        if told == MOST_CHANGES:
            return
    if ("wait",) not in settled and (change := _wait_for_several(room, claim, found)) is not None:
        yield change
        told += 1
    for change, family in later:
        if family not in settled and told < MOST_CHANGES:
            settled.add(family)
            told += 1
            yield change


def _try(room: Room, guess: Guess) -> Change | None:
    """The change, if the claim is placed with it: beside what is in use, or else in an empty world."""
    taken = room.taken_without(guess.ended) if guess.ended else room.taken
    placed = room.place(guess.claim, taken)
    now = placed is not None
    if placed is None and room.holdings and not guess.ended:
        placed = room.place(guess.claim, room.untaken)
    if placed is None:
        return None
    return Change(guess.kind, guess.words, guess.claim, placed.node, placed.allocation.ids, now, guess.ended)


def _wait_for_several(room: Room, claim: ClaimSpec, found: Sequence[Guess]) -> Change | None:
    """The fewest that have to end where one is not enough: as many as it takes, less those in vain."""
    ended: list[Holding] = []
    placed = None
    for guess in (each for each in found if each.kind is ChangeKind.WAIT):
        if placed is not None or len(ended) == _MOST_ENDED:
            break
        ended += guess.ended
        placed = room.place(claim, room.taken_without(ended))
    if placed is None:
        return None
    for each in tuple(ended):
        rest = [other for other in ended if other is not each]
        if (again := room.place(claim, room.taken_without(rest))) is not None:
            ended, placed = rest, again
    who = ", ".join(each.who for each in ended)
    words = f"wait for {len(ended)} to end: {who}" if len(ended) > 1 else f"wait for {who} to end"
    return Change(
        ChangeKind.WAIT, words, claim, placed.node, placed.allocation.ids, now=True, ended=tuple(ended)
    )
