"""What stands behind a backslash in a pattern: single characters and classes."""

from __future__ import annotations

from typing import Final

from allotment.devices.cel.regex import characters
from allotment.devices.cel.regex.characters import Ranges
from allotment.devices.cel.regex.nodes import RegexError

_SIMPLE: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


class Flags:
    """Case folding, dot and newline, lines, greed: ``i``, ``s``, ``m``, ``U``."""

    __slots__ = ("U", "i", "m", "s")

    def __init__(self) -> None:
        self.i = self.m = self.s = self.U = False

    def copy(self) -> Flags:
        """The same flags, to be changed within a group."""
        other = Flags()
        other.i, other.m, other.s, other.U = self.i, self.m, self.s, self.U
        return other


class Escapes:
    """Reads escapes of a pattern; ``at`` is the next character."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def class_escape(self, flags: Flags) -> Ranges | None:
        """``\\d`` and its kin, or ``\\p{...}``, at this place."""
        letter = self.pattern[self.at + 1 : self.at + 2]
        if letter.lower() in characters.PERL and letter:
            self.at += 2
            ranges = characters.PERL[letter.lower()]
        elif letter in ("p", "P"):
            ranges = self.unicode()
        else:
            return None
        if flags.i:
            ranges = characters.folded(ranges)
        return characters.negated(ranges) if letter.isupper() else ranges

    def unicode(self) -> Ranges:
        """``\\p{...}``: a category or a script."""
        start = self.at
        name = self.pattern[self.at + 2 : self.at + 3]
        self.at += 3
        if name == "{":
            end = self.pattern.find("}", self.at)
            if end < 0:
                raise RegexError("invalid character class range", self.pattern[start:])
            name = self.pattern[self.at : end]
            self.at = end + 1
        negative = name.startswith("^")
        ranges = characters.unicode_class(name.removeprefix("^"))
        if ranges is None:
            raise RegexError("invalid character class range", self.pattern[start : self.at])
        return characters.negated(ranges) if negative else ranges

    def code(self) -> int:
        """The one character that an escape stands for."""
        start = self.at
        letter = self.pattern[self.at + 1 : self.at + 2]
        self.at += 2
        if not letter:
            raise RegexError("trailing backslash at end of expression", "")
        if letter in "1234567" and self.pattern[self.at : self.at + 1] not in tuple("01234567"):
            raise RegexError("invalid escape sequence", f"\\{letter}")
        if letter in "01234567":
            digits = letter
            while len(digits) < 3 and self.pattern[self.at : self.at + 1] in tuple("01234567"):
                digits += self.pattern[self.at]
                self.at += 1
            return int(digits, 8)
        if letter == "x":
            return self.hexadecimal(start)
        if letter in _SIMPLE:
            return _SIMPLE[letter]
        if ord(letter) < 128 and not letter.isalnum():
            return ord(letter)
        raise RegexError("invalid escape sequence", f"\\{letter}")

    def hexadecimal(self, start: int) -> int:
        """``\\x41`` or ``\\x{1F600}``."""
        if self.pattern[self.at : self.at + 1] == "{":
            digits, closed, _ = self.pattern[self.at + 1 :].partition("}")
            self.at += len(digits) + 1 + len(closed)
        else:
            digits, closed = self.pattern[self.at : self.at + 2], "x"
            self.at += 2
        if digits and closed and len(digits) <= 8 and set(digits) <= set("0123456789abcdefABCDEF"):
            code = int(digits, 16)
            if code <= characters.LAST and (len(digits) == 2 or self.pattern[start + 2] == "{"):
                return code
        raise RegexError("invalid escape sequence", self.pattern[start : self.at])
