"""What a claim was given is read back as it was written; what cannot be read is left out."""

from __future__ import annotations

from typing import Any

import pytest

from allotment.devices.claims import AllocatedConfig, AllocatedDevice, Allocation, ConfigSource, Toleration
from allotment.devices.classes import OpaqueConfig
from allotment.devices.nodes import NodeSelector, NodeSelectorTerm, Requirement
from allotment.devices.read_allocations import allocation_of
from allotment.devices.slices import DeviceId

NODE = NodeSelector((NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", ("n",)),)),))
FULL = Allocation(
    (
        AllocatedDevice("a", DeviceId("d", "p", "x")),
        AllocatedDevice(
            "b/big",
            DeviceId("d", "p/q", "y"),
            admin_access=True,
            tolerations=(Toleration("k", "Exists", effect="NoExecute", toleration_seconds=3),),
            binding_conditions=("ready",),
            binding_failure_conditions=("broken",),
            share_id="11111111-2222-3333-4444-555555555555",
            consumed_capacity={"memory": "10Gi"},
            skip_node_operations=("*",),
        ),
    ),
    (
        AllocatedConfig(ConfigSource.FROM_CLASS, OpaqueConfig("d", {"a": 1}, ("a",))),
        AllocatedConfig(ConfigSource.FROM_CLAIM, OpaqueConfig("d", {})),
    ),
    NODE,
    "2026-01-02T03:04:05Z",
)


@pytest.mark.parametrize(
    "allocation", [FULL, Allocation(), Allocation(FULL.results[:1]), Allocation(node_selector=NODE)]
)
def test_what_was_written_is_read_back(allocation: Allocation) -> None:
    assert allocation_of({"allocation": allocation.to_dict()}) == allocation


@pytest.mark.parametrize("status", [{}, {"allocation": None}, {"allocation": []}, {"reservedFor": []}])
def test_a_claim_without_an_allocation(status: dict[str, Any]) -> None:
    assert allocation_of(status) is None


@pytest.mark.parametrize(
    "devices",
    [
        {"results": [{"request": "a", "driver": "d"}, 3]},
        {"results": "none"},
        {"config": [{"source": "Elsewhere", "opaque": {"driver": "d"}}, {"source": "FromClass"}]},
    ],
)
def test_what_cannot_be_read_is_left_out(devices: dict[str, Any]) -> None:
    assert allocation_of({"allocation": {"devices": devices}}) == Allocation()
