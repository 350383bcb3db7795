from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from allotment.running.assignment import StepSpec
from allotment.running.endings import PermanentFailureError, VolumeFailedError
from allotment.running.page import Page
from allotment.running.steps import StepContext, StepFactory, StepSettingsError
from allotment.running.steps.loading import find_factory, labels, load_steps
from allotment.running.steps_once import StepsOnce

CONTEXT = StepContext()


def step(page: Page, earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
    return {}


def create(settings: Mapping[str, Any], context: StepContext) -> Any:
    """A factory that does as its settings say."""
    if "raise" in settings:
        raise settings["raise"]
    return settings.get("return", step)


def found(_name: str) -> StepFactory:
    return create


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["ocr"], ("ocr",)),
        (["ocr", "command", "ocr", "ocr"], ("ocr", "command", "ocr-2", "ocr-3")),
        (["my.module:read", "other:read"], ("read", "read-2")),
        (["my.module:Reader.create"], ("create",)),
    ],
)
def test_labels_of_steps(names: list[str], expected: tuple[str, ...]) -> None:
    assert labels(names) == expected


@pytest.mark.parametrize("name", ["refused", "steps:refused", "steps:", "a b"])
def test_a_step_whose_outputs_could_have_no_name_is_refused(name: str) -> None:
    with pytest.raises(PermanentFailureError) as caught:
        labels([name])
    assert caught.value.reason == "step-name"


def test_the_steps_of_this_package_are_found_by_name() -> None:
    loaded = load_steps([StepSpec("checksum"), StepSpec("checksum")], CONTEXT)
    assert [one.label for one in loaded] == ["checksum", "checksum-2"]


def test_a_function_of_a_module_is_found() -> None:
    assert find_factory("allotment.running.steps.checksum:create") is find_factory("checksum")


@pytest.mark.parametrize("name", ["checksun", "nothing.of:this", "json:no_function", "json:__doc__"])
def test_what_is_no_step_has_failed_for_good(name: str) -> None:
    with pytest.raises(PermanentFailureError) as caught:
        load_steps([StepSpec(name)], CONTEXT)
    assert name in str(caught.value)


def test_a_name_with_a_slip_gets_a_hint() -> None:
    with pytest.raises(PermanentFailureError, match="did you mean `checksum`"):
        find_factory("checksun")


@pytest.mark.parametrize(
    ("settings", "kind", "reason"),
    [
        ({"raise": StepSettingsError("no `x`")}, PermanentFailureError, "step-settings"),
        ({"raise": ImportError("no onnxruntime")}, PermanentFailureError, "step-import"),
        ({"return": {}}, PermanentFailureError, "step-factory"),
        ({"raise": RuntimeError("no memory on the card")}, VolumeFailedError, "step-load"),
        ({"raise": SystemExit(0)}, VolumeFailedError, "step-load"),
        ({"raise": MemoryError()}, VolumeFailedError, "step-load"),
        ({"raise": KeyboardInterrupt()}, VolumeFailedError, "step-load"),
        ({"raise": GeneratorExit()}, VolumeFailedError, "step-load"),
    ],
)
def test_what_a_factory_may_do(settings: dict[str, Any], kind: type[Exception], reason: str) -> None:
    with pytest.raises(kind) as caught:
        load_steps([StepSpec("mine", settings)], CONTEXT, found)
    assert type(caught.value) is kind
    assert caught.value.reason == reason  # type: ignore[attr-defined]
    assert "step mine" in str(caught.value)


def test_steps_are_loaded_once_and_what_is_impossible_is_tried_once() -> None:
    loads: list[int] = []
    now = [0.0]

    def load() -> tuple[Any, ...]:
        loads.append(1)
        now[0] += 3.0
        if len(loads) == 3:
            raise PermanentFailureError("step-settings", "no")
        return ()

    steps = StepsOnce(load, lambda: now[0])
    assert not steps.ready
    steps.get()
    steps.get()
    assert (len(loads), steps.seconds, steps.ready) == (1, 3.0, True)
    steps.forget()
    steps.get()
    assert len(loads) == 2
    steps.forget()
    for _ in range(2):
        with pytest.raises(PermanentFailureError):
            steps.get()
    assert len(loads) == 3
