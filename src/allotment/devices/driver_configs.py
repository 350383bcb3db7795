"""Which configurations of an allocation a driver gets with a device, and in which order.

What an administrator wrote into the class comes first, and what the user wrote into the claim after it, so
that the later one wins where a driver merges them. An entry is for a device when it is for its driver and
names its request, the request that its alternative belongs to, or none (``DeviceAllocationConfiguration`` of
``resource.k8s.io/v1``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from allotment.devices.claims import AllocatedConfig, AllocatedDevice, Allocation, ClaimSpec
from allotment.devices.classes import OpaqueConfig


def configs_for(allocation: Allocation, result: AllocatedDevice) -> tuple[AllocatedConfig, ...]:
    """The configurations that are for one of the devices, in their order."""
    names = {result.request, result.request.partition("/")[0]}
    return tuple(each for each in allocation.config if _is_for(each.config, result.id.driver, names))


def parameters_for(allocation: Allocation, result: AllocatedDevice) -> tuple[Mapping[str, Any], ...]:
    """The parameters alone, as the driver reads them."""
    return tuple(each.config.parameters for each in configs_for(allocation, result))


def unused_configs(claim: ClaimSpec, drivers: Iterable[str]) -> tuple[OpaqueConfig, ...]:
    """The configurations of a claim that none of the drivers, whose devices it can get, will ever see."""
    known = set(drivers)
    return tuple(config for config in claim.config if config.driver not in known)


def _is_for(config: OpaqueConfig, driver: str, names: set[str]) -> bool:
    return config.driver == driver and (not config.requests or not names.isdisjoint(config.requests))
