"""A pattern's tree to steps: a small program whose threads are run side by side.

After Thompson (1968): every step is a character to be read, a fork, a place to be checked, or the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from allotment.devices.cel.regex.characters import Ranges
from allotment.devices.cel.regex.nodes import (
    Assertion,
    Characters,
    Choice,
    Node,
    RegexError,
    Repeat,
    Sequence,
)

MOST_STEPS: Final = 20_000


@dataclass(slots=True)
class Step:
    """One step. ``ranges``: reads a character; ``check``: a place; ``next`` and ``other``: where to go on."""

    ranges: Ranges | None = None
    check: str = ""
    next: int = -1
    other: int = -1
    is_end: bool = False


def build_program(node: Node, pattern: str) -> tuple[Step, ...]:
    """The steps of a tree; the first is the start."""
    builder = _Builder(pattern)
    builder.add(node)
    builder.emit(Step(is_end=True))
    return tuple(builder.steps)


class _Builder:
    """Writes steps one after the other; a fork prefers ``next``."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.steps: list[Step] = []

    def emit(self, step: Step) -> Step:
        if len(self.steps) >= MOST_STEPS:
            raise RegexError("expression too large", self.pattern)
        self.steps.append(step)
        if step.next < 0:
            step.next = len(self.steps)
        return step

    def add(self, node: Node) -> None:
        if isinstance(node, Characters):
            self.emit(Step(ranges=node.ranges))
        elif isinstance(node, Assertion):
            self.emit(Step(check=node.kind))
        elif isinstance(node, Sequence):
            for part in node.parts:
                self.add(part)
        elif isinstance(node, Choice):
            self.choice(node)
        else:
            self.repeat(node)

    def choice(self, node: Choice) -> None:
        leaving: list[Step] = []
        for part in node.parts[:-1]:
            fork = self.emit(Step())
            self.add(part)
            leaving.append(self.emit(Step()))
            fork.other = len(self.steps)
        self.add(node.parts[-1])
        for step in leaving:
            step.next = len(self.steps)

    def repeat(self, node: Repeat) -> None:
        for _ in range(node.least):
            self.add(node.part)
        if node.most is None:
            start = len(self.steps)
            fork = self.emit(Step())
            self.add(node.part)
            self.emit(Step(next=start))
            self.aim([fork], greedy=node.greedy)
            return
        forks = []
        for _ in range(node.most - node.least):
            forks.append(self.emit(Step()))
            self.add(node.part)
        self.aim(forks, greedy=node.greedy)

    def aim(self, forks: list[Step], *, greedy: bool) -> None:
        """Lets forks leave for here: as the second wish when greedy, as the first when not."""
        here = len(self.steps)
        for fork in forks:
            fork.other = here
            if not greedy:
                fork.next, fork.other = fork.other, fork.next
