"""A selector is taken apart where the grammar says so, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.cel.parts import Read, conditions, constants, reads

MEMORY = "device.capacity['gpu.nvidia.com'].memory"


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        ("true", ["true"]),
        ("a.b && c", ["a.b", "c"]),
        ("a && b && c", ["a", "b", "c"]),
        ("(a && b) && c", ["a", "b", "c"]),
        ("((a && b))", ["a", "b"]),
        ("a || b && c", ["a || b && c"]),
        ("(a || b) && c", ["(a || b)", "c"]),
        ("a && b ? c : d", ["a && b ? c : d"]),
        ("!(a && b) && c", ["!(a && b)", "c"]),
        ("x == '&&' && y == 'a && b'", ["x == '&&'", "y == 'a && b'"]),
        ("[1].all(x, x > 0 && x < 2) && y", ["[1].all(x, x > 0 && x < 2)", "y"]),
        ("a // b && c\n && d", ["a // b && c", "d"]),
        ("a &&", ["a &&"]),
        ("(a) && (b)", ["(a)", "(b)"]),
    ],
)
def test_conditions_are_cut_where_the_parser_says(expression: str, parts: list[str]) -> None:
    assert list(conditions(expression)) == parts


@given(
    st.lists(st.sampled_from(["a", "(a && b)", "(a || b)", "x == '&&'", "f(a && b)"]), min_size=1, max_size=6)
)
def test_conditions_of_conditions_are_themselves(terms: list[str]) -> None:
    parts = conditions(" && ".join(terms))
    assert [each for part in parts for each in conditions(part)] == list(parts)
    assert len(parts) == len(terms) + terms.count("(a && b)")


@pytest.mark.parametrize(
    ("expression", "places"),
    [
        ("device.driver == 'x'", [Read("driver")]),
        (f"{MEMORY}.isGreaterThan(quantity('1Gi'))", [Read("capacity", "gpu.nvidia.com", "memory")]),
        ("device.attributes['d'].?k.orValue('') == 'v'", [Read("attributes", "d", "k")]),
        ("has(device.attributes['d'].k)", [Read("attributes", "d", "k")]),
        ("device.attributes['d']['k'] && device.attributes['d'].k", [Read("attributes", "d", "k")]),
        ("device.allowMultipleAllocations", [Read("allowMultipleAllocations")]),
        ("'d' in device.attributes", []),
        ("broken(", []),
    ],
)
def test_what_an_expression_reads(expression: str, places: list[Read]) -> None:
    assert list(reads(expression)) == places


@pytest.mark.parametrize(
    ("expression", "value", "changed"),
    [
        (
            f"{MEMORY}.compareTo(quantity('80Gi')) >= 0",
            "79Gi",
            f"{MEMORY}.compareTo(quantity('79Gi')) >= 0",
        ),
        ("device.attributes['d'].k == \"it\"", "it's", "device.attributes['d'].k == 'it\\'s'"),
        (
            "device.attributes['d'].?k.orValue('x') == 'v'",
            "w",
            "device.attributes['d'].?k.orValue('x') == 'w'",
        ),
        ("device.attributes['d'].n > 3", 2, "device.attributes['d'].n > 2"),
    ],
)
def test_the_first_constant_can_be_replaced(expression: str, value: str | int, changed: str) -> None:
    assert constants(expression)[0].replaced(expression, value) == changed
