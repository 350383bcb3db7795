"""DeviceClasses: the platform's names for kinds of devices, by which claims ask.

A class narrows with selectors, all of which must hold, and they are tried before those of a request: a device
of another vendor is put aside before a request's selector could fail on it. From ``DeviceClass.spec`` in
``resource.k8s.io/v1``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from allotment.devices.slices import API_VERSION

CPU_CLASS = "cpu.allotment"  # ours: a device is a logical processor
GPU_CLASS = "gpu.nvidia.com"  # NVIDIA's: a device is a whole card
MIG_CLASS = "mig.nvidia.com"  # NVIDIA's: a device is a part of a card, cut off in hardware
COUNTED_MIG_CLASS = "mig.gpu.allotment"  # ours: the same parts, by a name that KAI counts
AMD_CLASS = "gpu.amd.com"
INTEL_CLASS = "gpu.intel.com"


@dataclass(frozen=True, slots=True)
class OpaqueConfig:
    """Parameters for a driver, which it alone understands, and the requests they are for (none: all)."""

    driver: str
    parameters: Mapping[str, Any] = field(hash=False)
    requests: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The configuration as the API has it."""
        opaque = {"opaque": {"driver": self.driver, "parameters": dict(self.parameters)}}
        return {"requests": list(self.requests), **opaque} if self.requests else opaque


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """A kind of device: CEL expressions over ``device`` that must all hold, and what comes with it.

    ``metadata`` is what the object's metadata says beside its name.
    """

    name: str
    selectors: tuple[str, ...] = ()
    config: tuple[OpaqueConfig, ...] = ()
    extended_resource_name: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Any]:
        """The class as an API object."""
        spec: dict[str, Any] = {}
        if self.selectors:
            spec["selectors"] = selectors_to_list(self.selectors)
        if self.config:
            spec["config"] = [config.to_dict() for config in self.config]
        if self.extended_resource_name:
            spec["extendedResourceName"] = self.extended_resource_name
        return {
            "apiVersion": API_VERSION,
            "kind": "DeviceClass",
            "metadata": {"name": self.name, **self.metadata},
            "spec": spec,
        }


def selectors_to_list(selectors: tuple[str, ...]) -> list[dict[str, Any]]:
    """CEL expressions as the API lists them."""
    return [{"cel": {"expression": expression}} for expression in selectors]
