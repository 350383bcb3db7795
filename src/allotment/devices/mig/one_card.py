"""What one card can serve at once: every full mix of a load's parts, exactly, and where each part lies.

Stretches are intervals, so that a card is filled from its first slot to its last: what can still be served
from a slot on depends on nothing but that slot, and whether the media engines are gone. A mix says how many
pods of each part; a mix that lies within another one is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from allotment.devices.catalogue import Card
from allotment.devices.mig.load import Part
from allotment.devices.mig.seats import Stretch, slots_of, stretches

Mix = tuple[int, ...]
State = tuple[int, bool]  # the next slot, and whether the media engines are gone


class OneCard:
    """A kind of card under the parts of a load; ``most`` is how many of each could be wanted."""

    def __init__(self, card: Card, parts: Sequence[Part], most: Mix) -> None:
        self.card = card
        self._slots = slots_of(card)
        self._most = most
        self._from: dict[int, list[tuple[int, Stretch]]] = {}
        for number, part in enumerate(parts):
            for stretch in stretches(card, part):
                self._from.setdefault(stretch.start, []).append((number, stretch))
        self._mixes: dict[State, frozenset[Mix]] = {}
        self.mixes: tuple[Mix, ...] = tuple(sorted(self._reach((0, False)), reverse=True))

    def can(self, mix: Mix) -> bool:
        """Whether the card can serve so many of each at once."""
        return _is_within(mix, self.mixes)

    def places(self, mix: Mix) -> list[tuple[int, Stretch]]:
        """Where each pod of a mix lies, as far up the slots as it goes: the low ones are the most useful."""
        left, state, found = mix, (0, False), []
        while any(left):
            if state[0] < self._slots and _is_within(left, self._reach((state[0] + 1, state[1]))):
                state = (state[0] + 1, state[1])
                continue
            number, stretch = next(
                step for step in self._steps(state, left) if self._leaves(left, step, state)
            )
            found.append((number, stretch))
            left, state = _less(left, number), _after(state, stretch)
        return found

    def _steps(self, state: State, left: Mix) -> Iterable[tuple[int, Stretch]]:
        return (
            (number, stretch)
            for number, stretch in self._from.get(state[0], ())
            if left[number] and not (stretch.media and state[1])
        )

    def _leaves(self, left: Mix, step: tuple[int, Stretch], state: State) -> bool:
        number, stretch = step
        return _is_within(_less(left, number), self._reach(_after(state, stretch)))

    def _reach(self, state: State) -> frozenset[Mix]:
        """The full mixes of what lies from a slot on."""
        if state not in self._mixes:
            self._mixes[state] = self._reached(state)
        return self._mixes[state]

    def _reached(self, state: State) -> frozenset[Mix]:
        none = (0,) * len(self._most)
        if state[0] >= self._slots:
            return frozenset((none,))
        found = set(self._reach((state[0] + 1, state[1])))
        for number, stretch in self._steps(state, self._most):
            for mix in self._reach(_after(state, stretch)):
                if mix[number] < self._most[number]:
                    found.add((*mix[:number], mix[number] + 1, *mix[number + 1 :]))
        return frozenset(full_mixes(found))


def full_mixes(mixes: Iterable[Mix]) -> list[Mix]:
    """The mixes that lie within no other one."""
    found: list[Mix] = []
    for mix in sorted(set(mixes), key=lambda each: (-sum(each), each)):
        if not _is_within(mix, found):
            found.append(mix)
    return found


def _is_within(mix: Mix, mixes: Iterable[Mix]) -> bool:
    return any(all(own <= other for own, other in zip(mix, each, strict=True)) for each in mixes)


def _after(state: State, stretch: Stretch) -> State:
    return state[0] + stretch.size, state[1] or stretch.media


def _less(mix: Mix, number: int) -> Mix:
    return (*mix[:number], mix[number] - 1, *mix[number + 1 :])
