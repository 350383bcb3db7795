"""What to do about a selector that is an error on a device depends on the error."""

from __future__ import annotations

import pytest

from allotment.devices.describe import parse_description
from allotment.devices.selectors import SelectorError
from allotment.devices.slices import Device
from allotment.needs.lints.looked import Looked
from allotment.needs.lints.on_worlds import selector_fails
from allotment.platform.model import Platform
from allotment.platform.need import Need
from allotment.repository.model import Pipeline, StepCall

SELECT = "device.driver == 'x'"


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        ("CEL runtime error: no such key: memory", "guard the key"),
        ("CEL runtime error: operation cancelled: actual cost limit exceeded", "ask less of each device"),
    ],
)
def test_the_hint_is_for_the_error(error: str, hint: str) -> None:
    def matches(selector: str, _driver: str, _device: Device) -> bool:
        if selector == SELECT:
            raise SelectorError(error)
        return True

    need = Need(select=SELECT)
    looked = Looked(Pipeline("p", (StepCall("checksum"),), gpu=need), need, Platform())
    (fault,) = selector_fails(looked, parse_description("1 x L4"), matches)
    assert error in fault.message
    assert fault.hint.startswith(hint)
