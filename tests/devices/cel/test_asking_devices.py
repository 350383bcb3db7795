from __future__ import annotations

import pytest

from allotment.devices.cel import CompileError, DeviceViews, EvaluationError, compile_selector
from allotment.devices.cel.environment import Environment
from allotment.devices.slices import Capacity, Device, Version
from tests.devices.cel.cards import BARE, CARD, DRIVER, ask, bare, card

A = "device.attributes['gpu.example.com']"
CONVERSION = "CEL result of type {} could not be converted to bool"
C = "device.capacity['gpu.example.com']"


@pytest.mark.parametrize(
    "expression",
    [
        "device.driver == 'gpu.example.com'",
        f"{A}.type == 'gpu'",
        f"{A}['type'] == 'gpu'",
        f"{A}.index == 3 && {A}.index == 3.0 && {A}.index == 3u",
        f"{A}.index in [1, 2, 3]",
        f"{A}.healthy",
        f"{A}.type != 1",
        f"{A}.driverVersion.isGreaterThan(semver('550.0.0'))",
        f"{A}.driverVersion != 'x'",
        f"{A}.links.exists(l, l == 4) && 2 in {A}.links && {A}.links.includes(1)",
        f"{A}.type.includes('gpu')",
        f"{A}.model.lowerAscii().matches('a40|h100')",
        f"{A}.?nope.orValue('none') == 'none'",
        f"{A}[?'type'].orValue('') == 'gpu'",
        f"has({A}.type) && !has({A}.nope)",
        f"'type' in {A} && !('nope' in {A})",
        f"{A}.exists(name, name == 'index')",
        f"{A}.nope == 1 || true",
        f"!({A}.nope == 1 && false)",
        f"cel.bind(a, {A}, a.type == 'gpu' && a.index < 4)",
        "device.attributes['rack.example.org'].row == 'b'",
        "'rack.example.org' in device.attributes && !('no.such' in device.attributes)",
        "!has(device.attributes['no.such'].x) && device.attributes['no.such'].size() == 0",
        f"{C}.memory.compareTo(quantity('48Gi')) == 0",
        f"{C}.memory == quantity('49152Mi')",
        f"{C}.memory.isGreaterThan(quantity('40Gi')) && {C}.memory.isLessThan(quantity('48.5Gi'))",
        f"{C}.share.asApproximateFloat() == 0.5 && !{C}.share.isInteger()",
        f"{C}.?nope.orValue(quantity('0')).isLessThan(quantity('1'))",
        "!device.allowMultipleAllocations",
        "device.attributes[device.driver].type == 'gpu'",
        f"[1, 2, 3].exists(n, n == {A}.index)",
        "cel.bind(d, device, d.driver == 'gpu.example.com')",
    ],
)
def test_a_card_passes(expression: str) -> None:
    assert ask(expression)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (f"{A}.nope == 'x'", "no such key: nope"),
        ("device.attributes['no.such'].x == 1", "no such key: x"),
        (f"{A}.healthy && {A}.nope", "no such key: nope"),
        (f"{A}.driverVersion == '550.54.15'", "no such overload"),
        (f"{A}.type > 3", "no such overload"),
        (f"{A}.driverVersion > 3", "no such overload: _>_"),
        (
            f"{A}.type.isGreaterThan(quantity('1'))",
            "no such overload: isGreaterThan(string, kubernetes.Quantity)",
        ),
        (f"{A}.index.exists(x, x == 1)", "got 'types.Int', expected iterable type"),
        (
            f"{A}.type",
            f"{CONVERSION.format('string')}: unsupported native conversion from string to 'bool'",
        ),
        (
            f"{A}.index",
            f"{CONVERSION.format('int')}: unsupported type conversion from 'int' to bool",
        ),
        (f"{C}.share.asInteger() == 0", "cannot convert value to integer"),
        (f"{A}.index / 0 == 1", "division by zero"),
        (f"{A}.links[7] == 1", "index out of bounds: 7"),
        ("cel.bind(x, 1 / 0, x == 1)", "division by zero"),
    ],
)
def test_what_cannot_be_told_is_an_error(expression: str, text: str) -> None:
    program = compile_selector(expression, Environment())
    with pytest.raises(EvaluationError) as caught:
        program.evaluate(card)
    assert caught.value.message == text
    with pytest.raises(EvaluationError) as counted:
        program.count(card).outcome()
    assert counted.value.message == text


def test_a_missing_key_comes_with_advice() -> None:
    program = compile_selector(f"{A}.nope == 1", Environment())
    with pytest.raises(EvaluationError) as caught:
        program.evaluate(card)
    assert "orValue()" in caught.value.explained
    assert EvaluationError("division by zero").explained == "division by zero"


def test_a_name_without_a_domain_is_the_drivers() -> None:
    assert not ask("has(device.attributes['gpu.example.com'].type)", bare)
    assert ask("device.allowMultipleAllocations", bare)


def test_an_unused_binding_is_never_computed() -> None:
    assert ask("cel.bind(x, 1 / 0, true)")


def test_views_are_made_once() -> None:
    views = DeviceViews()
    assert views.view(DRIVER, CARD) is views.view(DRIVER, CARD)
    assert views.view("other.example.com", BARE) is not views.view(DRIVER, CARD)


@pytest.mark.parametrize(
    "device",
    [Device("d", attributes={"v": Version("1.2")}), Device("d", capacity={"memory": Capacity("lots")})],
)
def test_a_device_that_cannot_be_read_says_so(device: Device) -> None:
    with pytest.raises(EvaluationError):
        DeviceViews().view(DRIVER, device)


def test_an_expression_that_costs_too_much_is_stopped() -> None:
    ten = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
    names = "abcdefg"
    expression = "true"
    for name in names:
        expression = f"{ten}.all({name}, {expression})"
    program = compile_selector(expression, Environment())
    assert program.max_cost > 1_000_000
    with pytest.raises(EvaluationError, match="operation cancelled: actual cost limit exceeded"):
        program.evaluate(card)


def test_the_result_must_be_true_or_false() -> None:
    with pytest.raises(CompileError, match="must evaluate to bool or the unknown type, not int"):
        compile_selector("1", Environment())
