"""The fields of an API object, one after the other: each is taken, and what nobody takes is kept and told.

Objects of a cluster are not files of ours: newer versions add fields, so that an unknown one is a warning and
is kept. A field of the wrong type is an error at its place; all of an object's are told before it is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from allotment.documents.checking import Place, RefusedError, shown
from allotment.errors import Severity, did_you_mean

T = TypeVar("T")
Reader = Callable[[Any, Place], T]
_LARGEST = 2**63


class Fields:
    """A mapping of the API, while it is read. What is null is absent."""

    def __init__(self, value: object, place: Place) -> None:
        if not isinstance(value, dict):
            place.refuse_type(value, "a mapping")
        self.value: dict[str, Any] = value
        self.place = place
        self._known: set[str] = set()
        self._failed = False

    def take(self, key: str) -> Any:
        """The value as it is; None when there is none."""
        self._known.add(key)
        return self.value.get(key)

    def read(self, key: str, reader: Reader[T], *, required: str = "") -> T | None:
        """What the reader makes of the value; None when there is none, or when it was refused."""
        value = self.take(key)
        if value is None:
            if required:
                self.missing(key, required)
            return None
        try:
            return reader(value, self.place / key)
        except RefusedError:
            self._failed = True
            return None

    def missing(self, key: str, hint: str) -> None:
        """Tell of a field that has to be there."""
        self._failed = True
        place = self.place / key
        place.found("missing-key", f"`{place.name}` is missing", hint)

    def text(self, key: str, *, required: str = "") -> str | None:
        """A text."""
        return self.read(key, text, required=required)

    def number(self, key: str) -> int | None:
        """A whole number of 64 bits."""
        return self.read(key, number)

    def flag(self, key: str) -> bool:
        """True or false; absent is false."""
        return bool(self.read(key, flag))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        return self.each(key, text)

    def each(self, key: str, reader: Reader[T]) -> tuple[T, ...]:
        """What the reader makes of each item of a list."""
        return tuple(self._each(key, reader))

    def _each(self, key: str, reader: Reader[T]) -> Iterator[T]:
        for place, item in enumerate(self.read(key, listed) or ()):
            try:
                yield reader(item, self.place / key / place)
            except RefusedError:
                self._failed = True

    def table(self, key: str, reader: Reader[T]) -> dict[str, T]:
        """What the reader makes of each value of a mapping with names of the user's own."""
        found: dict[str, T] = {}
        for name, item in (self.read(key, mapping) or {}).items():
            try:
                found[name] = reader(item, self.place / key / name)
            except RefusedError:
                self._failed = True
        return found

    def rest(self, also_known: Iterable[str] = ()) -> dict[str, Any]:
        """The fields that nobody took, kept as they are; those that no version has are told."""
        left = {key: value for key, value in self.value.items() if key not in self._known}
        expected = {*self._known, *also_known}
        for key in left:
            if key not in expected:
                words = f"`{shown((self.place / key).name)}` is no field that this version knows; it is kept"
                hint = did_you_mean(key, self._known) if len(self._known) > 1 else ""
                place = self.place / key
                place.found("unknown-field", words, hint, key=True, severity=Severity.WARNING)
        return left

    def done(self) -> None:
        """Leave the object when anything of it was refused."""
        if self._failed:
            raise RefusedError


def text(value: Any, place: Place) -> str:
    """A text as it stands; numbers and words that YAML takes for something else are told."""
    if not isinstance(value, str):
        place.refuse_type(value, "text")
    return value


def number(value: Any, place: Place) -> int:
    """A whole number of 64 bits."""
    if not isinstance(value, int) or isinstance(value, bool):
        place.refuse_type(value, "a whole number")
    if not -_LARGEST <= value < _LARGEST:
        place.refuse("out-of-range", f"{value} is no whole number of 64 bits", "change the number")
    return value


def flag(value: Any, place: Place) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        place.refuse_type(value, "true or false")
    return value


def quantity(value: Any, place: Place) -> str:
    """An amount, as it is written; the API takes a bare number too."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        written = place.check.document.scalar(place.loc)
        return repr(value) if written is None else written.text
    if not isinstance(value, str):
        place.refuse_type(value, "a quantity, such as 40Gi")
    return value


def listed(value: Any, place: Place) -> list[Any]:
    """A list."""
    if not isinstance(value, list):
        place.refuse_type(value, "a list")
    return value


def mapping(value: Any, place: Place) -> dict[str, Any]:
    """A mapping."""
    if not isinstance(value, dict):
        place.refuse_type(value, "a mapping")
    return value
