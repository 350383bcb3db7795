"""Sentences that several causes share."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.model import Position
from allotment.kubernetes.follow.part import Part

BY_ITSELF: Final = "nothing: it goes on by itself"
ADMINISTRATOR: Final = "whoever runs the cluster"


def anew(part: Part) -> str:
    """How its Job is made anew: one that is there keeps what it was made with."""
    job = f"-n {part.namespace} {fields.name(part.owner)}"
    return f"`kubectl delete job {job}`, and `allot apply --again {part.name}`"


def ask_on(part: Part) -> str:
    """Where the devices are told of."""
    return f"`allot why {part.name} --cluster` says which devices there are, and what would fit"


def listed(names: Collection[str], most: int = 3) -> str:
    """The first of some names, and how many more there are."""
    shown = list(dict.fromkeys(names))
    rest = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def quoted(names: Sequence[str], most: int = 3) -> str:
    """The same as code."""
    return listed([f"`{name}`" for name in names], most)


def place_words(position: Position | None) -> str:
    """Which place it has among those that wait."""
    if position is None:
        return ""
    if position.of == 1:
        return "; nothing else waits in this queue"
    return f"; it is number {position.place} of {position.of} that wait in this queue"


def short(message: str, most: int = 200) -> str:
    """A message on one line, without what is too long to help."""
    plain = " ".join(message.split())
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"


def is_are(number: int) -> str:
    """The verb."""
    return "is" if number == 1 else "are"
