from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.devices.cel import CompileError, Environment, EvaluationError, compile_selector
from allotment.devices.cel import syntax as s
from allotment.devices.cel.macros import STANDARD
from allotment.devices.cel.parser import parse
from tests.devices.cel.cards import card

INTS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-3, 3), st.sampled_from([2**63 - 1, -(2**63)]))


def truncated(one: int, other: int) -> int:
    return abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)


OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": truncated,
    "%": lambda one, other: one - other * truncated(one, other),
}


def answer(evaluate: Callable[[], bool]) -> bool | str:
    try:
        return evaluate()
    except EvaluationError as error:
        return error.message


def outcome(expression: str) -> bool | str:
    program = compile_selector(expression, Environment())
    counted = answer(program.count(card).outcome)
    assert answer(lambda: program.evaluate(card)) == counted
    return counted


@given(st.sampled_from(sorted(OPERATIONS)), INTS, INTS)
@settings(max_examples=300)
def test_whole_numbers_are_pythons_within_64_bits(sign: str, one: int, other: int) -> None:
    expression = f"dyn({one}) {sign} ({other})"
    if sign in "/%" and other == 0:
        assert outcome(f"{expression} == 0") == ("division by zero" if sign == "/" else "modulus by zero")
        return
    expected = OPERATIONS[sign](one, other)
    overflow = not -(2**63) <= expected < 2**63 or (sign == "%" and one == -(2**63) and other == -1)
    assert outcome(f"{expression} == {0 if overflow else expected}") == (
        "integer overflow" if overflow else True
    )


@given(INTS, st.integers(0, 2**64 - 1))
def test_numbers_of_different_types_compare_by_value(one: int, other: int) -> None:
    assert outcome(f"dyn({one}) < {other}u") is (one < other)
    assert outcome(f"dyn({one}) == {other}u") is (one == other)


BOOLS = st.sampled_from(["true", "false", "1 / 0 == 1"])
MEANING = {"true": True, "false": False, "1 / 0 == 1": None}


@given(BOOLS, BOOLS)
def test_and_and_or_forgive_errors_that_do_not_matter(one: str, other: str) -> None:
    values = {MEANING[one], MEANING[other]}
    conjunction = False if False in values else "division by zero" if None in values else True
    disjunction = True if True in values else "division by zero" if None in values else False
    assert outcome(f"{one} && {other}") == conjunction
    assert outcome(f"{one} || {other}") == disjunction


ATOMS = st.sampled_from(
    [
        "1",
        "2u",
        "1.5",
        "'a'",
        "true",
        "null",
        "device",
        "device.driver",
        "[1, 2]",
        "{'a': 1}",
        "x",
        "b'a'",
        "-1",
    ]
)
TREES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "%", "==", "<", "&&", "||", "in"]), inner).map(
            lambda parts: f"({' '.join(parts)})"
        ),
        inner.map(lambda part: f"!{part}"),
        inner.map(lambda part: f"{part}.size()"),
        inner.map(lambda part: f"{part}.a"),
        st.tuples(inner, inner).map(lambda parts: f"{parts[0]}[{parts[1]}]"),
        st.tuples(inner, inner, inner).map(lambda parts: f"({parts[0]} ? {parts[1]} : {parts[2]})"),
        st.tuples(inner, inner).map(lambda parts: f"[1, 2].exists(x, {parts[0]} == {parts[1]})"),
        st.tuples(inner, inner).map(lambda parts: f"[{parts[0]}, {parts[1]}]"),
    ),
    max_leaves=10,
)


def written(node: s.Expr) -> str:  # noqa: C901, PLR0911, PLR0912 - one line a kind of node
    """A tree as text again, with every parenthesis."""
    match node:
        case s.Literal(value=bool() as value):
            return str(value).lower()
        case s.Literal(value=None):
            return "null"
        case s.Literal():
            return repr(node.value) if not isinstance(node.value, float) else f"{node.value!r}"
        case s.Ident():
            return node.name.replace("@result", "result")
        case s.Select():
            return f"{written(node.operand)}.{node.field}"
        case s.ListExpr():
            return f"[{', '.join(map(written, node.elements))}]"
        case s.MapExpr():
            return (
                "{"
                + ", ".join(f"{written(entry.key)}: {written(entry.value)}" for entry in node.entries)
                + "}"
            )
        case s.Call(function="_?_:_"):
            one, two, three = map(written, node.arguments)
            return f"({one} ? {two} : {three})"
        case s.Call(function="_[_]"):
            one, two = map(written, node.arguments)
            return f"{one}[{two}]"
        case s.Call() if node.function in ("!_", "-_"):
            return f"({node.function[0]}({written(node.arguments[0])}))"
        case s.Call() if len(node.arguments) == 2 and node.target is None:
            one, two = map(written, node.arguments)
            return f"({one} {node.function.strip('_@')} {two})"
        case s.Call():
            return f"{written(node.target) if node.target else ''}.{node.function}()"
        case _:
            return "walk"


@given(TREES)
@settings(max_examples=200)
def test_a_tree_written_out_and_read_again_is_the_same(text: str) -> None:
    tree = parse(text, {})
    assert written(parse(written(tree), {})) == written(tree)


@given(TREES)
@settings(max_examples=300)
def test_both_ways_of_evaluating_agree_on_anything_that_compiles(text: str) -> None:
    try:
        outcome(f"dyn({text}) == true")
    except CompileError:
        return


@given(st.text("ab1.()[]{}<>=!&|+-*/%?:,'\"\\ \n", max_size=30))
@settings(max_examples=500)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse(text, STANDARD)
    except CompileError as error:
        refusal = error
    else:
        return
    assert refusal.issues


@pytest.mark.parametrize("name", ["all", "exists", "exists_one", "map", "filter"])
def test_walks_see_every_element_once(name: str) -> None:
    assert outcome(f"[[1, 2, 3]].map(l, l.{name}(x, x > 0)).size() == 1") is True
