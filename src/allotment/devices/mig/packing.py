"""The best that a fleet can do for a load: exact on a card, and over all cards where there are few states.

"Best" is, in this order: as many kinds of pods as possible get a seat (only where ``every_kind`` asks for it,
as a layout that stays must), the most pods, the most memory asked for, the fewest cards begun. Over all cards
every reachable state is kept while there are few; beyond that the load is spread first-fit-decreasing, in the
opposite order, and card by card with the fullest mix, and the best of these and of the scheduler's own first
fit is taken. So it is never worse than first fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from allotment.devices.catalogue import Card
from allotment.devices.mig.first_fit import first_fit
from allotment.devices.mig.fleet import FleetCard
from allotment.devices.mig.load import Load
from allotment.devices.mig.one_card import Mix, OneCard
from allotment.devices.mig.seats import Seat, seat_profile, slots_of, stretches

MOST_STEPS = 300_000
Value = tuple[int, int, int, int]
Shares = dict[int, Mix]  # the mix of each card that is begun


@dataclass(frozen=True, slots=True)
class Packing:
    """Who sits where. ``exact`` says that every way was looked at, and none is better."""

    seats: tuple[Seat, ...]
    exact: bool


def best_packing(fleet: Sequence[FleetCard], load: Load, *, every_kind: bool = False) -> Packing:
    """The best seats that the fleet has for the load."""
    packer = _Packer(fleet, load, every_kind=every_kind)
    shares = packer.exactly()
    if shares is not None:
        found = [packer.seats(each) for each in (packer.tidy(shares), shares)]
        return Packing(max(found, key=packer.value), exact=True)
    tried = [packer.seats(each) for each in packer.roughly()]
    tried.append(first_fit(fleet, load))
    return Packing(max(tried, key=packer.value), exact=False)


class _Packer:
    def __init__(self, fleet: Sequence[FleetCard], load: Load, *, every_kind: bool) -> None:
        self._fleet = fleet
        self._load = load
        self._every_kind = every_kind
        self._none: Mix = (0,) * len(load.parts)
        self._size = tuple(_size(fleet, load, number) for number in range(len(load.parts)))
        self._kinds: dict[str, OneCard] = {}
        for each in fleet:
            if each.card.id not in self._kinds:
                most = tuple(min(count, slots_of(each.card)) for count in load.counts)
                self._kinds[each.card.id] = OneCard(each.card, load.parts, most)

    def value(self, seats: Sequence[Seat]) -> Value:
        """How good it is."""
        counts = [0] * len(self._none)
        for seat in seats:
            counts[seat.part] += 1
        return self._value(tuple(counts), len({seat.card for seat in seats}))

    def exactly(self) -> Shares | None:
        """The best over all cards; None when there are too many states to look at."""
        layers: list[dict[Mix, tuple[int, Mix, Mix]]] = []  # state: cards begun, the state before, the mix
        states: dict[Mix, int] = {self._none: 0}
        order = self._worth_a_look()[::-1]  # of equally good ways the last found begins the first cards
        steps = 0
        for at in order:
            layer: dict[Mix, tuple[int, Mix, Mix]] = {}
            mixes = self._kinds[self._fleet[at].card.id].mixes
            steps += len(states) * (len(mixes) + 1)
            if steps > MOST_STEPS:
                return None
            for state, begun in states.items():
                _keep(layer, state, (begun, state, self._none))
                for mix in mixes:
                    after = self._sum(state, mix)
                    if after != state:
                        _keep(layer, after, (begun + 1, state, mix))
            layers.append(layer)
            states = {state: begun for state, (begun, _, _) in layer.items()}
        state = max(states, key=lambda each: self._value(each, states[each]))
        shares: Shares = {}
        for at, layer in zip(reversed(order), reversed(layers), strict=True):
            _, before, _ = layer[state]
            shares[at] = tuple(now - then for now, then in zip(state, before, strict=True))
            state = before
        return {at: shares[at] for at in order if any(shares[at])}

    def tidy(self, shares: Shares) -> Shares:
        """The same pods with as much room as possible on the last cards, if that works out."""
        served = tuple(map(sum, zip(self._none, *shares.values(), strict=True)))
        return self._spread(self._descending(), served)

    def roughly(self) -> Iterator[Shares]:
        """Good guesses, each by a rule of its own."""
        descending = self._descending()
        yield self._spread(descending, self._load.counts)
        yield self._spread(descending[::-1], self._load.counts)
        yield self._spread(descending[::-1], self._load.counts, first=descending)
        yield self._fullest()

    def seats(self, shares: Shares) -> tuple[Seat, ...]:
        """The mixes of the cards as seats: what is cut where."""
        found = []
        for at, mix in sorted(shares.items()):
            card = self._fleet[at].card
            for number, stretch in self._kinds[card.id].places(mix):
                profile = seat_profile(card, self._load.parts[number], stretch)
                found.append(Seat(at, number, stretch.start, profile))
        return tuple(found)

    def _value(self, served: Mix, begun: int) -> Value:
        kinds = sum(count > 0 for count in served) if self._every_kind else 0
        memory = sum(count * size for count, size in zip(served, self._size, strict=True))
        return kinds, sum(served), memory, -begun

    def _descending(self) -> list[int]:
        """The parts of the load, the largest first."""
        return sorted(range(len(self._none)), key=lambda number: -self._size[number])

    def _worth_a_look(self) -> list[int]:
        """Of cards of one kind no more than there are pods."""
        by_kind = groupby(
            sorted(range(len(self._fleet)), key=lambda at: self._fleet[at].card.id),
            key=lambda at: self._fleet[at].card.id,
        )
        found = [at for _, group in by_kind for at in list(group)[: self._load.total]]
        return sorted(found)

    def _sum(self, state: Mix, mix: Mix) -> Mix:
        return tuple(
            min(count, had + more) for had, more, count in zip(state, mix, self._load.counts, strict=True)
        )

    def _spread(self, order: Iterable[int], counts: Mix, first: Sequence[int] = ()) -> Shares:
        """Each pod on the first card that still has room; one of each kind of ``first`` goes before."""
        shares: Shares = {}
        left = list(counts)
        for number in first:
            left[number] -= self._seat_some(shares, number, 1)
        for number in order:
            self._seat_some(shares, number, left[number])
        return shares

    def _seat_some(self, shares: Shares, number: int, count: int) -> int:
        seated = 0
        for at, each in enumerate(self._fleet):
            kind = self._kinds[each.card.id]
            while seated < count:
                mix = shares.get(at, self._none)
                more = (*mix[:number], mix[number] + 1, *mix[number + 1 :])
                if not kind.can(more):
                    break
                shares[at] = more
                seated += 1
        return seated

    def _fullest(self) -> Shares:
        """Card by card the mix that serves the most of what is left."""
        shares: Shares = {}
        served = self._none
        for at, each in enumerate(self._fleet):
            mixes = self._kinds[each.card.id].mixes
            after = max((self._sum(served, mix) for mix in mixes), key=lambda state: self._value(state, 0))
            if after != served:
                shares[at] = tuple(now - then for now, then in zip(after, served, strict=True))
                served = after
        return shares


def _keep(layer: dict[Mix, tuple[int, Mix, Mix]], state: Mix, found: tuple[int, Mix, Mix]) -> None:
    """Of two ways to a state the one with fewer cards."""
    if state not in layer or found[0] < layer[state][0]:
        layer[state] = found


def _size(fleet: Sequence[FleetCard], load: Load, number: int) -> int:
    """How large a part of the load is, in bytes: what it asks for, or the least share that serves it."""
    part = load.parts[number]
    if part.at_least:
        return part.at_least
    cards: dict[str, Card] = {each.card.id: each.card for each in fleet}
    shares = [
        (card.memory or 1) * stretch.size // slots_of(card)
        for card in cards.values()
        for stretch in stretches(card, part)
    ]
    return min(shares, default=0)
