"""Running a pattern over a text, in time linear in the text, whatever the pattern.

Whether a text matches is asked most: sets of threads become states of an automaton that is built as it is
needed and kept, and answers are remembered by text, since devices repeat themselves. Where a match lies is
found by running the threads themselves in order of preference, as Go does (leftmost, then first).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from allotment.devices.cel.regex import characters
from allotment.devices.cel.regex.parsing import parse_regex
from allotment.devices.cel.regex.program import Step, build_program

MOST_STATES: Final = 2_000
MOST_ANSWERS: Final = 1_000


class _State:
    """Threads that wait for a character, and what stood before: what is known of the text so far."""

    __slots__ = ("after", "at_end", "before", "threads")

    def __init__(self, threads: tuple[int, ...], before: str | None) -> None:
        self.threads = threads
        self.before = before
        self.after: dict[str, _State | None] = {}
        self.at_end: bool | None = None


class Regex:
    """A compiled pattern: ``matches`` for whether, ``find`` and ``find_all`` for where."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._steps = build_program(parse_regex(pattern), pattern)
        self._states: dict[tuple[tuple[int, ...], str | None], _State] = {}
        self._start = self._state((0,), None)
        self._answers: dict[str, bool] = {}

    def matches(self, text: str) -> bool:
        """Whether the pattern matches anywhere in the text."""
        answer = self._answers.get(text)
        if answer is None:
            answer = self._search(text)
            if len(self._answers) >= MOST_ANSWERS:
                self._answers.clear()
            self._answers[text] = answer
        return answer

    def _search(self, text: str) -> bool:
        state = self._start
        for character in text:
            try:
                following = state.after[character]
            except KeyError:
                following = self._advance(state, character)
            if following is None:
                return True
            state = following
        if state.at_end is None:
            state.at_end = self._settle(state.threads, state.before, None)[1]
        return state.at_end

    def _advance(self, state: _State, character: str) -> _State | None:
        """The state after one more character; None once the pattern has matched."""
        waiting, ended = self._settle(state.threads, state.before, character)
        if ended:
            state.after[character] = None
            return None
        code = ord(character)
        following = [
            self._steps[at].next for at in waiting if characters.contains(self._steps[at].ranges or (), code)
        ]
        threads = tuple(dict.fromkeys([*following, 0]))
        kind = "\n" if character == "\n" else "a" if characters.is_word(character) else " "
        if len(self._states) >= MOST_STATES:
            self._states.clear()
            self._start = self._state((0,), None)
        state.after[character] = result = self._state(threads, kind)
        return result

    def _state(self, threads: tuple[int, ...], before: str | None) -> _State:
        return self._states.setdefault((threads, before), _State(threads, before))

    def _settle(
        self, threads: tuple[int, ...], before: str | None, after: str | None
    ) -> tuple[list[int], bool]:
        """Threads driven on to where they read a character, and whether one has reached the end."""
        seen: set[int] = set()
        waiting: list[int] = []
        stack = list(reversed(threads))
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            step = self._steps[at]
            if step.is_end:
                return waiting, True
            if step.ranges is not None:
                waiting.append(at)
            elif not step.check or _holds(step.check, before, after):
                if step.other >= 0:
                    stack.append(step.other)
                stack.append(step.next)
        return waiting, False

    def find(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """Where the leftmost match lies that begins at ``start`` or later."""
        best: tuple[int, int] | None = None
        threads: list[tuple[int, int]] = []
        for place in range(start, len(text) + 1):
            before = text[place - 1] if place else None
            after = text[place] if place < len(text) else None
            if best is None:
                threads.append((0, place))
            waiting, ended = self._ordered(threads, before, after)
            if ended is not None:
                best = (ended, place)
            if after is None or not (waiting or best is None):
                break
            threads = _read(self._steps, waiting, ord(after))
        return best

    def _ordered(
        self, threads: list[tuple[int, int]], before: str | None, after: str | None
    ) -> tuple[list[tuple[int, int]], int | None]:
        """Like ``_settle``, with where each thread began; those behind one that has ended are dropped."""
        seen: set[int] = set()
        waiting: list[tuple[int, int]] = []
        stack = list(reversed(threads))
        while stack:
            at, began = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            step = self._steps[at]
            if step.is_end:
                return waiting, began
            if step.ranges is not None:
                waiting.append((at, began))
            elif not step.check or _holds(step.check, before, after):
                if step.other >= 0:
                    stack.append((step.other, began))
                stack.append((step.next, began))
        return waiting, None

    def find_all(self, text: str, limit: int = -1) -> list[str]:
        """Every match in turn; an empty one right behind another does not count."""
        found: list[str] = []
        place, last_end = 0, -1
        while limit < 0 or len(found) < limit:
            span = self.find(text, place) if place <= len(text) else None
            if span is None:
                break
            begin, end = span
            if end > begin or begin != last_end:
                found.append(text[begin:end])
            last_end = end
            place = end if end > begin else end + 1
        return found


@lru_cache(maxsize=512)
def compile_regex(pattern: str) -> Regex:
    """The compiled pattern; RegexError where RE2 refuses it."""
    return Regex(pattern)


def _read(steps: tuple[Step, ...], waiting: list[tuple[int, int]], code: int) -> list[tuple[int, int]]:
    return [
        (steps[at].next, began) for at, began in waiting if characters.contains(steps[at].ranges or (), code)
    ]


def _holds(check: str, before: str | None, after: str | None) -> bool:
    """Whether a place is what an assertion asks for; what stands before may be its kind only."""
    if check == "begin":
        return before is None
    if check == "end":
        return after is None
    if check == "line-begin":
        return before is None or before == "\n"
    if check == "line-end":
        return after is None or after == "\n"
    edge = (before is not None and characters.is_word(before)) != (
        after is not None and characters.is_word(after)
    )
    return edge == (check == "word")
