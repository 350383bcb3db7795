"""Changes of one thing that might make a claim fit: guesses, each with how small it is; others try them.

A change is read off the devices: the next value of memory or of an attribute that one of them has, the count
that a node has, the taint that is on them, the claim that holds them. Changes of one clause are a family, of
which the smallest that works is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

from allotment.devices.card_shares import MEMORY
from allotment.devices.catalogue import by_product_name
from allotment.devices.claims import AllocationMode, ClaimSpec, ExactRequest, Toleration
from allotment.devices.classes import CPU_CLASS
from allotment.needs.cards import CardChoice, card_selectors
from allotment.needs.clauses import Candidate, Clause, Kind, clauses_of
from allotment.needs.memory import memory_selectors
from allotment.needs.nearest import LEAST_SHOWN, in_gi
from allotment.needs.same import same_words
from allotment.needs.select import unguarded
from allotment.planning.why.guess import MOST_VALUES, ChangeKind, Guess, Other, other_values
from allotment.planning.why.near_cards import cards_named, how_far
from allotment.planning.why.room import Room
from allotment.planning.why.sieve import taint_words
from allotment.planning.why.steps import Sifted
from allotment.platform.need import MemoryRange
from allotment.quantities import GI, parse_bytes
from allotment.quantities.kubernetes import Quantity

_LEAST_RATIO: Final = 0.01


def guesses(
    room: Room,
    claim: ClaimSpec,
    sifted: Sequence[Sifted],
    *,
    is_need: bool,
    waits: bool,
    others: Iterable[Other] = (),
    together: int = 1,
) -> list[Guess]:
    """Every change of one thing that is worth trying, the smallest first.

    For a claim that ``waits`` the end of those who hold devices is one; no other gets any further by it.
    """
    found = list(_waiting(room, claim, sifted)) if waits else []
    several = len(sifted) > 1
    for each in sifted:
        guessing = _Guessing(room, claim, each, is_need=is_need, several=several)
        found += guessing.all()
    found += _constraints(claim, is_need=is_need)
    found += [Guess(each.kind, each.words, each.claim, each.size, (each.kind,)) for each in others]
    found = [replace(guess, together=together) for guess in found]
    for fewer in range(together - 1, 0, -1):
        size = 0.3 + 0.3 * (together - fewer) / together
        words = f"write `min: {fewer}` (asked: {together} together)"
        found.append(Guess(ChangeKind.COUNT, words, claim, size, ("together",), together=fewer))
    return sorted(found, key=lambda guess: guess.size)


def _waiting(room: Room, claim: ClaimSpec, sifted: Sequence[Sifted]) -> Iterator[Guess]:
    """Waiting for one of those who hold something, the one with the least first."""
    would = {candidate.listed.id for found in sifted for candidate in found.would}
    cards = {device[:2] for device in would}
    for holding in room.holdings:
        ids = holding.allocation.ids
        concerned = sum(device in would for device in ids)
        if concerned or any(device[:2] in cards for device in ids):
            size = len(ids) / 1000
            yield Guess(ChangeKind.WAIT, f"wait for {holding.who} to end", claim, size, ("wait",), (holding,))


def _constraints(claim: ClaimSpec, *, is_need: bool) -> Iterator[Guess]:
    for place, constraint in enumerate(claim.constraints):
        left = (*claim.constraints[:place], *claim.constraints[place + 1 :])
        what = "`same`" if is_need else "the constraint"
        words = f"take {what} ({same_words(constraint)}) out"
        changed = replace(claim, constraints=left)
        yield Guess(ChangeKind.CONSTRAINT, words, changed, 0.5, ("constraint", place))


class _Guessing:
    """Changes of one alternative."""

    def __init__(self, room: Room, claim: ClaimSpec, found: Sifted, *, is_need: bool, several: bool) -> None:
        self.room = room
        self.claim = claim
        self.found = found
        self.exact = found.exact
        self.is_need = is_need
        self.prefix = f"`{found.name}`: " if several else ""
        self.near = found.of_class or found.everything

    def all(self) -> Iterator[Guess]:
        yield from self._classes()
        if self.exact.device_class not in self.room.world.classes:
            return
        for clause in clauses_of(self.exact, self.room.world):
            if clause.kind is Kind.MEMORY:
                yield from self._memory(clause)
            elif clause.kind is Kind.CARD:
                yield from self._cards(clause)
            elif clause.kind is Kind.SELECT:
                yield from self._selector(clause)
        yield from self._capacity()
        yield from self._count()
        yield from self._taints()

    def _guess(
        self, kind: ChangeKind, words: str, exact: ExactRequest, size: float, *family: object
    ) -> Guess:
        where = (self.found.name, *(family or (kind,)))
        return Guess(kind, f"{self.prefix}{words}", self._with(exact), size, where)

    def _with(self, exact: ExactRequest) -> ClaimSpec:
        """The claim with this alternative in another form."""
        own, sub = self.found.request, self.found.sub
        if own.exactly is not None:
            changed = replace(own, exactly=exact)
        else:
            subs = tuple(
                replace(each, exactly=exact) if each.name == sub.name else each
                for each in own.first_available
            )
            changed = replace(own, first_available=subs)
        requests = tuple(changed if each is own else each for each in self.claim.requests)
        return replace(self.claim, requests=requests)

    def _in_place(self, clause: Clause, selectors: Sequence[str]) -> ExactRequest:
        """The request with other selectors in the place of a clause's."""
        kept: list[str] = []
        for each in self.exact.selectors:
            if each not in clause.selectors:
                kept.append(each)
            elif each == clause.selectors[0]:
                kept += selectors
        return replace(self.exact, selectors=tuple(kept))

    def _drop(self, clause: Clause, words: str, size: float = 0.7) -> Guess:
        return self._guess(
            ChangeKind.DROP, words, self._in_place(clause, ()), size, clause.kind, clause.selectors
        )

    # ---- clauses that were made from the words of a need

    def _memory(self, clause: Clause) -> Iterator[Guess]:
        told = {each.listed.memory or 0 for each in self.near}
        asked, sizes = clause.memory, sorted(size for size in told if size >= LEAST_SHOWN)
        least = max(asked.at_least or 0, asked.more_than or 0)
        below = [size for size in sizes if size < least or size == asked.more_than]
        for size in reversed(below[-MOST_VALUES:]):
            low = parse_bytes(in_gi(size))
            bounds = replace(asked, at_least=low, more_than=None)
            yield self._of_memory(clause, bounds, 1 - low / (least or 1), is_most=size == sizes[-1])
        if asked.at_most is not None:
            for size in [size for size in sizes if size > asked.at_most][:MOST_VALUES]:
                high = -(-size // GI) * GI
                yield self._of_memory(clause, replace(asked, at_most=high), 1 - asked.at_most / high)
        what = "take `memory` out" if self.is_need else "ask for no amount of memory"
        yield self._drop(clause, what)

    def _of_memory(
        self, clause: Clause, bounds: MemoryRange, ratio: float, *, is_most: bool = False
    ) -> Guess:
        text = in_gi(bounds.at_least or 0)
        if bounds.at_most is not None:
            text = f"{text}..{in_gi(bounds.at_most)}"
        verb = f"write `memory: {text}`" if self.is_need else f"ask for memory of `{text}`"
        exact = self._in_place(clause, memory_selectors(bounds))
        size = max(_LEAST_RATIO, ratio) * 0.6
        asked = clause.words.removeprefix("have ").removesuffix(" of memory")
        words = f"{verb} (asked: {asked}{', and no card here has more' if is_most else ''})"
        return self._guess(ChangeKind.MEMORY, words, exact, size, clause.kind, clause.selectors)

    def _cards(self, clause: Clause) -> Iterator[Guess]:
        named = clause.words.removeprefix("are ")
        products = dict.fromkeys(each.listed.card for each in self.near)
        found = {card.id: card for product in products if (card := by_product_name(product)) is not None}
        asked = cards_named(named)
        nearest = sorted(found.values(), key=lambda card: how_far(card, asked))
        for place, card in enumerate(nearest[: MOST_VALUES * 2]):
            verb = f"write `card: {card.id}`" if self.is_need else f"ask for a card {card.id}"
            exact = self._in_place(clause, card_selectors(CardChoice((card,))))
            words, size = f"{verb} (asked: {named})", 0.55 + place / 1000
            yield self._guess(ChangeKind.CARD, words, exact, size, clause.kind, clause.selectors)
        yield self._drop(clause, "take `card` out" if self.is_need else f"ask for any card, not only {named}")

    # ---- selectors that somebody wrote

    def _selector(self, clause: Clause) -> Iterator[Guess]:
        (selector,) = clause.selectors
        of = " in `select`" if self.is_need else ""
        parts = [each for each in self.found.conditions if each.clause.selectors == clause.selectors]
        for guard in unguarded(selector)[:1]:
            words = f"guard `{guard.key}`, which not every device has: `{guard.guarded}`"
            exact = self._in_place(clause, (guard.guarded,))
            yield self._guess(ChangeKind.GUARD, words, exact, 0.02, clause.kind, selector)
        texts = [text for part in parts for text in part.texts] or [selector]
        for place, text in enumerate(texts):
            for changed, far in other_values(text, self.near):
                new = " && ".join((*texts[:place], changed, *texts[place + 1 :]))
                words = f"write `{changed}` instead of `{text}`{of}"
                exact = self._in_place(clause, (new,))
                yield self._guess(
                    ChangeKind.VALUE, words, exact, 0.05 + 0.5 * far, clause.kind, selector, text
                )
            left = (*texts[:place], *texts[place + 1 :])
            exact = self._in_place(clause, (" && ".join(left),) if left else ())
            words = f"take `{text}` out{' of `select`' if self.is_need else ''}"
            yield self._guess(ChangeKind.DROP, words, exact, 0.7, clause.kind, selector, text)

    # ---- what stands beside the selectors

    def _capacity(self) -> Iterator[Guess]:
        for name, asked in self.exact.capacity.items():
            amounts = {
                text
                for each in self.near
                if name in each.device.capacity
                for text in self._left_of(each, name)
                if 0 < Quantity.parse(text).nanos < Quantity.parse(asked).nanos
            }
            most = Quantity.parse(asked).nanos
            ordered = sorted(amounts, key=lambda text: -Quantity.parse(text).nanos)
            values = {each.device.capacity[name].value for each in self.near if name in each.device.capacity}
            for text in ordered[:MOST_VALUES]:
                ratio = 1 - Quantity.parse(text).nanos / most
                share = self.is_need and name == MEMORY
                if share and parse_bytes(text) < LEAST_SHOWN:
                    continue
                amount = in_gi(parse_bytes(text)) if share or (name == MEMORY and text.isdigit()) else text
                exact = replace(self.exact, capacity={**self.exact.capacity, name: amount})
                words = f"write `share: {amount}`" if share else f"ask for {amount} of `{name}`"
                family = "capacity", name, text in values
                words = f"{words} (asked: {asked})"
                yield self._guess(ChangeKind.CAPACITY, words, exact, ratio * 0.6, *family)

    def _left_of(self, candidate: Candidate, name: str) -> Iterator[str]:
        value = candidate.device.capacity[name].value
        yield value
        held = self.room.taken.capacity_of(candidate.listed.id).get(name, 0)
        left = Quantity.parse(value).nanos - held
        if held and left > 0:
            yield str(left // 10**9)

    def _count(self) -> Iterator[Guess]:
        if self.exact.mode == AllocationMode.ALL:
            exact = replace(self.exact, mode=AllocationMode.EXACT_COUNT, count=1)
            yield self._guess(ChangeKind.COUNT, "ask for 1 instead of all", exact, 0.6)
            return
        asked = self.exact.count
        key = "cpu" if self.exact.device_class == CPU_CLASS else "count"
        on_nodes = self.room.by_node(self.near) if asked > 1 else {}
        most = max(map(len, on_nodes.values()), default=0)
        for count in range(min(asked - 1, most), 0, -1):
            exact = replace(self.exact, count=count)
            size = 0.3 + 0.3 * (asked - count) / asked
            yield self._guess(ChangeKind.COUNT, f"write `{key}: {count}` (asked: {asked})", exact, size)

    def _taints(self) -> Iterator[Guess]:
        tainted = [each for each in self.near if any(taint.blocks for taint in each.device.taints)]
        for words, candidate in {taint_words(each): each for each in tainted}.items():
            more = tuple(
                Toleration(key=taint.key, value=taint.value, effect=taint.effect)
                for taint in candidate.device.taints
                if taint.blocks
            )
            exact = replace(self.exact, tolerations=(*self.exact.tolerations, *more))
            what = f"have the taint {words} lifted" if self.is_need else f"tolerate the taint {words}"
            yield self._guess(ChangeKind.TAINT, what, exact, 0.45, "taint", words)

    def _classes(self) -> Iterator[Guess]:
        asked = self.exact.device_class
        close = get_close_matches(asked, self.room.world.classes, n=1)
        for name in sorted(self.room.world.classes):
            if name in {asked, CPU_CLASS} or self.is_need:
                continue
            exact = replace(self.exact, device_class=name)
            size = 0.1 if name in close else 0.65
            words = f"ask for the device class `{name}` (asked: `{asked}`)"
            yield self._guess(ChangeKind.CLASS, words, exact, size)
