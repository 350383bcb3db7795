"""The language against another implementation of it: cel-cpp, through the CEL team's Python bindings.

Made-up expressions over made-up values are refused by both, fail in both, or have the same value. Where the
two are known to differ no expressions are made: cel-cpp does not compare numbers of different types unless
they are ``dyn``, writes fractions of seconds in groups of three digits, has a greatest of NaN and a number,
and binds the type of an empty list late. Where NaN is ordered, which is an error of cel-go's and false in
cel-cpp, an expression tells nothing. Kubernetes goes with cel-go in all of these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from allotment.devices.cel import CompileError, EvaluationError
from allotment.devices.cel import cel_types as t
from allotment.devices.cel import values as v
from allotment.devices.cel.expressions import compile_expression, language
from allotment.devices.cel.numbers64 import UInt
from allotment.devices.cel.times import Duration, Timestamp
from tests.devices.cel.made_expressions import LANGUAGE, VARIABLES, values

cel = pytest.importorskip("cel_expr_python.cel", reason="cel-expr-python has no wheel for this Python")

OURS = {
    "bool": t.BOOL,
    "double": t.DOUBLE,
    "int": t.INT,
    "list(int)": t.list_of(t.INT),
    "list(string)": t.list_of(t.STRING),
    "map(string, int)": t.map_of(t.STRING, t.INT),
    "string": t.STRING,
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAMES = language({name: OURS[kind] for name, kind in VARIABLES.items()})
LONG = 100
"""For long expressions the parser raises the limit of recursions, which hypothesis minds in the middle."""
NOT_ORDERED = "NaN values cannot be ordered"
Outcome = tuple[str, Any]
"""``refused``, ``error``, ``unordered``, or the name of a type; and the value."""


@pytest.fixture(scope="module")
def rival() -> Any:
    """cel-cpp with the variables and the extensions."""
    from cel_expr_python.ext import ext_bindings, ext_math, ext_optional, ext_strings

    theirs = {
        "bool": cel.Type.BOOL,
        "double": cel.Type.DOUBLE,
        "int": cel.Type.INT,
        "list(int)": cel.Type.List(cel.Type.INT),
        "list(string)": cel.Type.List(cel.Type.STRING),
        "map(string, int)": cel.Type.Map(cel.Type.STRING, cel.Type.INT),
        "string": cel.Type.STRING,
    }
    extensions = [
        ext_bindings.ExtBindings(),
        ext_math.ExtMath(),
        ext_optional.ExtOptional(),
        ext_strings.ExtStrings(),
    ]
    return cel.NewEnv(
        variables={name: theirs[kind] for name, kind in VARIABLES.items()}, extensions=extensions
    )


def asked(rival: Any, text: str, variables: Mapping[str, Any]) -> Outcome:
    """What cel-cpp makes of an expression."""
    try:
        expression = rival.compile(text)
    except Exception:  # noqa: BLE001 - whatever it raises
        return "refused", None
    try:
        value = expression.eval(data=dict(variables))
    except Exception:  # noqa: BLE001 - whatever it raises
        return "error", None
    if value.type() == cel.Type.ERROR:
        return "error", None
    return value.type().name().lower().partition("<")[0], value.plain_value()


def answered(text: str, variables: Mapping[str, Any]) -> Outcome:
    """What we make of it."""
    try:
        expression = compile_expression(text, NAMES)
    except CompileError:
        return "refused", None
    try:
        value = expression.evaluate(variables)
    except EvaluationError as error:
        return ("unordered" if NOT_ORDERED in str(error) else "error"), None
    return v.type_name(value).rpartition(".")[2].lower(), plain(value)


def plain(value: v.Value) -> Any:
    """One of our values as the bindings have it."""
    if isinstance(value, Duration):
        return timedelta(microseconds=value.nanos // 1000)
    if isinstance(value, Timestamp):
        return EPOCH + timedelta(microseconds=value.nanos // 1000)
    if isinstance(value, dict):
        return {v.key_value(key): plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return int(value) if isinstance(value, UInt) else value


def alike(theirs: Outcome, ours: Outcome) -> bool:
    kind, value = theirs
    if isinstance(value, datetime):
        value = value.replace(tzinfo=UTC)
    if isinstance(value, float) and math.isnan(value):
        return kind == ours[0] and math.isnan(ours[1])
    return (kind, value) == ours


@pytest.mark.parametrize(
    "examples", [pytest.param(250, id="some"), pytest.param(8_000, id="many", marks=pytest.mark.soak)]
)
def test_both_say_the_same(rival: Any, examples: int) -> None:
    compile_expression("+".join("1" * LONG), NAMES)

    @given(LANGUAGE.expressions(), values)
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    def compare(text: str, variables: Mapping[str, Any]) -> None:
        theirs, ours = asked(rival, text, variables), answered(text, variables)
        assume(ours[0] != "unordered")
        assert alike(theirs, ours), (text, variables, theirs, ours)

    compare()
