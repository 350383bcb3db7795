"""Lists of indexes as a Job's status writes them: ``0-3,7``."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

MOST: Final = 100_000


def indexes_of(written: str) -> frozenset[int]:
    """The indexes of a list; what cannot be read of it is left out."""
    return frozenset(_indexes(written))


def _indexes(written: str) -> Iterator[int]:
    for part in written.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (last or first).isdecimal() and len(first) < 8 and len(last) < 8:
            yield from range(int(first), min(int(last or first), MOST) + 1)


def written(indexes: Collection[int], most: int = 8) -> str:
    """Indexes as a person reads them: ``0 to 3, 7``."""
    spans: list[list[int]] = []
    for each in sorted(indexes):
        if spans and each == spans[-1][1] + 1:
            spans[-1][1] = each
        else:
            spans.append([each, each])
    words = [str(first) if first == last else f"{first} to {last}" for first, last in spans[:most]]
    return ", ".join(words) + (" and more" if len(spans) > most else "")
