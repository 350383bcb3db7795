"""Compile errors to the character: people search for them."""

from __future__ import annotations

import pytest

from allotment.devices.cel import CompileError, Environment, compile_selector

STARTS = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, "
    "IDENTIFIER}"
)
OVERLOAD = "found no matching overload for"
RANGE = "expression of type 'string' cannot be range of a comprehension (must be list, map, or dynamic)"


@pytest.mark.parametrize(
    ("expression", "place", "message"),
    [
        ("nope", "1:1", "undeclared reference to 'nope' (in container '')"),
        ("device.nope", "1:7", "undefined field 'nope'"),
        ("device['driver'] == 'x'", "1:7", f"{OVERLOAD} '_[_]' applied to '(kubernetes.DRADevice, string)'"),
        ("1 == 1.0", "1:3", f"{OVERLOAD} '_==_' applied to '(int, double)'"),
        (
            "quantity('1') >= quantity('1')",
            "1:15",
            f"{OVERLOAD} '_>=_' applied to '(kubernetes.Quantity, kubernetes.Quantity)'",
        ),
        ("quantity('1').sign() == 1", "1:19", f"{OVERLOAD} 'sign' applied to 'kubernetes.Quantity.()'"),
        ("'abc'.matches('[')", "1:15", "invalid matches argument"),
        ("duration('abc') > duration('1s')", "1:10", "invalid duration argument"),
        ("[1, 'a'].size() == 2", "1:5", "expected type 'int' but found 'string'"),
        ("has(device)", "1:5", "invalid argument to has() macro"),
        ("[1].all(x.y, true)", "1:10", "argument must be a simple name"),
        ("1 && true", "1:1", "expected type 'bool' but found 'int'"),
        ("'a'.map(x, x) == []", "1:1", RANGE),
        ("if", "1:1", "reserved identifier: if"),
        ("true && ", "1:9", f"Syntax error: mismatched input '<EOF>' expecting {STARTS}"),
        ("(1 + 2", "1:7", "Syntax error: missing ')' at '<EOF>'"),
        ("1 2", "1:3", "Syntax error: extraneous input '2' expecting <EOF>"),
        ("99999999999999999999 > 1", "1:1", "invalid int literal"),
        ("device.capacity['a'].b.c", "1:23", "unexpected failed resolution of 'kubernetes.Quantity'"),
    ],
)
def test_the_first_line_says_where_and_what(expression: str, place: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile_selector(expression, Environment())
    first, line, caret = caught.value.text.split("\n")
    assert first == f"compilation failed: ERROR: <input>:{place}: {message}"
    assert line == f" | {expression}"
    assert caret == " | " + "." * (int(place.partition(":")[2]) - 1) + "^"


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(CompileError) as caught:
        compile_selector("a == b", Environment())
    assert [issue.offset for issue in caught.value.issues] == [0, 5]
    assert caught.value.text.count("ERROR") == 2


def test_wide_characters_have_wide_dots() -> None:
    with pytest.raises(CompileError) as caught:
        compile_selector("'é' == nope", Environment())
    assert caught.value.text.endswith("\n | .．.....^")


def test_places_in_later_lines() -> None:
    with pytest.raises(CompileError, match=r"<input>:2:4: undeclared"):
        compile_selector("true &&\n   nope", Environment())


@pytest.mark.parametrize(
    "expression", ["(" * 300 + "1" + ")" * 300, "1" + " + 1" * 300, "-" + "a.b" * 2 + ".c" * 300]
)
def test_too_deep_an_expression_is_refused(expression: str) -> None:
    with pytest.raises(CompileError, match="expression recursion limit exceeded: 250"):
        compile_selector(expression, Environment())


def test_long_chains_of_logic_are_not_deep() -> None:
    assert compile_selector(" || ".join(["false"] * 2000), Environment()).max_cost == 0


def test_a_constant_that_cannot_be_converted_is_refused() -> None:
    with pytest.raises(
        CompileError, match="program instantiation failed: type conversion error from 'string' to 'int'"
    ):
        compile_selector("int('abc') == 1", Environment())


def test_too_long_an_expression_is_refused() -> None:
    with pytest.raises(
        CompileError, match="expression code point size exceeds limit: size: 100001, limit 100000"
    ):
        compile_selector("1" * 100_001, Environment())
