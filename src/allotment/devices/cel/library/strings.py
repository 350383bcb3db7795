"""Functions of texts: ``lowerAscii``, ``split``, ``substring`` and their kin (cel-go's strings extension,
version 2).

Places and lengths count code points. What lies out of range is an error, with cel-go's words.
"""

from __future__ import annotations

import string
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import values as v
from allotment.devices.cel.declarations import Implementation, Library, Overload, member
from allotment.devices.cel.library.formatting import format_text
from allotment.devices.cel.library.plain_formatting import format_plainly
from allotment.devices.cel.problems import EvaluationError
from allotment.quantities.quoting import ESCAPES

_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_UPPER: Final = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)
_QUOTED: Final = str.maketrans(ESCAPES)
_SPACES: Final = (
    "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def _out_of_range(place: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {place}")


def _character_at(text: str, place: int) -> str:
    if not 0 <= place <= len(text):
        raise _out_of_range(place)
    return text[place : place + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if start < 0:
        raise _out_of_range(start)
    if not part:
        return min(start, len(text))
    return text.find(part, start)


def _last_index_of(text: str, part: str, last: int | None = None) -> int:
    if last is None:
        return text.rfind(part)
    if last < 0:
        raise _out_of_range(last)
    if not part:
        return min(last, len(text))
    return -1 if last >= len(text) else text.rfind(part, 0, last + len(part))


def _index_of_before(text: str, part: str, start: int = 0) -> int:
    """Before cel-go 0.28 nothing was found wherever it was looked for, be it behind the end."""
    return _index_of(text, part, start) if part else start


def _last_index_of_before(text: str, part: str, last: int | None = None) -> int:
    return _last_index_of(text, part, last) if part or last is None else last


def lower_ascii(text: str) -> str:
    """ASCII letters in lower case, others as they are."""
    return text.translate(_LOWER)


def upper_ascii(text: str) -> str:
    """ASCII letters in upper case, others as they are."""
    return text.translate(_UPPER)


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    return text.replace(old, new, count)


def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    if separator:
        return text.split(separator, count - 1 if count > 0 else -1)
    characters = list(text)
    if 0 < count < len(characters):
        return [*characters[: count - 1], "".join(characters[count - 1 :])]
    return characters


def _substring(text: str, start: int, end: int | None = None) -> str:
    last = len(text) if end is None else end
    if end is not None and start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for place in (start, last):
        if not 0 <= place <= len(text):
            raise _out_of_range(place)
    return text[start:last]


def _trim(text: str) -> str:
    return text.strip(_SPACES)


def _join(parts: list[v.Value], separator: str = "") -> str:
    for part in parts:
        if type(part) is not str:
            raise EvaluationError(f"join: invalid input: {v.show(part)}")
    return separator.join(parts)


def _quote(text: str) -> str:
    return f'"{text.translate(_QUOTED)}"'


def _reverse(text: str) -> str:
    return text[::-1]


_S: Final = t.STRING
_I: Final = t.INT
_TEXTS: Final = t.list_of(t.STRING)


def _searches(index_of: Implementation, last_index_of: Implementation) -> dict[str, tuple[Overload, ...]]:
    return {
        "indexOf": (
            member("string_index_of_string", (_S, _S), _I, index_of),
            member("string_index_of_string_int", (_S, _S, _I), _I, index_of),
        ),
        "lastIndexOf": (
            member("string_last_index_of_string", (_S, _S), _I, last_index_of),
            member("string_last_index_of_string_int", (_S, _S, _I), _I, last_index_of),
        ),
    }


_FIRST: Final[dict[str, tuple[Overload, ...]]] = {
    "charAt": (member("string_char_at_int", (_S, _I), _S, _character_at),),
    "lowerAscii": (member("string_lower_ascii", (_S,), _S, lower_ascii),),
    "replace": (
        member("string_replace_string_string", (_S, _S, _S), _S, _replace),
        member("string_replace_string_string_int", (_S, _S, _S, _I), _S, _replace),
    ),
    "split": (
        member("string_split_string", (_S, _S), _TEXTS, _split),
        member("string_split_string_int", (_S, _S, _I), _TEXTS, _split),
    ),
    "substring": (
        member("string_substring_int", (_S, _I), _S, _substring),
        member("string_substring_int_int", (_S, _I, _I), _S, _substring),
    ),
    "trim": (member("string_trim", (_S,), _S, _trim),),
    "upperAscii": (member("string_upper_ascii", (_S,), _S, upper_ascii),),
    "join": (
        member("list_join", (_TEXTS,), _S, _join),
        member("list_join_string", (_TEXTS, _S), _S, _join),
    ),
}

_SEARCHES: Final = _searches(_index_of, _last_index_of)
_SEARCHES_BEFORE_0_28: Final = _searches(_index_of_before, _last_index_of_before)
STRINGS_BEFORE_1_29: Final = Library({**_FIRST, **_SEARCHES_BEFORE_0_28})
_SECOND: Final = {
    **_FIRST,
    "format": (member("string_format", (_S, t.list_of(t.DYN)), _S, format_text),),
    "strings.quote": (Overload("strings_quote", (_S,), _S, _quote),),
}
STRINGS_BEFORE_0_28: Final = Library({**_SECOND, **_SEARCHES_BEFORE_0_28})
STRINGS: Final = Library({**_SECOND, **_SEARCHES})
STRINGS_NEWEST: Final = Library(
    {
        **_SECOND,
        **_SEARCHES,
        "format": (member("string_format", (_S, t.list_of(t.DYN)), _S, format_plainly),),
        "reverse": (member("string_reverse", (_S,), _S, _reverse),),
    }
)
