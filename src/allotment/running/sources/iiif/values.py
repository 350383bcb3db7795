"""Values of a manifest as archives write them: one or a list of one, texts in languages, numbers as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

LONGEST_LABEL = 200


class ManifestError(Exception):
    """The manifest is not one that can be read; the message says what is wrong in it, and where."""


def each(value: object) -> tuple[Any, ...]:
    """What stands where one thing or a list of them may stand."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, list) else (value,)


def first_of(value: Mapping[str, Any], *keys: str) -> Any:
    """The value of the first of these keys that is there, else None."""
    return next((value[key] for key in keys if value.get(key) is not None), None)


def id_of(value: Mapping[str, Any]) -> str | None:
    """The address that names something; None when it has none."""
    found = first_of(value, "id", "@id")
    return found if isinstance(found, str) and found.strip() else None


def types_of(value: Mapping[str, Any]) -> frozenset[str]:
    """What something says that it is, without the prefixes of version 2 (``sc:Manifest``)."""
    words = (word for word in each(first_of(value, "type", "@type")) if isinstance(word, str))
    return frozenset(word.rpartition(":")[2] for word in words)


def number_of(value: object) -> int | None:
    """A number of pixels; None when there is none."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        value = int(value.strip()[:9])
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        return None
    return int(value)


def label_of(value: object) -> str:
    """A label as one short line: the first text in it, whatever the language."""
    words = "".join(character if character.isprintable() else " " for character in next(_texts(value), ""))
    return " ".join(words.split())[:LONGEST_LABEL]


def _texts(value: object, depth: int = 3) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip():
            yield value
    elif depth and isinstance(value, list):
        for item in value:
            yield from _texts(item, depth - 1)
    elif depth and isinstance(value, dict):
        within = [value["@value"]] if "@value" in value else value.values()
        for item in within:
            yield from _texts(item, depth - 1)
