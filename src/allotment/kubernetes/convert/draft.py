"""A text that is edited while each line remembers where it came from, and why it changed.

A diff of it needs no guessing: a line with an origin is as it was, and an origin that is gone was taken out
for reasons that are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its end: the number that it had in the original, or the reasons why it is there."""

    text: str
    origin: int | None = None
    reasons: tuple[str, ...] = ()


class Change(NamedTuple):
    """A line of a diff: a space for what stays, ``-`` for what goes, ``+`` for what comes."""

    sign: str
    text: str
    reasons: tuple[str, ...] = ()


@dataclass(slots=True)
class Draft:
    """A text under edit."""

    original: tuple[str, ...]
    lines: list[Line]
    gone: dict[int, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Draft:
        """A text that nobody has edited yet."""
        lines = tuple(split_lines(text))
        return cls(lines, [Line(each, number) for number, each in enumerate(lines)])

    @property
    def text(self) -> str:
        """The text as it stands."""
        return "".join(line.text for line in self.lines)

    def replace(self, start: int, end: int, new: str, reason: str) -> None:
        """Put other text between two offsets; lines that are whole before and after it are not touched."""
        first, begins = self._line_at(start)
        last, offset = first, begins
        while last < len(self.lines) and (offset < end or (last == first and start > begins)):
            offset += len(self.lines[last].text)
            last += 1
        old = self.lines[first:last]
        text = "".join(line.text for line in old)
        made = split_lines(text[: start - begins] + new + text[end - begins :])
        reasons = tuple(dict.fromkeys([*(each for line in old for each in line.reasons), reason]))
        kept = {line.text: line for line in old}
        for line in old:
            if line.origin is not None and line.text not in made:
                self.gone[line.origin] = reasons
        self.lines[first:last] = [
            kept.pop(each) if each in kept else Line(each, None, reasons) for each in made
        ]

    def _line_at(self, offset: int) -> tuple[int, int]:
        begins = 0
        for number, line in enumerate(self.lines):
            if begins + len(line.text) > offset:
                return number, begins
            begins += len(line.text)
        if self.lines and not self.lines[-1].text.endswith("\n"):
            return len(self.lines) - 1, begins - len(self.lines[-1].text)
        return len(self.lines), begins

    def changes(self) -> Iterator[Change]:
        """Every line of the original and of the text as it stands, in the order of a diff."""
        at = 0
        for line, following in zip(self.lines, self._following(), strict=True):
            while at < following and (line.origin is not None or at in self.gone):
                yield self._removed(at)
                at += 1
            if line.origin is None:
                yield Change("+", line.text, line.reasons)
            else:
                yield Change(" ", line.text)
                at += 1
        for number in range(at, len(self.original)):
            yield self._removed(number)

    def _removed(self, number: int) -> Change:
        return Change("-", self.original[number], self.gone.get(number, ()))

    def _following(self) -> list[int]:
        """For each line the number of the next that is as it was, or its own."""
        found, following = [], len(self.original)
        for line in reversed(self.lines):
            following = following if line.origin is None else line.origin
            found.append(following)
        return found[::-1]


def split_lines(text: str) -> list[str]:
    """The lines with their ends, as editors count them."""
    return _LINE.findall(text)
