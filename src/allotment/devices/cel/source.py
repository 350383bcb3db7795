"""The text of an expression, places in it, and errors shown the way cel-go shows them.

``ERROR: <input>:1:7: undefined field 'nope'``, the line, and a caret below: people paste these texts into
search engines, so they are kept to the character.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

LONGEST_SNIPPET: Final = 16_384
NOWHERE: Final = -1


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that is wrong with an expression; ``offset`` counts code points, -1 is nowhere."""

    offset: int
    message: str


class CompileError(Exception):
    """An expression that Kubernetes would refuse; the text is the one that it would give."""

    def __init__(self, text: str, issues: Iterable[Issue] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.issues = tuple(issues)


class Source:
    """An expression's text with its lines."""

    __slots__ = ("_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(index + 1 for index, character in enumerate(text) if character == "\n")]

    def place(self, offset: int) -> tuple[int, int]:
        """Line from 1 and column from 0."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def show(self, issue: Issue) -> str:
        """An issue as cel-go prints it."""
        if issue.offset == NOWHERE:
            return f"ERROR: <input>:-1:0: {issue.message}"
        line, column = self.place(issue.offset)
        if not self.text:
            return f"ERROR: <input>:1:0: {issue.message}"
        head = f"ERROR: <input>:{line}:{column + 1}: {issue.message}"
        snippet = self.text.split("\n")[line - 1].replace("\t", " ")
        if len(snippet.encode()) > LONGEST_SNIPPET:
            return head
        dots = "".join("." if character.isascii() else "\uff0e" for character in snippet[:column])
        pointed = snippet[column : column + 1]
        caret = "^" if not pointed or pointed.isascii() else "\uff3e"
        return f"{head}\n | {snippet}\n | {dots}{caret}"

    def error(self, issues: Iterable[Issue]) -> CompileError:
        """All issues as one error, in the order of their places."""
        found = sorted(issues, key=lambda issue: issue.offset)
        return CompileError("\n".join(self.show(issue) for issue in found), found)
