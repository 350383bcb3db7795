"""A world is decided in as its version of Kubernetes decides: what a version does not do, no claim gets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.devices.allocator import allocate
from allotment.devices.claims import Allocation, ClaimSpec, ExactRequest, Request
from allotment.devices.classes import OpaqueConfig
from allotment.devices.describe import parse_description
from allotment.devices.fleet import Fleet, Placed
from allotment.devices.server import Server

ONE_SLICE = ClaimSpec(
    (
        Request(
            "part",
            ExactRequest("mig.nvidia.com", ("device.attributes['gpu.nvidia.com'].profile == '1g.10gb'",)),
        ),
    )
)


@pytest.mark.parametrize(
    ("version", "gates", "fits"),
    [
        ("1.34", {}, False),
        ("1.35", {}, False),
        ("1.35", {"DRAPartitionableDevices": True}, True),
        ("1.36", {}, True),
        ("1.36", {"DRAPartitionableDevices": False}, False),
        ("1.37", {}, True),
    ],
)
def test_cards_that_are_cut_on_demand_are_given_where_the_gate_is_on(
    version: str, gates: dict[str, bool], fits: bool
) -> None:
    described = parse_description("1 x H100-SXM mig=on-demand")
    world = replace(described, server=Server.of(version, gates))
    assert isinstance(allocate(ONE_SLICE, world, world.node), Allocation) is fits
    assert isinstance(Fleet(world).place(ONE_SLICE), Placed) is fits


@pytest.mark.parametrize(("version", "named"), [("1.35", ("gpu",)), ("1.36", ("gpu",)), ("1.37", ())])
def test_a_configuration_for_all_requests_names_them_until_1_36(version: str, named: tuple[str, ...]) -> None:
    settings = OpaqueConfig("gpu.nvidia.com", {"sharing": "none"}, ("gpu",))
    claim = ClaimSpec((Request("gpu", ExactRequest("gpu.nvidia.com")),), config=(settings,))
    world = replace(parse_description("1 x L4"), server=Server.of(version))
    for given in (allocate(claim, world, world.node), Fleet(world).place(claim)):
        found = given.allocation if isinstance(given, Placed) else given
        assert isinstance(found, Allocation)
        assert [each.config.requests for each in found.config] == [named]
