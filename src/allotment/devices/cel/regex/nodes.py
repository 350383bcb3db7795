"""The tree of a pattern, and the error that refuses one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from allotment.devices.cel.regex.characters import Ranges

MOST_REPEATS: Final = 1000


class RegexError(ValueError):
    """A pattern that RE2 refuses; the message is Go's."""

    def __init__(self, what: str, where: str) -> None:
        super().__init__(f"error parsing regexp: {what}: `{where}`")


@dataclass(frozen=True, slots=True)
class Characters:
    """One character out of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Assertion:
    """A place: ``begin``, ``end``, ``line-begin``, ``line-end``, ``word``, ``no-word``."""

    kind: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; nothing at all when empty."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several, the earlier preferred."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """Between ``least`` and ``most`` times (None: without end)."""

    part: Node
    least: int
    most: int | None
    greedy: bool


Node = Characters | Assertion | Sequence | Choice | Repeat


def check_repeats(node: Node, times: int, pattern: str) -> None:
    """Repetitions within repetitions multiply, and RE2 stops at 1,000."""
    if isinstance(node, Sequence | Choice):
        for part in node.parts:
            check_repeats(part, times, pattern)
    elif isinstance(node, Repeat):
        count = node.most if node.most is not None else node.least
        times *= max(count, 1)
        if times > MOST_REPEATS:
            raise RegexError("invalid repeat count", pattern)
        check_repeats(node.part, times, pattern)
