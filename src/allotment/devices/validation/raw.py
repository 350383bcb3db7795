"""The fields of an object as they stand in a file, while its rules are looked at.

What is not there, is null or is of another type than it should be reads as Go's empty value: types are told
where the object is read (``devices.reading``), and the rules go on with the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Raw = Mapping[str, Any]
_NOTHING: Raw = {}


def part(value: Raw, key: str) -> Raw | None:
    """A mapping that may not be there."""
    found = value.get(key)
    return found if isinstance(found, dict) else None


def table(value: Raw, key: str) -> Raw:
    """A mapping; empty when it is not there."""
    return part(value, key) or _NOTHING


def tables(value: Raw, key: str) -> Sequence[Raw]:
    """A list of mappings."""
    return [item if isinstance(item, dict) else _NOTHING for item in listed(value, key) or ()]


def entries(value: Raw, key: str) -> Iterator[tuple[str, Raw]]:
    """A mapping of mappings, with names of the user's own."""
    for name, item in table(value, key).items():
        yield str(name), item if isinstance(item, dict) else _NOTHING


def listed(value: Raw, key: str) -> list[Any] | None:
    """A list that may not be there."""
    found = value.get(key)
    return found if isinstance(found, list) else None


def texts(value: Raw, key: str) -> Sequence[str]:
    """A list of texts."""
    return [item if isinstance(item, str) else "" for item in listed(value, key) or ()]


def said(value: Raw, key: str) -> str | None:
    """A text that may not be there."""
    found = value.get(key)
    return found if isinstance(found, str) else None


def text(value: Raw, key: str) -> str:
    """A text; empty when it is not there."""
    return said(value, key) or ""


def number(value: Raw, key: str) -> int:
    """A whole number; 0 when it is not there."""
    found = value.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def flag(value: Raw, key: str) -> bool | None:
    """True, false, or not there."""
    found = value.get(key)
    return found if isinstance(found, bool) else None


def quantity(value: Raw, key: str) -> str | None:
    """The text of a quantity that may not be there; the API takes bare numbers too."""
    found = value.get(key)
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return None
    return str(found)
