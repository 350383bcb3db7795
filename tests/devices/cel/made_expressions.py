"""Made-up expressions of every type, over the variables that they may name, for tests by comparison."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st

VARIABLES: Final[Mapping[str, str]] = {
    "b": "bool",
    "d": "double",
    "i": "int",
    "li": "list(int)",
    "ls": "list(string)",
    "m": "map(string, int)",
    "s": "string",
}
"""The variables by name, and their types."""
_CONSTANTS: Final[Mapping[str, tuple[str, ...]]] = {
    "bool": ("true", "false"),
    "bytes": ("b''", "b'abc'", "b'\\xff'", "bytes('é')"),
    "double": ("0.0", "-1.5", "2.5", "1e10", "0.1"),
    "duration": ("duration('0s')", "duration('90s')", "duration('-2s')", "duration('1h2m')"),
    "int": ("0", "1", "-1", "7", "-13", "9223372036854775807", "-9223372036854775808"),
    "list(int)": ("[1]", "[3, 1, 2]"),
    "list(string)": ("['a']", "['b', 'a', 'é']"),
    "map(string, int)": ("{'a': 1}", "{'a': 1, 'b': 2}"),
    "string": ("''", "'a'", "'abc'", "'éß'", "'a-b-c'", "' x '", "'10'", "'[a-c]+'"),
    "timestamp": ("timestamp('2024-02-29T12:34:56Z')", "timestamp('1970-01-01T00:00:00Z')"),
    "uint": ("0u", "1u", "18446744073709551615u"),
}
_FORMS: Final[Mapping[str, tuple[str, ...]]] = {
    "bool": (
        *("!{bool}", "{bool} && {bool}", "{bool} || {bool}", "{bool} ? {bool} : {bool}"),
        *(
            "{int} == {int}",
            "{int} < {int}",
            "{uint} >= {uint}",
            "{double} != {double}",
            "dyn({double}) <= {int}",
        ),
        *("{string} == {string}", "{string} > {string}", "{bytes} < {bytes}", "{bool} == {bool}"),
        *("{duration} < {duration}", "{timestamp} >= {timestamp}", "dyn({int}) == {double}"),
        *("{list(int)} == {list(int)}", "{map(string, int)} == {map(string, int)}"),
        *("{int} in {list(int)}", "{string} in {list(string)}", "{string} in {map(string, int)}"),
        *("{string}.contains({string})", "{string}.startsWith({string})", "{string}.endsWith({string})"),
        *("{string}.matches('[a-c]+$')", "has({map(string, int)}.a)"),
        *("{list(int)}.all(x, x > {int})", "{list(int)}.exists(x, x / {int} == 1)"),
        *("{list(int)}.exists_one(x, x == {int})", "{map(string, int)}.exists(k, k == {string})"),
        *("optional.of({int}).hasValue()", "{map(string, int)}[?{string}].hasValue()"),
    ),
    "bytes": ("bytes({string})", "{bytes} + {bytes}"),
    "double": (
        *("{double} + {double}", "{double} - {double}", "{double} * {double}", "{double} / {double}"),
        *("-{double}", "double({int})", "double({uint})", "math.abs({double})"),
        *("math.ceil({double})", "math.round({double})", "{bool} ? {double} : {double}"),
    ),
    "duration": ("{duration} + {duration}", "{duration} - {duration}", "{timestamp} - {timestamp}"),
    "int": (
        *("{int} + {int}", "{int} - {int}", "{int} * {int}", "{int} / {int}", "{int} % {int}", "-({int})"),
        *("size({string})", "{bytes}.size()", "{list(int)}.size()", "size({map(string, int)})"),
        *(
            "int({double})",
            "int({uint})",
            "int({string})",
            "{list(int)}[{int}]",
            "{map(string, int)}[{string}]",
        ),
        *("{map(string, int)}.a", "{string}.indexOf({string})", "{string}.lastIndexOf({string})"),
        *("{map(string, int)}.?a.orValue({int})", "optional.of({int}).or(optional.of({int})).value()"),
        *("math.least({int}, {int})", "math.greatest({int}, {int})", "math.bitXor({int}, {int})"),
        *("{timestamp}.getFullYear()", "{timestamp}.getDayOfWeek()", "{timestamp}.getHours('+02:00')"),
        *("{bool} ? {int} : {int}", "cel.bind(x, {int}, x + x)", "int({timestamp})"),
    ),
    "list(int)": (
        *("[{int}, {int}]", "{list(int)} + {list(int)}", "{list(int)}.map(x, x + {int})"),
        *(
            "{list(int)}.filter(x, x % 2 == {int})",
            "{list(int)}.map(x, x > {int}, x * 2)",
            "[?optional.of({int})]",
        ),
    ),
    "list(string)": (
        *("[{string}, {string}]", "{string}.split('-')", "{list(string)} + {list(string)}"),
        *("{list(string)}.map(x, x + {string})", "{list(string)}.filter(x, x != {string})"),
    ),
    "map(string, int)": ("{'a': {int}, 'c': {int}}", "{{string}: {int}}"),
    "string": (
        *("{string} + {string}", "string({int})", "string({uint})", "string({bool})", "string({duration})"),
        *("string({timestamp})", "string({bytes})", "{string}.lowerAscii()", "{string}.upperAscii()"),
        *(
            "{string}.trim()",
            "{string}.replace('a', {string})",
            "{string}.substring({int})",
            "{string}.charAt({int})",
        ),
        *("{list(string)}[{int}]", "{list(string)}.join('+')", "{bool} ? {string} : {string}"),
    ),
    "timestamp": ("{timestamp} + {duration}", "{timestamp} - {duration}", "timestamp({int})"),
    "uint": ("{uint} + {uint}", "{uint} * {uint}", "{uint} / {uint}", "{uint} % {uint}", "uint({int})"),
}
_HOLE: Final = re.compile(r"\{([a-z]+(?:\([a-z, ]+\))?)\}")


@dataclass(frozen=True, slots=True)
class Grammar:
    """What expressions are made of: constants and forms by type; ``{int}`` in a form is one of that type.

    ``mistakes``: one time in so many something of another type is put into a form.
    """

    constants: Mapping[str, tuple[str, ...]]
    forms: Mapping[str, tuple[str, ...]]
    mistakes: int = 0

    def expressions(self, kind: str | None = None, depth: int = 3) -> st.SearchStrategy[str]:
        """Expressions of a type, or of any."""
        return _expressions(self, kind, depth)


@st.composite
def _expressions(draw: st.DrawFn, grammar: Grammar, kind: str | None, depth: int) -> str:
    wanted = kind or draw(st.sampled_from(sorted(grammar.constants)))
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from(grammar.constants[wanted]))

    def filled(hole: re.Match[str]) -> str:
        wrong = grammar.mistakes and draw(st.integers(1, grammar.mistakes)) == 1
        return f"({draw(_expressions(grammar, None if wrong else hole[1], depth - 1))})"

    return _HOLE.sub(filled, draw(st.sampled_from(grammar.forms[wanted])))


LANGUAGE: Final = Grammar(
    {
        kind: (*constants, *(name for name, declared in VARIABLES.items() if declared == kind))
        for kind, constants in _CONSTANTS.items()
    },
    _FORMS,
)
"""The language by itself."""
values = st.fixed_dictionaries(
    {
        "b": st.booleans(),
        "d": st.floats(allow_nan=False, allow_infinity=False, width=32),
        "i": st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1)),
        "li": st.lists(st.integers(-3, 3), max_size=4),
        "ls": st.lists(st.text("abé-", max_size=3), max_size=4),
        "m": st.dictionaries(st.sampled_from("abc"), st.integers(-3, 3)),
        "s": st.text("abc-é1 ", max_size=6),
    }
)
"""Values of the variables."""
