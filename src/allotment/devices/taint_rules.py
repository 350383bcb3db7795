"""DeviceTaintRules: taints that an administrator puts on devices from outside their slices.

A rule selects devices by driver, pool and name, and what it selects is tainted as if the slice said so (KEP
5055). The kind is ``v1`` since Kubernetes 1.37, ``v1beta2`` in 1.36 and ``v1alpha3`` from 1.33 on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from allotment.devices.slices import API_VERSION, Device, ResourceSlice, Taint


@dataclass(frozen=True, slots=True)
class DeviceTaintRule:
    """A taint, and the devices that get it: those that meet everything that is said (None: any).

    A rule without a selector (``selects`` is False) taints nothing; one with an empty selector, everything.
    """

    name: str
    taint: Taint
    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    selects: bool = True
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def covers(self, published: ResourceSlice, device: Device) -> bool:
        """Whether the device gets the taint."""
        pairs = (
            (self.driver, published.driver),
            (self.pool, published.pool.name),
            (self.device, device.name),
        )
        return self.selects and all(wanted is None or wanted == name for wanted, name in pairs)

    def to_dict(self) -> dict[str, Any]:
        """The rule as an API object."""
        selects = {"driver": self.driver, "pool": self.pool, "device": self.device}
        selector = {key: value for key, value in selects.items() if value is not None}
        return {
            "apiVersion": API_VERSION,
            "kind": "DeviceTaintRule",
            "metadata": {"name": self.name, **self.metadata},
            "spec": {
                **({"deviceSelector": selector} if self.selects else {}),
                "taint": self.taint.to_dict(),
            },
        }


def tainted(slices: Sequence[ResourceSlice], rules: Sequence[DeviceTaintRule]) -> tuple[ResourceSlice, ...]:
    """The slices with the taints of the rules put on; the same slices when there are no rules."""
    if not rules:
        return tuple(slices)
    return tuple(_with_taints(published, rules) for published in slices)


def _with_taints(published: ResourceSlice, rules: Sequence[DeviceTaintRule]) -> ResourceSlice:
    here = [rule for rule in rules if rule.driver in {None, published.driver}]
    if not here:
        return published
    devices = tuple(
        replace(device, taints=(*device.taints, *added)) if added else device
        for device in published.devices
        for added in [tuple(rule.taint for rule in here if rule.covers(published, device))]
    )
    return replace(published, devices=devices)
