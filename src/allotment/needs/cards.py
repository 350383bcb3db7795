"""Kinds of card as CEL selectors, and back into words.

A kind is an id of the catalogue, which stands for the product names that such a card reports, taken as a
whole; an architecture; or bounds on the compute capability. Names are alternatives, bounds hold together:
``[H100-SXM, Ada, cc>=9.0, cc<11]`` is an H100 SXM, or any Ada Lovelace, or what lies between the bounds.
Where the platform has a device class for a kind, and nothing else is named, the class says it instead: quota
is counted by classes. Every key is guarded: a card that does not publish it is no such card, and no error.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from allotment.devices.catalogue import Card, cards, find
from allotment.devices.classes import COUNTED_MIG_CLASS, DeviceClass
from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.devices.nvml_words import ARCHITECTURES
from allotment.errors import UsageError
from allotment.platform.model import Card as Kind
from allotment.platform.need import Need
from allotment.quantities.semver import Semver

Kinds = Mapping[str, Kind]
"""The platform's kinds of card, by the names that it gives them."""

NO_KINDS: Final[Kinds] = {}

_BOUND: Final = re.compile(r"cc(>=|<=|==|>|<)([0-9]{1,3})(?:\.([0-9]{1,2}))?")
_COMPARED: Final[Mapping[str, Callable[[int, int], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}
_ATTRIBUTES: Final = f"device.attributes['{NVIDIA_DRIVER}']"
_NAME: Final = f"{_ATTRIBUTES}.?productName.orValue('')"
_ARCHITECTURE: Final = f"{_ATTRIBUTES}.?architecture.orValue('')"
_CAPABILITY: Final = f"{_ATTRIBUTES}.?cudaComputeCapability.orValue(semver('0.0.0'))"
_HAS_CAPABILITY: Final = f"has({_ATTRIBUTES}.cudaComputeCapability)"


class UnknownCardError(Exception):
    """A word that names no kind of card, or several; ``hint`` says what to write."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class CardChoice:
    """What ``card:`` means: catalogue cards, architectures, and bounds as ``(operator, version)``."""

    cards: tuple[Card, ...] = ()
    architectures: tuple[str, ...] = ()
    bounds: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every product name of the cards."""
        return tuple(dict.fromkeys(name for card in self.cards for name in card.names.value))


def chosen_cards(words: tuple[str, ...], kinds: Kinds = NO_KINDS) -> CardChoice:
    """What the words mean together; UnknownCardError for the first that means nothing."""
    found: list[Card] = []
    architectures: list[str] = []
    bounds: list[tuple[str, str]] = []
    for word in words:
        if bound := _BOUND.fullmatch(word):
            bounds.append((bound[1], f"{int(bound[2])}.{int(bound[3] or 0)}.0"))
        elif word in kinds:
            found.append(_card(kinds[word].card))
        elif architecture := _architecture(word):
            architectures.append(architecture)
        else:
            found.append(_card(word))
    return CardChoice(
        tuple(dict.fromkeys(found)), tuple(dict.fromkeys(architectures)), tuple(dict.fromkeys(bounds))
    )


def card_selectors(choice: CardChoice) -> tuple[str, ...]:
    """CEL expressions that exactly these cards pass; none when any will do."""
    ways = []
    if choice.cards:
        ways.append(_one_of(_NAME, choice.names))
    if choice.architectures:
        ways.append(_one_of(_ARCHITECTURE, choice.architectures))
    if choice.bounds:
        asked = [f"{_CAPABILITY}.compareTo(semver('{version}')) {sign} 0" for sign, version in choice.bounds]
        upper_only = all(sign.startswith("<") for sign, _ in choice.bounds)
        ways.append(" && ".join([_HAS_CAPABILITY, *asked] if upper_only else asked))
    if len(ways) == 1:
        return (ways[0],)
    return (" || ".join(f"({way})" if "&&" in way else way for way in ways),) if ways else ()


def class_of(choice: CardChoice, kinds: Kinds) -> str | None:
    """The platform's device class for exactly this choice, where it has one."""
    if choice.architectures or choice.bounds or len(choice.cards) != 1:
        return None
    (card,) = choice.cards
    classes = (kind.device_class for kind in kinds.values() if _is(kind, card))
    return next(classes, None)


def classes_of(kinds: Kinds) -> tuple[DeviceClass, ...]:
    """The device classes that the platform's kinds of card stand for, as they should be defined."""
    found: dict[str, DeviceClass] = {}
    for kind in kinds.values():
        try:
            card = _card(kind.card)
        except UnknownCardError:
            continue
        selectors = (
            f"device.driver == '{card.driver}'",
            f"{_ATTRIBUTES}.?type.orValue('') == 'gpu'",
            *card_selectors(CardChoice((card,))),
        )
        found.setdefault(kind.device_class, DeviceClass(kind.device_class, selectors))
    return tuple(found.values())


COUNTED_SLICES: Final = DeviceClass(
    COUNTED_MIG_CLASS,
    (f"device.driver == '{NVIDIA_DRIVER}'", f"{_ATTRIBUTES}.?type.orValue('') == 'mig'"),
)
"""Slices of cards for KAI, which counts a claim by whether the name of its class has ``gpu`` in it."""


def classes_for(kinds: Kinds, *, by_name: bool) -> tuple[DeviceClass, ...]:
    """All classes of ours that claims name; ``by_name``: where KAI counts them."""
    return (*classes_of(kinds), *((COUNTED_SLICES,) if by_name else ()))


def admits(choice: CardChoice, card: Card) -> bool:
    """Whether a card of the catalogue is one of those that were named, or lies between the bounds."""
    if card in choice.cards or card.architecture.value in choice.architectures:
        return True
    own = Semver.parse(card.compute_capability.value)
    return bool(choice.bounds) and all(
        _COMPARED[sign](own.compare(Semver.parse(version)), 0) for sign, version in choice.bounds
    )


def cards_taken(need: Need, kinds: Kinds = NO_KINDS) -> tuple[Card, ...]:
    """The catalogue's cards that a need takes by kind and memory; none where it names an unknown one."""
    try:
        choice = chosen_cards(need.card, kinds)
    except UnknownCardError:
        return ()
    least = 0 if need.memory is None else need.memory.at_least or (need.memory.more_than or -1) + 1
    most = None if need.memory is None else need.memory.at_most
    return tuple(
        card
        for card in cards()
        if card.memory
        and (not need.card or admits(choice, card))
        and card.memory >= least
        and (most is None or card.memory <= most)
    )


def card_words(selector: str) -> str | None:
    """``H100-SXM-80 or A100-80`` for a selector that was made here; None for any other."""
    said = []
    for way in selector.split(" || "):
        words = _in_words(way.removeprefix("(").removesuffix(")") if way.startswith("(") else way)
        if words is None:
            return None
        said.append(words)
    return " or ".join(said)


def _one_of(key: str, values: tuple[str, ...]) -> str:
    if len(values) == 1:
        return f"{key} == '{values[0]}'"
    return f"{key} in [{', '.join(repr(value) for value in values)}]"


_LISTED: Final = re.compile(r"(?P<key>.*?) (?:== '(?P<one>[^']*)'|in \[(?P<several>.*)\])")
_BOUNDED: Final = re.compile(
    re.escape(_CAPABILITY) + r"\.compareTo\(semver\('([0-9]+\.[0-9]+)\.0'\)\) (>=|<=|==|>|<) 0"
)


def _in_words(way: str) -> str | None:
    bounds = [_BOUNDED.fullmatch(part) for part in way.split(" && ") if part != _HAS_CAPABILITY]
    if bounds and all(bounds):
        return " and ".join(f"cc{bound[2]}{bound[1]}" for bound in bounds if bound)
    listed = _LISTED.fullmatch(way)
    if listed is None or listed["key"] not in _READERS:
        return None
    values = re.findall(r"'([^']*)'", listed["several"] or f"'{listed['one']}'")
    return " or ".join(dict.fromkeys(_READERS[listed["key"]](value) for value in values))


def _by_product_name(name: str) -> str:
    return next((card.id for card in cards() if name in card.names.value), name)


_READERS: Final[Mapping[str, Callable[[str], str]]] = {_NAME: _by_product_name, _ARCHITECTURE: str}


def _card(word: str) -> Card:
    try:
        return find(word)
    except UsageError as error:
        known = {name.lower(): name for name in (*(card.id for card in cards()), *ARCHITECTURES)}
        closest = get_close_matches(word.lower(), known, n=1)
        hint = f"did you mean `{known[closest[0]]}`?" if closest and "several" not in error.what else ""
        raise UnknownCardError(error.what, hint or error.remedy) from None


def _architecture(word: str) -> str | None:
    """An architecture by its name, or by the first word of it: ``Ada`` for Ada Lovelace."""
    lower = word.lower()
    return next((name for name in ARCHITECTURES if lower in {name.lower(), name.lower().split()[0]}), None)


def _is(kind: Kind, card: Card) -> bool:
    try:
        return _card(kind.card) is card
    except UnknownCardError:
        return False
