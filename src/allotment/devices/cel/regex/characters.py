"""Sets of characters: classes, their negation, and what they are without regard to case.

A set is a sorted tuple of inclusive code point ranges. Names of classes are those of RE2: Perl's (``\\d``),
POSIX (``[:alpha:]``) and Unicode categories and a few scripts (``\\p{Lu}``, ``\\p{Greek}``), the last from
``unicodedata``.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import cache
from typing import Final

Ranges = tuple[tuple[int, int], ...]

LAST: Final = 0x10FFFF
ANY: Final[Ranges] = ((0, LAST),)
NO_NEWLINE: Final[Ranges] = ((0, 9), (11, LAST))

_DIGIT: Final[Ranges] = ((0x30, 0x39),)
_WORD: Final[Ranges] = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: Final[Ranges] = ((9, 10), (12, 13), (32, 32))
PERL: Final = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
POSIX: Final[dict[str, Ranges]] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0, 0x7F),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": _DIGIT,
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((9, 13), (32, 32)),
    "upper": ((0x41, 0x5A),),
    "word": _WORD,
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}
_SCRIPTS: Final = {
    name: name.upper() + " "
    for name in (
        *("Latin", "Greek", "Cyrillic", "Arabic", "Hebrew", "Armenian", "Georgian", "Thai", "Hiragana"),
        *("Katakana", "Devanagari", "Hangul", "Ethiopic", "Runic"),
    )
}
_FOLDED_ALIKE: Final = {"k": "\u212a", "s": "\u017f", "å": "\u212b"}


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Ranges in order, those that touch made one."""
    result: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(result[-1][1], high))
        else:
            result.append((low, high))
    return tuple(result)


def negated(ranges: Ranges) -> Ranges:
    """Every other character."""
    result = []
    start = 0
    for low, high in merged(ranges):
        if low > start:
            result.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        result.append((start, LAST))
    return tuple(result)


def contains(ranges: Ranges, code: int) -> bool:
    """Whether a character is in the set."""
    place = bisect_right(ranges, (code, LAST + 1)) - 1
    return place >= 0 and ranges[place][1] >= code


def is_word(character: str) -> bool:
    """Whether ``\\b`` counts the character as part of a word: ASCII only."""
    return character.isascii() and (character.isalnum() or character == "_")


@cache
def folded(ranges: Ranges) -> Ranges:
    """The set and the other cases of its letters; huge sets hold both cases already."""
    if sum(high - low for low, high in ranges) > 20_000:
        return ranges
    codes: set[int] = set()
    for low, high in ranges:
        for code in range(low, high + 1):
            character = chr(code)
            lower = character.lower()
            for other in (lower, character.upper(), _FOLDED_ALIKE.get(lower, "")):
                if len(other) == 1:
                    codes.update((ord(other), ord(other.lower()) if len(other.lower()) == 1 else code))
    return merged([*ranges, *((code, code) for code in codes)])


@cache
def unicode_class(name: str) -> Ranges | None:
    """The set of a Unicode category or script, or None when there is no such name."""
    if name == "Any":
        return ANY
    if name in _SCRIPTS:
        prefix = _SCRIPTS[name]
        return _codes(lambda character: unicodedata.name(character, "").startswith(prefix))
    if not 0 < len(name) <= 2 or name[0] not in "CLMNPSZ":
        return None
    return _codes(lambda character: unicodedata.category(character).startswith(name)) or None


def _codes(wanted: Callable[[str], bool]) -> Ranges:
    return merged((code, code) for code in range(LAST + 1) if wanted(chr(code)))
