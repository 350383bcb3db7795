from __future__ import annotations

import pytest

from allotment.devices.cel import CompileError, Environment, compile_selector
from tests.devices.cel.cards import ask, card

LISTS = "device.attributes['gpu.example.com'].links.exists(l, l == 1)"
SHARED = "device.allowMultipleAllocations"


@pytest.mark.parametrize(
    ("expression", "since"),
    [
        ("1 < 2.0", "1.28"),
        ("{'a': 1}[?'a'].hasValue()", "1.28"),
        ("quantity('1').isInteger()", "1.28"),
        ("sets.contains([1], [1])", "1.29"),
        ("'%d'.format([1]) == '1'", "1.29"),
        ("isIP('1.2.3.4')", "1.30"),
        ("format.named('uuid').hasValue()", "1.31"),
        ("[1].all(i, v, true)", "1.32"),
        ("isSemver('v1', true)", "1.33"),
        ("[1].first().value() == 1", "1.33"),
        ("[1].reverse() == [1]", "1.34"),
        (f"!{SHARED}", "1.34"),
        (LISTS, "1.37"),
        ("[1].includes(1)", "1.36"),
        ("has(device.`driver`)", "1.37"),
    ],
)
def test_libraries_come_with_their_version(expression: str, since: str) -> None:
    minor = int(since.partition(".")[2])
    assert ask(expression, environment=Environment(since))
    with pytest.raises(CompileError):
        compile_selector(expression, Environment(f"1.{minor - 1}"))


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize(
    "expression", ["cel.bind(x, 1, x == 1)", "isSemver('1.2.3')", "device.driver.startsWith('gpu')"]
)
def test_some_came_with_the_device_itself(expression: str, stored: bool) -> None:
    assert ask(expression, environment=Environment("1.31", stored=stored))


def test_lists_needed_their_gate_in_the_first_version() -> None:
    assert ask(LISTS, environment=Environment("1.36", list_type_attributes=True))
    with pytest.raises(CompileError, match="cannot be range of a comprehension"):
        compile_selector(f"{LISTS}.exists(x, true)", Environment("1.36"))


@pytest.mark.parametrize(
    ("expression", "cost", "before"),
    [
        ("device.driver.startsWith('gpu')", 3, 4),
        ("'a'.indexOf('', 5) == 1", 1, 1),
        ("[[1]].flatten(-1) == [] || true", 12, 10),
    ],
)
def test_costs_came_with_cel_go(expression: str, cost: int, before: int) -> None:
    view = card
    assert compile_selector(expression, Environment("1.37")).count(view).cost == cost
    for older in ("1.37.0-alpha.3", "1.36"):
        assert compile_selector(expression, Environment(older)).count(view).cost == before


def test_a_search_behind_the_end_came_with_cel_go() -> None:
    assert ask("'a'.indexOf('', 5) == 1 && 'a'.lastIndexOf('', 5) == 1")
    assert ask("'a'.indexOf('', 5) == 5 && 'a'.lastIndexOf('', 5) == 5", environment=Environment("1.36"))


def test_a_new_selector_may_use_what_the_version_before_knew() -> None:
    with pytest.raises(CompileError):
        compile_selector("[1].reverse() == [1]", Environment("1.34", stored=False))
    assert ask("[1].reverse() == [1]", environment=Environment("1.35", stored=False))


@pytest.mark.parametrize(
    ("expression", "capacity", "lists", "allowed"),
    [
        (SHARED, False, False, False),
        (SHARED, True, False, True),
        (SHARED, True, True, True),
        (LISTS, False, False, False),
        (LISTS, False, True, True),
        (LISTS, True, True, True),
    ],
)
def test_a_new_selector_needs_the_gates(expression: str, capacity: bool, lists: bool, allowed: bool) -> None:
    gated = Environment(stored=False, consumable_capacity=capacity, list_type_attributes=lists)
    if allowed:
        compile_selector(expression, gated)
    else:
        with pytest.raises(CompileError):
            compile_selector(expression, gated)
    compile_selector(expression, Environment(consumable_capacity=capacity, list_type_attributes=lists))
