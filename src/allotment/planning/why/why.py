"""Why a need fits here or not: one sentence, the funnel under it, and the smallest change that would help.

*Never* and *waiting* are kept apart: what fits once others have ended waits, what fits into no empty world
never will. Every change that is proposed has been tried with the allocator before it is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from allotment.devices.claims import ClaimSpec
from allotment.devices.closed_nodes import CORDONED, NOT_READY
from allotment.devices.fleet import Placed
from allotment.devices.selectors import Matcher, evaluate
from allotment.devices.world import World
from allotment.needs.fit import Explanation, admin_notes, explain
from allotment.needs.fit_words import sentence
from allotment.needs.oddities import oddities
from allotment.needs.words import describe
from allotment.planning.why.causes import Cause, CauseKind, cause_of
from allotment.planning.why.guess import Other
from allotment.planning.why.nodes import sift_all
from allotment.planning.why.room import Holding, Room, holdings_of
from allotment.planning.why.steps import Sifted, Stage, Step
from allotment.planning.why.trying import Change, Trying


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
class Why:
    """The answer. ``cause`` is None where it fits; ``placed`` is where it would go now.

    ``pods`` of it would fit at once, as far as they were counted (None: not, or any number would).
    """

    asks: str
    state: State
    sentence: str
    cause: Cause | None
    alternatives: tuple[Alternative, ...]
    changes: tuple[Change, ...]
    placed: Placed | None = None
    notes: tuple[str, ...] = ()
    pods: int | None = None

    @property
    def devices(self) -> int:
        """How many devices one pod has."""
        return sum({each.name.partition("/")[0]: each.count for each in reversed(self.alternatives)}.values())


def why(
    claim: ClaimSpec,
    world: World,
    holdings: Sequence[Holding] | None = None,
    *,
    is_need: bool = True,
    others: Iterable[Other] = (),
    together: int = 1,
    matches: Matcher = evaluate,
) -> Why:
    """Why the claim fits into the world, or not, while these have their devices (None: the world's claims).

    ``is_need`` words changes as keys of ``gpu:``, else as those of a claim. ``others`` are other ways to meet
    the same need, which are tried too. So many of it have to fit ``together``, as the workers of a gang.
    """
    room = Room(world, holdings_of(world) if holdings is None else holdings, matches)
    sifted = sift_all(room, claim)
    placed = room.place(claim, room.taken, together)
    ever = placed or room.place(claim, room.untaken, together) or room.place_later(claim, together)
    state = State.FITS if placed else State.WAITS if ever else State.NEVER
    waits = state is State.WAITS
    one = together > 1 and room.place(claim, room.taken if waits else room.untaken) is not None
    cause = None if placed or one else cause_of(room, claim, sifted, waits=waits)
    if one and not placed:
        cause = _too_few(room, claim, together, waits=waits)
    if cause is not None and _passes_by_itself(cause, sifted):
        state = State.WAITS
    trying = Trying(room, is_need=is_need, waits=waits, others=tuple(others), together=together)
    found = None if cause is not None else explain(claim, room.world, room.taken.devices, room.matches)
    return Why(
        asks=describe(claim),
        state=state,
        sentence=_sentence(found, cause, state, sifted),
        cause=cause,
        alternatives=tuple(_alternative(each) for each in sifted),
        changes=() if placed else tuple(trying.changes(claim, sifted)),
        placed=placed,
        notes=(*admin_notes(claim), *oddities(world, room.candidates)),
        pods=None if found is None or found.without_end else found.pods or None,
    )


_STATE_WORDS: Final = {
    State.WAITS: "it waits",
    State.NEVER: "it will never fit here",
}


def _sentence(found: Explanation | None, cause: Cause | None, state: State, sifted: Sequence[Sifted]) -> str:
    if cause is None:
        if found is not None and found.fits_now:
            return f"it fits: {sentence(found)}"
        return "it fits into what is left of devices that are shared"
    several = len(sifted) > 1
    about = f"`{cause.request}`: " if several and cause.kind is not CauseKind.TOGETHER else ""
    return f"{_STATE_WORDS[state]}: {about}{cause.words}"


def _passes_by_itself(cause: Cause, sifted: Sequence[Sifted]) -> bool:
    """Whether it ends though nobody here gives anything back: an update, a node that comes back."""
    is_updated = cause.kind is CauseKind.POOL and "updated" in cause.words
    closed = {
        lost.why for each in sifted for step in each.steps if step.stage is Stage.OPEN for lost in step.lost
    }
    comes_back = cause.kind is CauseKind.OPEN and bool(closed & {CORDONED, NOT_READY})
    return is_updated or comes_back


def _too_few(room: Room, claim: ClaimSpec, together: int, *, waits: bool) -> Cause:
    """Some of those that are to start together would fit, and not all."""
    room_for = room.how_many(claim, room.taken if waits else room.untaken, together)
    when = "now" if waits else "even with nothing in use"
    words = f"{together} are to start together, and there is room for {room_for} {when}"
    return Cause(CauseKind.TOGETHER, "", words)


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
