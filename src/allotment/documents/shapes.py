"""Shapes: what a value of a file may be, as tables, with a sentence for each way of missing it.

A shape reads a plain value at a place and hands back what it means, or records what is wrong and raises
`RefusedError`. They are our own, and few: a general validator's wording would leak into messages, it knows
nothing of how a scalar was written, and importing one costs more than reading a long campaign's beginning.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

from allotment.documents.checking import Place, RefusedError, shown
from allotment.errors import did_you_mean

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
LARGEST_INTEGER = 2**31 - 1
UNKNOWN = "unknown-key"
NUMBER_HINT = "write the number in plain digits"


class Shape(Protocol[T_co]):
    """Anything that reads a value at a place."""

    def read(self, value: object, place: Place) -> T_co:
        """What the value means; raises `RefusedError` after recording why it means nothing."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text; ``look`` may refuse it at its place. Empty text is refused unless it says something."""

    look: Callable[[str, Place], None] | None = None
    longest: int = 1000
    empty: bool = False

    def read(self, value: object, place: Place) -> str:
        """The text as it stands."""
        if not isinstance(value, str):
            place.refuse_type(value, "text")
        place.refuse_trap('put it in quotes: "' + value + '"')
        if not value and not self.empty:
            place.refuse("no-value", f"`{place.name}` is empty", "fill it in, or take the key out")
        if len(value) > self.longest:
            message = f"`{place.name}` has {len(value):,} characters, and may have {self.longest:,}"
            place.refuse("too-long", message, "shorten it")
        if self.look is not None:
            self.look(value, place)
        return value


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number within bounds; neither true nor 5.0 nor "5" is one."""

    least: int = 0
    most: int = LARGEST_INTEGER

    def read(self, value: object, place: Place) -> int:
        """The number."""
        place.refuse_trap(NUMBER_HINT)
        if not isinstance(value, int) or isinstance(value, bool):
            place.refuse_type(value, "a whole number")
        if not self.least <= value <= self.most:
            bounds = (
                f"from {self.least} to {self.most:,}"
                if self.most < LARGEST_INTEGER
                else f"{self.least} or more"
            )
            place.refuse(
                "out-of-range", f"`{place.name}` is {value}, and must be {bounds}", "change the number"
            )
        return value


@dataclass(frozen=True, slots=True)
class Number:
    """A number within bounds, whole or not."""

    least: float = 0
    most: float = math.inf

    def read(self, value: object, place: Place) -> float:
        """The number."""
        place.refuse_trap(NUMBER_HINT)
        if not isinstance(value, int | float) or isinstance(value, bool):
            place.refuse_type(value, "a number")
        if not self.least <= value <= self.most:
            bounds = f"from {self.least} to {self.most}" if self.most < math.inf else f"{self.least} or more"
            place.refuse(
                "out-of-range", f"`{place.name}` is {value}, and must be {bounds}", "change the number"
            )
        return value


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    def read(self, value: object, place: Place) -> bool:
        """The truth."""
        place.refuse_trap("write true or false")
        if not isinstance(value, bool):
            place.refuse_type(value, "true or false")
        return value


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words; ``what`` names their kind in the message about another word."""

    words: Collection[str]
    what: str
    rule: str = "unknown-word"

    def read(self, value: object, place: Place) -> str:
        """The word."""
        text = Text().read(value, place)
        if text not in self.words:
            hint = did_you_mean(text, self.words)
            place.refuse(self.rule, f"`{shown(text)}` is no {self.what}", hint)
        return text


@dataclass(frozen=True, slots=True)
class ListOf(Generic[T]):
    """A list of one shape; empty only where that says something."""

    item: Shape[T]
    empty: bool = False
    single: bool = False

    def read(self, value: object, place: Place) -> tuple[T, ...]:
        """The items; all of them are looked at before the list is left."""
        if self.single and not isinstance(value, list | dict):
            return (self.item.read(value, place),)
        if not isinstance(value, list):
            place.refuse_type(value, "a list")
        if not value and not self.empty:
            place.refuse("empty-list", f"`{place.name}` is an empty list", "put something in it")
        return tuple(_all(self.item.read, ((item, place / index) for index, item in enumerate(value))))


