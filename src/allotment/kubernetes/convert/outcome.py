"""What became of each object, and of the whole: plain values that a command shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from allotment.devices.classes import DeviceClass
from allotment.errors import Position
from allotment.kubernetes.convert.draft import Change


class Verdict(StrEnum):
    """What became of an object that has to do with GPUs."""

    CONVERTED = "converted"  # its counts are claims now
    HONOURED = "honoured"  # it stays, and a cluster honours it as it is
    KEPT = "left alone"  # it counts something that cannot become a claim
    NOTED = "unchanged"  # it counts nothing, and there is something to say all the same


@dataclass(frozen=True, slots=True)
class Outcome:
    """An object: where it stands, what became of it, why not more of it, and what to know besides."""

    position: Position
    kind: str
    name: str
    verdict: Verdict
    kept: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The object as people call it."""
        return f"{self.kind} {self.name}".strip()


@dataclass(frozen=True, slots=True)
class Converted:
    """A file: its text afterwards, the lines of a diff with their reasons, and what became of its objects."""

    name: str
    text: str
    changes: tuple[Change, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    classes: tuple[DeviceClass, ...] = field(default=(), hash=False)

    @property
    def is_changed(self) -> bool:
        """Whether any line of it changed."""
        return any(change.sign != " " for change in self.changes)

    @property
    def is_whole(self) -> bool:
        """Whether nothing that counts was left alone."""
        return not any(outcome.kept for outcome in self.outcomes)


@dataclass(frozen=True, slots=True)
class Hunk:
    """A part of a diff: where it begins and how long it is, before and after, and its lines."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    changes: tuple[Change, ...]

    @property
    def header(self) -> str:
        """The hunk's first line, as ``patch`` reads it."""
        old = f"{self.old_start if self.old_count else self.old_start - 1},{self.old_count}"
        new = f"{self.new_start if self.new_count else self.new_start - 1},{self.new_count}"
        return f"@@ -{old} +{new} @@"


def hunks(changes: tuple[Change, ...], around: int = 3) -> Iterator[Hunk]:
    """The changed lines with some lines around them."""
    changed = [number for number, change in enumerate(changes) if change.sign != " "]
    groups: list[list[int]] = []
    for number in changed:
        if groups and number - groups[-1][1] <= 2 * around + 1:
            groups[-1][1] = number
        else:
            groups.append([number, number])
    old = new = 1
    at = 0
    for first, last in groups:
        begins, ends = max(first - around, at), min(last + around + 1, len(changes))
        for change in changes[at:begins]:
            old += change.sign != "+"
            new += change.sign != "-"
        part = changes[begins:ends]
        old_count = sum(change.sign != "+" for change in part)
        new_count = sum(change.sign != "-" for change in part)
        yield Hunk(old, old_count, new, new_count, part)
        old, new, at = old + old_count, new + new_count, ends
