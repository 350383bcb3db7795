from __future__ import annotations

import pytest

from allotment.devices.cel import Environment, compile_selector
from tests.devices.cel.cards import card

A = "device.attributes['gpu.example.com']"


@pytest.mark.parametrize(
    ("expression", "most", "cost"),
    [
        ("true", 0, 0),
        ("device.driver == 'gpu.example.com'", 4, 4),
        (f"{A}.type == 'gpu'", 5, 5),
        (f"has({A}.type)", 3, 3),
        (f"{A}.nope == 'x'", 5, 5),
        (f"{A}.?nope.orValue('a') == 'a'", 6, 4),
        ("device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('40Gi'))", 6, 6),
        ("[1, 2, 3].exists(x, x > 2)", 29, 19),
        ("[1, 2, 3].map(x, x * 2) == [2, 4, 6]", 74, 44),
        ("cel.bind(x, 2, x * x == 4)", 14, 4),
        (f"{A}.type == 'gpu' ? true : false", 5, 5),
        ("[3, 1, 2].sort() == [1, 2, 3]", 50, 30),
        ("'a' in ['a', 'b']", 12, 0),
    ],
)
def test_the_most_it_can_cost_and_what_it_did(expression: str, most: int, cost: int) -> None:
    program = compile_selector(expression, Environment())
    assert program.max_cost == most
    assert program.count(card).cost == cost
