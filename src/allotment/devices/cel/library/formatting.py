"""``'%s of %d'.format([...])``: the clauses that CEL has, for the types that they take."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from allotment.devices.cel import cel_types as t
from allotment.devices.cel import values as v
from allotment.devices.cel.library.conversions import go_float
from allotment.devices.cel.numbers64 import UInt
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.times import Duration, Timestamp
from allotment.quantities.quoting import quoted

CLAUSE: Final = re.compile(r"%(?:(?P<percent>%)|(?:\.(?P<precision>[0-9]*))?(?P<letter>[\s\S])?)")
_PRECISION: Final = 6
_PLAIN: Final = frozenset({int, UInt, float, bool, str, bytes, Timestamp, Duration, t.CelType})
_NOT_FINITE: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_MOST_DIGITS: Final = 1_000


class Rule(NamedTuple):
    """What a clause takes, and how its refusal reads."""

    kinds: frozenset[str]
    message: str


_ANYTHING: Final = frozenset(
    {
        "string",
        "bool",
        "bytes",
        "int",
        "uint",
        "double",
        "map",
        "list",
        "type",
        "duration",
        "timestamp",
        "null",
    }
)
_WHOLE: Final = frozenset({"int", "uint"})
_HEXADECIMAL: Final = Rule(
    _WHOLE | {"string", "bytes"}, "only integers, byte buffers, and strings can be formatted as hex"
)
DURING: Final = "error during formatting: "
RULES: Final = {
    "s": Rule(
        _ANYTHING,
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
        "durations, and timestamps",
    ),
    "d": Rule(_WHOLE, "decimal clause can only be used on integers"),
    "f": Rule(frozenset({"double"}), "fixed-point clause can only be used on doubles"),
    "e": Rule(frozenset({"double"}), "scientific clause can only be used on doubles"),
    "b": Rule(_WHOLE | {"bool"}, "only integers and bools can be formatted as binary"),
    "x": _HEXADECIMAL,
    "X": _HEXADECIMAL,
    "o": Rule(_WHOLE, "octal clause can only be used on integers"),
}


Writer = Callable[[v.Value, int], str]


def format_text(template: str, arguments: list[v.Value]) -> str:
    """The template with its clauses filled in."""
    return filled(template, arguments, _WRITERS)


def filled(template: str, arguments: list[v.Value], writers: Mapping[str, Writer]) -> str:
    """The template with its clauses filled in by ``writers``."""
    result: list[str] = []
    place = used = 0
    for match in CLAUSE.finditer(template):
        result.append(template[place : match.start()])
        place = match.end()
        if match["percent"]:
            result.append("%")
            continue
        problem = clause_problem(match)
        if used >= len(arguments) and not (problem and match["letter"] is None):
            raise EvaluationError(f"index {used} out of range")
        if problem:
            raise EvaluationError(problem)
        precision = _PRECISION if match["precision"] is None else min(int(match["precision"]), _MOST_DIGITS)
        result.append(writers[match["letter"]](arguments[used], precision))
        used += 1
    return "".join([*result, template[place:]])


def clause_problem(match: re.Match[str]) -> str | None:
    """What is wrong with a clause, whatever it is given."""
    letter, precision = match["letter"], match["precision"]
    prefix = "could not parse formatting clause: "
    if letter is None:
        if precision is None:
            return "unexpected end of string"
        return f"{prefix}error while parsing precision: could not find end of precision specifier"
    if precision == "" or len(precision or "") > 18:
        conversion = "error while converting precision to integer: strconv.Atoi"
        return f'{prefix}error while parsing precision: {conversion}: parsing "{precision}": invalid syntax'
    return None if letter in RULES else f'{prefix}unrecognized formatting clause "{letter}"'


def refused(letter: str, value: v.Value) -> EvaluationError:
    """A clause was given what it does not take."""
    return EvaluationError(f"{DURING}{RULES[letter].message}, was given {v.type_name(value)}")


def text_of(value: v.Value) -> str:
    """A value as ``%s`` shows it."""
    if v.is_list(value):
        return f"[{', '.join(map(_inner, value))}]"
    if v.is_map(value):
        entries = sorted((_inner(v.key_value(key)), _inner(item)) for key, item in value.items())
        return "{" + ", ".join(f"{key}:{item}" for key, item in entries) + "}"
    if value is None:
        return "null"
    if type(value) not in _PLAIN:
        raise refused("s", value)
    if type(value) is float:
        return go_float(value)
    if type(value) is bytes:
        return _decoded(value)
    return v.show(value)


def _decoded(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        reason = "invalid UTF-8 in bytes, cannot convert to string"
        raise EvaluationError(f'{DURING}could not convert argument "{reason}" to string') from error


def _inner(value: v.Value) -> str:
    """A value within a list or a map: texts in quotes, numbers with six places."""
    if type(value) is str:
        return quoted(value)
    if type(value) is bytes:
        return f"b{quoted(value.decode(errors='replace'))}"
    if type(value) is float:
        return f"{value:.6f}" if math.isfinite(value) else quoted(go_float(value))
    if type(value) is Timestamp:
        return f'timestamp("{value}")'
    if type(value) is Duration:
        return f'duration("{value}")'
    return text_of(value)


def _string(value: v.Value, _precision: int) -> str:
    return text_of(value)


def _decimal(value: v.Value, _precision: int) -> str:
    if type(value) not in (int, UInt):
        raise refused("d", value)
    return v.show(value)


def _floating(value: v.Value, letter: str) -> float:
    if type(value) is str and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if type(value) is not float:
        raise refused(letter, value)
    return value


def _fixed(value: v.Value, precision: int) -> str:
    number = _floating(value, "f")
    return f"{number:,.{precision}f}" if math.isfinite(number) else _not_finite(number)


def _scientific(value: v.Value, precision: int) -> str:
    number = _floating(value, "e")
    if not math.isfinite(number):
        return _not_finite(number)
    mantissa, _, exponent = f"{number:.{precision}e}".partition("e")
    return f"{mantissa}\u202f\u00d7\u202f10{_raised(int(exponent))}"


def _raised(exponent: int) -> str:
    digits = f"{abs(exponent):02d}".translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{'⁻' if exponent < 0 else ''}{digits}"


def _not_finite(number: float) -> str:
    return "NaN" if math.isnan(number) else "∞" if number > 0 else "-∞"


def _binary(value: v.Value, _precision: int) -> str:
    if type(value) not in (int, UInt, bool):
        raise refused("b", value)
    return f"{int(value):b}"


def _hexadecimal(value: v.Value, letter: str) -> str:
    if type(value) is str:
        return value.encode().hex() if letter == "x" else value.encode().hex().upper()
    if type(value) is bytes:
        return value.hex() if letter == "x" else value.hex().upper()
    if type(value) not in (int, UInt):
        raise refused("x", value)
    return format(int(value), letter)


def _octal(value: v.Value, _precision: int) -> str:
    if type(value) not in (int, UInt):
        raise refused("o", value)
    return f"{int(value):o}"


WHOLE: Final[Mapping[str, Writer]] = {
    "b": _binary,
    "x": lambda value, _precision: _hexadecimal(value, "x"),
    "X": lambda value, _precision: _hexadecimal(value, "X"),
    "o": _octal,
}
"""The clauses that every version of the extension writes alike."""
_WRITERS: Final[Mapping[str, Writer]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    **WHOLE,
}
