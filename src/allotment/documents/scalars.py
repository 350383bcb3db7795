"""What a plain scalar means, to a reader of YAML 1.2 and to one of YAML 1.1.

We read the core schema of YAML 1.2 (yaml.org/spec/1.2.2, chapter 10.3). PyYAML, and most of what else people
have on their machines, reads YAML 1.1 (yaml.org/type), in which ``no`` is a boolean, ``1:20`` is 80 and
``0012345`` is octal. Where the two differ, a file means one thing here and another there: such a scalar is a
trap, and a check names it with what each of them reads.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import Final, TypeVar

Plain = str | int | float | bool | None
T = TypeVar("T")

NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
TRUE: Final = frozenset({"true", "True", "TRUE"})
FALSE: Final = frozenset({"false", "False", "FALSE"})
OLD_TRUE: Final = frozenset({"yes", "Yes", "YES", "on", "On", "ON"})
OLD_FALSE: Final = frozenset({"no", "No", "NO", "off", "Off", "OFF"})
MERGE: Final = "<<"
LONGEST_NUMBER: Final = 64

# A plain scalar that begins or ends otherwise is text to every reader: looks that cost next to nothing.
BEGINS: Final = frozenset({"", *"0123456789+-.~<", *"nNtTfFyYoO"})
ENDS: Final = frozenset({"", *"0123456789._~<", *"abcdefABCDEF", *"nNlLsSoOZ"})
_WORDS: Final = NULLS | TRUE | FALSE | OLD_TRUE | OLD_FALSE | {MERGE}

_INT: Final = re.compile(r"[-+]?[0-9]+")
_OCTAL: Final = re.compile(r"0o[0-7]+")
_HEX: Final = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITE: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)")
_NAN: Final = re.compile(r"\.(?:nan|NaN|NAN)")

_OLD_BINARY: Final = re.compile(r"[-+]?0b[01_]+")
_OLD_OCTAL: Final = re.compile(r"[-+]?0[0-7_]+")
_OLD_INT: Final = re.compile(r"[-+]?(?:0|[1-9][0-9_]*)")
_OLD_HEX: Final = re.compile(r"[-+]?0x[0-9a-fA-F_]+")
_OLD_BASE_60: Final = re.compile(r"[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+")
_OLD_FLOAT: Final = re.compile(r"(?:[-+]?[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?")
_OLD_FLOAT_60: Final = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*")
_OLD_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_OLD_MOMENT: Final = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
    r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?"
)

# Looser than the forms above, and quick: what it does not match is text to every reader.
MAYBE_NOT_TEXT: Final = re.compile(
    r"[-+]?(?:\.?[0-9][0-9_:.]*+(?:[eE][-+]?[0-9]+)?|0[xob][0-9a-fA-F_]+|\.(?:inf|Inf|INF|nan|NaN|NAN))"
    r"|[0-9]{4}-[0-9][0-9]?-.*+"
    "|(?=[~<nNtTfFyYoO])(?:" + "|".join(sorted(_WORDS - {""})) + ")|"
)


def may_not_be_text(text: str) -> bool:
    """Whether some reader of YAML may read this plain scalar as something else than text."""
    return text[:1] in BEGINS and text[-1:] in ENDS and MAYBE_NOT_TEXT.fullmatch(text) is not None


def read_plain(text: str) -> Plain:
    """The value of a plain scalar in the core schema of YAML 1.2."""
    if not may_not_be_text(text):
        return text
    if text in NULLS:
        return None
    if text in TRUE:
        return True
    if text in FALSE:
        return False
    return _first_reading(_FORMS, text)


def is_trap(text: str) -> bool:
    """Whether readers of YAML disagree on this plain scalar, or JSON cannot hold what it says."""
    if not may_not_be_text(text):
        return False
    ours = read_plain(text)
    if isinstance(ours, float) and not math.isfinite(ours):
        return True
    theirs = read_old(text)
    return type(ours) is not type(theirs) or ours != theirs


def read_old(text: str) -> Plain | date:
    """The value of a plain scalar in YAML 1.1, as PyYAML reads it."""
    if text in NULLS or text == MERGE:
        return None
    if text in TRUE or text in OLD_TRUE:
        return True
    if text in FALSE or text in OLD_FALSE:
        return False
    return _first_reading(_OLD_FORMS, text)


def described(value: Plain | date) -> str:
    """A value in the words of a message: ``the number 80``, ``true``, ``nothing``."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, date):
        return f"the date {value}"
    return "text"


def readings(text: str) -> str:
    """What YAML reads in a plain scalar: one reading, or both where readers disagree."""
    ours = read_plain(text)
    if text == MERGE:
        return "a merge of another mapping"
    if not is_trap(text) or (isinstance(ours, float) and not math.isfinite(ours)):
        return described(ours)
    return f"{described(ours)} by YAML 1.2 and {described(read_old(text))} by YAML 1.1"


def _based(base: int) -> Callable[[str], Plain]:
    def read(text: str) -> Plain:
        try:
            value = int(text.replace("_", "").lstrip("+-"), base)
        except ValueError:  # a prefix without digits, such as 0x_
            return text
        return -value if text.startswith("-") else value

    return read


def _sixties(text: str) -> Plain:
    value: float = 0
    for part in text.replace("_", "").lstrip("+-").split(":"):
        value = value * 60 + (float(part) if "." in part else int(part))
    return -value if text.startswith("-") else value


def _old_float(text: str) -> Plain:
    digits = text.replace("_", "")
    return float(digits) if any(char.isdigit() for char in digits) else text


def _old_date(text: str) -> Plain | date:
    year, month, rest = text.split("-", 2)
    day = rest[:2] if rest[:2].isdigit() else rest[:1]
    try:
        return date(int(year), int(month), int(day))
    except ValueError:  # a form of a date that no calendar has
        return text


def _infinite(text: str) -> Plain:
    return -math.inf if text.startswith("-") else math.inf


def _nan(_text: str) -> Plain:
    return math.nan


def _first_reading(forms: Iterable[tuple[re.Pattern[str], Callable[[str], T]]], text: str) -> T | str:
    """The text by the first form that it has, or as it is; a number too long to be meant as one is text."""
    if len(text) > LONGEST_NUMBER:
        return text
    return next((read(text) for form, read in forms if form.fullmatch(text)), text)


_FORMS: Final[tuple[tuple[re.Pattern[str], Callable[[str], Plain]], ...]] = (
    (_INT, int),
    (_OCTAL, lambda text: int(text[2:], 8)),
    (_HEX, lambda text: int(text, 16)),
    (_FLOAT, float),
    (_INFINITE, _infinite),
    (_NAN, _nan),
)
_OLD_FORMS: Final[tuple[tuple[re.Pattern[str], Callable[[str], Plain | date]], ...]] = (
    (_OLD_BINARY, _based(2)),
    (_OLD_OCTAL, _based(8)),
    (_OLD_INT, _based(10)),
    (_OLD_HEX, _based(16)),
    (_OLD_BASE_60, _sixties),
    (_OLD_FLOAT, _old_float),
    (_OLD_FLOAT_60, _sixties),
    (_INFINITE, _infinite),
    (_NAN, _nan),
    (_OLD_DAY, _old_date),
    (_OLD_MOMENT, _old_date),
)
