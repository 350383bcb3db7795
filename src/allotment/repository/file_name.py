"""A name written inside a file, where the file's own name is what counts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from allotment.documents.checking import Place
from allotment.documents.shapes import Key, Text
from allotment.errors import Severity


@dataclass(frozen=True, slots=True)
class NameInside:
    """A name that is read past: the file's stem is the name, and a different word inside misleads."""

    def read(self, value: object, place: Place) -> None:
        """Nothing, and a warning."""
        word = Text().read(value, place)
        stem = PurePath(place.check.document.name).stem
        same = (
            "the file's name says it already"
            if word == stem
            else f"the file's name counts, which is `{stem}`"
        )
        message = f"`{place.name}` is not read: {same}"
        place.found("name-in-file", message, "take the line out", key=True, severity=Severity.WARNING)


FILE_NAME_KEYS: Final[dict[str, Key[Any]]] = {"id": Key(NameInside()), "name": Key(NameInside())}
