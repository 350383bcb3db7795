"""What an API server finds wrong with an object: where, of which kind, and in which words.

The kinds are the reasons of the causes in the server's answer (``field.ErrorType`` of k8s.io/apimachinery),
the path is written as the server writes it, so that an answer of a real server can be compared with ours.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple, Self, TypeVar

from allotment.devices.server import Server

T = TypeVar("T")
Loc = tuple[str | int, ...]
_SHORTEST_KEY: Final = 16
_ELLIPSIS: Final = "..."


class Reason(StrEnum):
    """The kind of a problem, as the server names it."""

    REQUIRED = "FieldValueRequired"
    INVALID = "FieldValueInvalid"
    NOT_SUPPORTED = "FieldValueNotSupported"
    DUPLICATE = "FieldValueDuplicate"
    TOO_LONG = "FieldValueTooLong"
    TOO_MANY = "FieldValueTooMany"
    FORBIDDEN = "FieldValueForbidden"
    NOT_FOUND = "FieldValueNotFound"
    UNREADABLE = "BadRequest"


class Problem(NamedTuple):
    """One thing that is wrong at a place of an object.

    ``at`` is the exact place where the server names only what is around it. ``tolerated`` says who takes it
    all the same: a cluster may well have such an object.
    """

    loc: Loc
    reason: Reason
    text: str
    hint: str = ""
    at: Loc | None = None
    tolerated: str = ""

    @property
    def place(self) -> Loc:
        """Where to look."""
        return self.loc if self.at is None else self.at

    @property
    def path(self) -> str:
        """Where it is, as the server writes it."""
        return path_of(self.loc)

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


class Key(str):
    """A key of a mapping with names of the user's own: in brackets, and shortened when it is very long."""

    __slots__ = ("longest",)
    longest: int

    def __new__(cls, text: str, longest: int) -> Self:
        """The key; ``longest`` is how much of it is shown."""
        self = super().__new__(cls, text)
        self.longest = max(longest, _SHORTEST_KEY)
        return self

    @property
    def shown(self) -> str:
        """The key, with its middle left out where it is too long."""
        if len(self) <= self.longest:
            return str(self)
        rest = self.longest - len(_ELLIPSIS)
        return self[: (rest + 1) // 2] + _ELLIPSIS + self[len(self) - rest // 2 :]


def path_of(loc: Loc) -> str:
    """A place as the server writes it: ``spec.devices[0].attributes[driverVersion]``."""
    words = (
        f"[{step}]" if isinstance(step, int) else f"[{step.shown}]" if isinstance(step, Key) else f".{step}"
        for step in loc
    )
    return "".join(words).removeprefix(".")


def each(
    listed: Sequence[T],
    loc: Loc,
    look: Callable[[T, Loc], Iterator[Problem]],
    *,
    server: Server,
    most: int | None = None,
    key: Callable[[T], Hashable] | None = None,
    named: str = "",
) -> Iterator[Problem]:
    """What is wrong with the items of a list; of one that is too long nothing else is said.

    Kubernetes 1.34 goes on, and says that two items are alike at the field (``named``) that they have alike.
    """
    goes_on = not server.is_at_least(35)
    if most is not None and len(listed) > most:
        yield too_many(loc, len(listed), most)
        if not goes_on:
            return
    for place, item in enumerate(listed):
        yield from look(item, (*loc, place))
    if key is None:
        return
    below = (named,) if named and goes_on else ()
    seen: set[Hashable] = set()
    for place, item in enumerate(listed):
        name = key(item)
        if name in seen:
            yield Problem((*loc, place, *below), Reason.DUPLICATE, f"Duplicate value: {_quoted(name)}")
        seen.add(name)


def too_many(loc: Loc, count: int, most: int) -> Problem:
    """A list or a mapping with too many entries."""
    return Problem(loc, Reason.TOO_MANY, f"{count} are too many: must have at most {most} items")


def too_long(loc: Loc, most: int) -> Problem:
    """A text with too many bytes."""
    return Problem(loc, Reason.TOO_LONG, f"may not be more than {most} bytes")


def required(loc: Loc, text: str = "") -> Problem:
    """Something that is not there."""
    return Problem(loc, Reason.REQUIRED, text or "Required value")


def invalid(loc: Loc, text: str, hint: str = "") -> Problem:
    """A value that is not right."""
    return Problem(loc, Reason.INVALID, text, hint)


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
