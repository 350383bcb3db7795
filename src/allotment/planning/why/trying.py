"""Changes tried with the allocator: only what makes the claim fit is proposed, the smallest first.

Where no change of one thing is enough, two are tried together. Waiting for several others is tried as many
as it takes, less those that were in vain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from allotment.devices.claims import ClaimSpec
from allotment.devices.slices import DeviceId
from allotment.needs.memory import in_words
from allotment.planning.why.guess import ChangeKind, Guess, Other
from allotment.planning.why.guessing import guesses
from allotment.planning.why.nodes import sift_all
from allotment.planning.why.room import Holding, Room
from allotment.planning.why.steps import Sifted
from allotment.planning.why.values import cards_words

MOST_CHANGES: Final = 5
MOST_TRIALS: Final = 150
MOST_WAITS: Final = 40
_MOST_ENDED: Final = 16
_MOST_SIZES: Final = 3
_MOST_FIRST: Final = 12
_MOST_SECOND: Final = 20


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
    together: int = 1


@dataclass(frozen=True, slots=True)
class Trying:
    """The world to try in, and what may be tried: ``others`` are other ways to meet the same need.

    A claim that ``waits`` would fit into an empty world as it is: only what helps now is a change for it.
    """

    room: Room
    is_need: bool
    waits: bool
    others: tuple[Other, ...] = ()
    together: int = 1

    def changes(self, claim: ClaimSpec, sifted: Sequence[Sifted]) -> Iterator[Change]:
        """The changes that work, the smallest first; those with which it still has to wait come last."""
        found = self._guesses(claim, sifted, self.others)
        told = 0
        for change in self._of_one_thing(claim, found):
            yield change
            told += 1
            if told == MOST_CHANGES:
                return
        if not told and (both := self._of_two_things(found)) is not None:
            yield both

    def _guesses(
        self, claim: ClaimSpec, sifted: Sequence[Sifted], others: Sequence[Other] = ()
    ) -> list[Guess]:
        return guesses(
            self.room,
            claim,
            sifted,
            is_need=self.is_need,
            waits=self.waits,
            others=others,
            together=self.together,
        )

    def _of_one_thing(self, claim: ClaimSpec, found: Sequence[Guess]) -> Iterator[Change]:
        later: list[tuple[Change, Guess]] = []
        settled: set[tuple[object, ...]] = set()
        trials: Counter[bool] = Counter()
        for guess in found:
            is_wait = guess.kind is ChangeKind.WAIT
            if guess.family in settled or trials[is_wait] == (MOST_WAITS if is_wait else MOST_TRIALS):
                continue
            trials[is_wait] += 1
            change = self._try(guess)
            if change is None:
                continue
            if change.now:
                settled.add(guess.family)
                yield change
            else:
                later.append((change, guess))
        several = None if _WAIT in settled else self._wait_for_several(claim, found)
        if several is not None:
            yield several
        for change, guess in later:
            if guess.family not in settled:
                settled.add(guess.family)
                yield change

    def _try(self, guess: Guess) -> Change | None:
        """The change, if the claim is placed with it: beside what is in use, or else in an empty world."""
        room = self.room
        taken = room.taken_without(guess.ended) if guess.ended else room.taken
        placed = room.place(guess.claim, taken, guess.together)
        now = placed is not None
        if placed is None and room.holdings and not (self.waits or guess.ended):
            placed = room.place(guess.claim, room.untaken, guess.together)
        if placed is None:
            return None
        words = guess.words
        if guess.kind is ChangeKind.SHARING:
            words += self._sizes_words(placed.allocation.ids)
        return Change(
            guess.kind,
            words,
            guess.claim,
            placed.node,
            placed.allocation.ids,
            now,
            guess.ended,
            guess.together,
        )

    def _sizes_words(self, ids: Sequence[DeviceId]) -> str:
        """What is given instead: another way to share can mean much less of a card."""
        given = [each for each in self.room.candidates if each.listed.id in ids]
        sizes = sorted({each.listed.memory for each in given if each.listed.memory}, reverse=True)
        said = " and ".join(in_words(size) for size in sizes[:_MOST_SIZES])
        each = " each" if len(given) > 1 else ""
        return f", which gives {cards_words(given)} of {said}{each}" if said else ""

    def _of_two_things(self, found: Sequence[Guess]) -> Change | None:
        """Two small changes that together are enough, where one alone is not."""
        first = [
            each for each in found if each.kind is not ChangeKind.WAIT and each.together == self.together
        ]
        for guess in first[:_MOST_FIRST]:
            more = self._guesses(guess.claim, sift_all(self.room, guess.claim))
            for other in more[:_MOST_SECOND]:
                change = None if other.family == guess.family else self._try(other)
                if change is not None:
                    return replace(change, words=f"{guess.words}, and {other.words}")
        return None

    def _wait_for_several(self, claim: ClaimSpec, found: Sequence[Guess]) -> Change | None:
        """The fewest that have to end where one is not enough: as many as it takes, less those in vain."""
        room, together = self.room, self.together
        ended: list[Holding] = []
        placed = None
        for guess in (each for each in found if each.kind is ChangeKind.WAIT):
            if placed is not None or len(ended) == _MOST_ENDED:
                break
            ended += guess.ended
            placed = room.place(claim, room.taken_without(ended), together)
        if placed is None:
            return None
        for each in tuple(ended):
            rest = [other for other in ended if other is not each]
            if (again := room.place(claim, room.taken_without(rest), together)) is not None:
                ended, placed = rest, again
        who = ", ".join(each.who for each in ended)
        words = f"wait for {len(ended)} to end: {who}" if len(ended) > 1 else f"wait for {who} to end"
        kind, devices = ChangeKind.WAIT, placed.allocation.ids
        return Change(
            kind, words, claim, placed.node, devices, now=True, ended=tuple(ended), together=together
        )


_WAIT: Final = ("wait",)
