"""Very many small frozen values at once, without a call of Python for each of them.

A dataclass's own ``__init__`` would be most of what reading a campaign of 100,000 volumes costs. The values
are ordinary ones: only the way in which they are made differs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import fields
from itertools import repeat
from typing import Any, TypeVar

T = TypeVar("T")


def in_bulk(kind: type[T], *columns: Sequence[Any]) -> list[T]:
    """Values of a frozen dataclass with slots and no checks of its own, from a column for each field."""
    values = list(map(object.__new__, repeat(kind, len(columns[0]))))
    for field, column in zip(fields(kind), columns, strict=True):  # type: ignore[arg-type]
        deque(map(getattr(kind, field.name).__set__, values, column), maxlen=0)
    return values
