"""A pattern's text to a tree, refusing what RE2 refuses, with the words of Go's ``regexp/syntax``.

Limits are RE2's: a repetition counts to 1,000 at most, nested ones included, and trees are at most 1,000
deep.
"""

from __future__ import annotations

from typing import Final

from allotment.devices.cel.regex import characters
from allotment.devices.cel.regex.characters import Ranges
from allotment.devices.cel.regex.escapes import Escapes, Flags
from allotment.devices.cel.regex.nodes import (
    MOST_REPEATS,
    Assertion,
    Characters,
    Choice,
    Node,
    RegexError,
    Repeat,
    Sequence,
    check_repeats,
)

DEEPEST: Final = 200


_PLACES: Final = {"A": "begin", "z": "end", "b": "word", "B": "no-word"}
_QUANTIFIERS: Final = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def parse_regex(pattern: str) -> Node:
    """The tree of a pattern."""
    parser = _Parser(pattern)
    node = parser.choice(Flags(), 0)
    if parser.at < len(pattern):
        raise RegexError("unexpected )", pattern)
    check_repeats(node, 1, pattern)
    return node


class _Parser(Escapes):
    """A recursive descent over the pattern; ``at`` is the next character."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.names: set[str] = set()

    def choice(self, flags: Flags, depth: int) -> Node:
        """Alternatives up to a closing parenthesis or the end."""
        if depth > DEEPEST:
            raise RegexError("expression nests too deeply", self.pattern)
        parts = [self.sequence(flags, depth)]
        while self.pattern[self.at : self.at + 1] == "|":
            self.at += 1
            parts.append(self.sequence(flags, depth))
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self, flags: Flags, depth: int) -> Node:
        parts: list[Node] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            if self.pattern.startswith("\\Q", self.at):
                parts.extend(self.quoted(flags))
                continue
            atom = self.atom(flags, depth)
            if atom is not None:
                parts.append(self.repeated(atom, flags))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def quoted(self, flags: Flags) -> list[Node]:
        """``\\Q...\\E``, taken literally."""
        text, _, _ = self.pattern[self.at + 2 :].partition("\\E")
        self.at = min(len(self.pattern), self.at + 4 + len(text))
        return [_letter(ord(character), flags) for character in text]

    def atom(self, flags: Flags, depth: int) -> Node | None:  # noqa: PLR0911 - one line a kind of atom
        character = self.pattern[self.at]
        if character == "(":
            return self.group(flags, depth)
        if character == "[":
            return self.bracket(flags)
        if character == "\\":
            return self.escape(flags)
        if character in _QUANTIFIERS:
            raise RegexError("missing argument to repetition operator", character)
        if character == "{" and (counts := self.counts()):
            raise RegexError("missing argument to repetition operator", counts[2])
        self.at += 1
        if character == ".":
            return Characters(characters.ANY if flags.s else characters.NO_NEWLINE)
        if character == "^":
            return Assertion("line-begin" if flags.m else "begin")
        if character == "$":
            return Assertion("line-end" if flags.m else "end")
        return _letter(ord(character), flags)

    def repeated(self, atom: Node, flags: Flags) -> Node:
        """The quantifiers behind an atom: at most one, with an optional ``?``."""
        start = self.at
        quantifier = self.quantifier()
        if quantifier is None:
            return atom
        least, most = quantifier
        greedy = not flags.U
        if self.pattern[self.at : self.at + 1] == "?":
            self.at += 1
            greedy = not greedy
        again = self.at
        if self.quantifier() is not None:
            raise RegexError("invalid nested repetition operator", self.pattern[start : self.at])
        self.at = again
        return Repeat(atom, least, most, greedy)

    def quantifier(self) -> tuple[int, int | None] | None:
        character = self.pattern[self.at : self.at + 1]
        if character in _QUANTIFIERS and character:
            self.at += 1
            return _QUANTIFIERS[character]
        if character != "{" or (counts := self.counts()) is None:
            return None
        least, most, text = counts
        self.at += len(text)
        if least > MOST_REPEATS or (most is not None and (most > MOST_REPEATS or most < least)):
            raise RegexError("invalid repeat count", text)
        return least, most

    def counts(self) -> tuple[int, int | None, str] | None:
        """``{2}``, ``{2,}`` or ``{2,5}`` at this place; anything else is literal text."""
        end = self.pattern.find("}", self.at)
        inner = self.pattern[self.at + 1 : end] if end > 0 else ""
        low, comma, high = inner.partition(",")
        if not (_is_count(low) and (not comma or not high or _is_count(high))):
            return None
        most = int(low) if not comma else int(high) if high else None
        return int(low), most, self.pattern[self.at : end + 1]

    def group(self, flags: Flags, depth: int) -> Node | None:
        inner = flags.copy()
        start = self.at
        self.at += 1
        if self.pattern.startswith("?", self.at):
            if self.pattern.startswith(("?P<", "?<"), self.at) and self.pattern[
                self.at : self.at + 3
            ] not in {"?<=", "?<!"}:
                self.name(start)
            elif not self.flag_group(inner, start):
                flags.i, flags.m, flags.s, flags.U = inner.i, inner.m, inner.s, inner.U
                return None
        node = self.choice(inner, depth + 1)
        if self.at >= len(self.pattern):
            raise RegexError("missing closing )", self.pattern)
        self.at += 1
        return node

    def name(self, start: int) -> None:
        """The name of a group, which nobody asks for but which must be well-formed."""
        self.at = self.pattern.index("<", self.at) + 1
        end = self.pattern.find(">", self.at)
        if end < 0:
            raise RegexError("invalid named capture", self.pattern[start:])
        name = self.pattern[self.at : end]
        if not name or not all(characters.is_word(character) for character in name):
            raise RegexError("invalid named capture", self.pattern[start : end + 1])
        if name in self.names:
            raise RegexError("duplicate capture group name", name)
        self.names.add(name)
        self.at = end + 1

    def flag_group(self, flags: Flags, start: int) -> bool:
        """``(?i)`` sets flags for the rest of the group (False), ``(?i:`` opens a group with them (True)."""
        value = True
        seen = False
        self.at += 1
        while self.at < len(self.pattern):
            character = self.pattern[self.at]
            self.at += 1
            if character in "imsU":
                setattr(flags, character, value)
                seen = True
            elif character == "-" and value:
                value, seen = False, False
            elif character in ":)" and (value or seen):
                return character == ":"
            else:
                break
        raise RegexError("invalid or unsupported Perl syntax", self.pattern[start : self.at])

    def escape(self, flags: Flags) -> Node:
        found = self.class_escape(flags)
        if found is not None:
            return Characters(found)
        letter = self.pattern[self.at + 1 : self.at + 2]
        if letter in _PLACES and letter:
            self.at += 2
            return Assertion(_PLACES[letter])
        return _letter(self.code(), flags)

    def bracket(self, flags: Flags) -> Node:
        """``[...]``: ranges, classes by name, escapes."""
        start = self.at
        self.at += 1
        negative = self.pattern[self.at : self.at + 1] == "^"
        self.at += negative
        ranges: list[tuple[int, int]] = []
        first = True
        while self.pattern[self.at : self.at + 1] != "]" or first:
            if self.at >= len(self.pattern):
                raise RegexError("missing closing ]", self.pattern[start:])
            first = False
            ranges.extend(self.bracket_item(flags, start))
        self.at += 1
        result = characters.merged(ranges)
        if flags.i:
            result = characters.folded(result)
        return Characters(characters.negated(result) if negative else result)

    def bracket_item(self, flags: Flags, start: int) -> Ranges:
        if self.pattern.startswith("[:", self.at) and (end := self.pattern.find(":]", self.at + 2)) > 0:
            text = self.pattern[self.at : end + 2]
            name = text[2:-2].removeprefix("^")
            if name not in characters.POSIX:
                raise RegexError("invalid character class range", text)
            self.at = end + 2
            ranges = characters.POSIX[name]
            return characters.negated(ranges) if text.startswith("[:^") else ranges
        if self.pattern[self.at] == "\\" and (found := self.class_escape(flags)) is not None:
            return found
        item = self.at
        low = self.bracket_code(start)
        high = low
        if self.pattern[self.at : self.at + 1] == "-" and self.pattern[self.at + 1 : self.at + 2] not in {
            "]",
            "",
        }:
            self.at += 1
            high = self.bracket_code(start)
            if high < low:
                raise RegexError("invalid character class range", self.pattern[item : self.at])
        return ((low, high),)

    def bracket_code(self, start: int) -> int:
        if self.at >= len(self.pattern):
            raise RegexError("missing closing ]", self.pattern[start:])
        if self.pattern[self.at] == "\\":
            return self.code()
        self.at += 1
        return ord(self.pattern[self.at - 1])


def _letter(code: int, flags: Flags) -> Characters:
    ranges = ((code, code),)
    return Characters(characters.folded(ranges) if flags.i else ranges)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")