@dataclass(frozen=True, slots=True)
class TableOf(Generic[T]):
    """A mapping with names of the user's own as keys; ``name`` may refuse one."""

    item: Shape[T]
    name: Callable[[str, Place], None] | None = None
    empty: bool = True

    def read(self, value: object, place: Place) -> dict[str, T]:
        """The values by name."""
        if not isinstance(value, dict):
            place.refuse_type(value, "a mapping")
        if not value and not self.empty:
            place.refuse("empty-list", f"`{place.name}` names nothing", "name at least one")
        pairs = _all(self._pair, ((pair, place / pair[0]) for pair in value.items()))
        return dict(pairs)

    def _pair(self, pair: tuple[str, object], place: Place) -> tuple[str, T]:
        place.refuse_trap_key()
        if self.name is not None:
            self.name(pair[0], place)
        return pair[0], self.item.read(pair[1], place)


@dataclass(frozen=True, slots=True)
class Free:
    """Anything that JSON can hold, passed on as it is; scalars that readers disagree on are warned of."""

    def read(self, value: object, place: Place) -> Any:
        """The value itself."""
        place.traps_below()
        return value


@dataclass(frozen=True, slots=True)
class FreeTable:
    """A mapping that is passed on as it is."""

    def read(self, value: object, place: Place) -> dict[str, Any]:
        """The mapping itself."""
        if not isinstance(value, dict):
            place.refuse_type(value, "a mapping")
        place.traps_below()
        return value


@dataclass(frozen=True, slots=True)
class Key(Generic[T]):
    """A key of a record.

    ``required`` says what to do when it is missing; ``nullable`` lets null stand for absence.
    """

    shape: Shape[T]
    required: str = ""
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Record(Generic[T]):
    """A mapping with known keys, each with a shape; ``build`` makes the value from what was read.

    ``look`` may refuse a key that is not known in its own words.
    """

    keys: Mapping[str, Key[Any]]
    build: Callable[[dict[str, Any], Place], T]
    hints: Mapping[str, str] | None = None
    look: Callable[[str, Place], None] | None = None

    def read(self, value: object, place: Place) -> T:
        """The value, when every key could be read."""
        values, complete = self.read_keys(value, place)
        if not complete:
            raise RefusedError
        return self.build(values, place)

    def read_keys(self, value: object, place: Place) -> tuple[dict[str, Any], bool]:
        """What could be read, by key, and whether that is everything; absent keys are not in it."""
        if not isinstance(value, dict):
            place.refuse_type(value, "a mapping with the keys " + ", ".join(f"`{key}`" for key in self.keys))
        unknown = [key for key in value if key not in self.keys]
        for key in unknown:
            if not place.has_told_enough(UNKNOWN):
                self._tell_unknown(key, place / key)
        missing = [name for name, key in self.keys.items() if key.required and name not in value]
        for name in missing:
            place.found("missing-key", f"`{(place / name).name}` is missing", self.keys[name].required)
        values: dict[str, Any] = {}
        complete = not unknown and not missing
        for name, written in value.items():
            key = self.keys.get(name)
            if key is None or (written is None and key.nullable):
                continue
            try:
                values[name] = key.shape.read(written, place / name)
            except RefusedError:
                complete = False
        return values, complete

    def _tell_unknown(self, key: str, place: Place) -> None:
        try:
            place.refuse_trap_key()
            if self.look is not None:
                self.look(key, place)
        except RefusedError:
            return
        hint = (self.hints or {}).get(key) or _meant(key, tuple(self.keys))
        place.found(UNKNOWN, f"there is no key `{shown(key)}` here", hint, key=True)


@lru_cache(maxsize=256)
def _meant(key: str, known: tuple[str, ...]) -> str:
    """What somebody meant who wrote a key a little wrong, at very many places perhaps."""
    return did_you_mean(key, known)


def _all(read: Callable[[Any, Place], T], places: Iterable[tuple[Any, Place]]) -> list[T]:
    """Every value read; raises only after the last, when any was refused."""
    values: list[T] = []
    refused = False
    for value, place in places:
        try:
            values.append(read(value, place))
        except RefusedError:
            refused = True
    if refused:
        raise RefusedError
    return values
