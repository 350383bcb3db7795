"""What people count: the resources of device plugins, and what each is as a device of DRA.

A resource of a plugin is a name and a number. Some names stand for devices that a driver publishes; others
for parts that only the plugin keeps apart, which no claim can ask for. Facts: NVIDIA's device plugin and its
names of MIG slices (``nvidia.com/mig-1g.10gb.me`` is the profile ``1g.10gb+me``), AMD's, Intel's and Habana's
device plugins, HAMi, GPU sharing of Alibaba Cloud; the device classes of the vendors' DRA drivers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.devices.classes import AMD_CLASS, GPU_CLASS, INTEL_CLASS, MIG_CLASS, DeviceClass
from allotment.devices.extended_resources import PREFIX
from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.devices.rules import amount

MIG_PREFIX: Final = "nvidia.com/mig-"
SHARED_SUFFIX: Final = ".shared"
GAUDI_CLASS: Final = "gaudi.intel.com"
_WHOLE: Final = {
    "nvidia.com/gpu": GPU_CLASS,
    "amd.com/gpu": AMD_CLASS,
    "gpu.intel.com/i915": INTEL_CLASS,
    "gpu.intel.com/xe": INTEL_CLASS,
    "habana.ai/gaudi": GAUDI_CLASS,
}
_PROFILE: Final = re.compile(r"(?:\d+c\.)?\d+g\.\d+gb(?P<more>\.[a-z0-9.]+)?")
_LIKE_A_GPU: Final = re.compile(r"gpu|cuda|nvidia|mig-|tpu|npu|gaudi|neuron|i915|dcu|mlu", re.IGNORECASE)
_NODE_ONLY: Final = frozenset({"cpu", "memory", "ephemeral-storage", "pods", "storage"})
_HAMI: Final = "HAMi keeps the parts of its virtual cards apart, and no claim asks for them"
_KEPT: Final[Mapping[str, str]] = {
    "nvidia.com/gpumem": _HAMI,
    "nvidia.com/gpumem-percentage": _HAMI,
    "nvidia.com/gpucores": _HAMI,
    "nvidia.com/priority": _HAMI,
    "aliyun.com/gpu-mem": "GPU sharing of Alibaba Cloud gives out memory of a card, and no claim asks for it",
    "gpu.intel.com/i915_monitoring": "it gives a look at every card and no card of its own",
    "gpu.intel.com/xe_monitoring": "it gives a look at every card and no card of its own",
    "gpu.intel.com/millicores": "Intel's plugin gives out parts of a card by it, and no claim asks for them",
    "gpu.intel.com/memory.max": "Intel's plugin gives out parts of a card by it, and no claim asks for them",
    "gpu.intel.com/tiles": "Intel's plugin gives out parts of a card by it, and no claim asks for them",
}
SPOILERS: Final = frozenset(_KEPT) - {"gpu.intel.com/i915_monitoring", "gpu.intel.com/xe_monitoring"}


@dataclass(frozen=True, slots=True)
class Counted:
    """A resource as devices: the class that has them, and selectors for some of the class."""

    resource: str
    device_class: str
    selectors: tuple[str, ...] = ()

    @property
    def is_nvidia(self) -> bool:
        """Whether NVIDIA's driver publishes the devices."""
        return self.device_class in {GPU_CLASS, MIG_CLASS}

    @property
    def noun(self) -> str:
        """The resource in one short word, as part of a name."""
        return re.sub(r"[^a-z0-9]+", "-", self.resource.rpartition("/")[2].lower()).strip("-")

    def own_class(self) -> DeviceClass:
        """A class that stands for the resource: the vendor's, or one for this profile alone."""
        if not self.selectors:
            return DeviceClass(self.device_class, (), extended_resource_name=self.resource)
        name = f"{self.noun}.gpu.nvidia.com"
        driver = f"device.driver == '{NVIDIA_DRIVER}'"
        kind = f"device.attributes['{NVIDIA_DRIVER}'].type == 'mig'"
        return DeviceClass(name, (driver, kind, *self.selectors), extended_resource_name=self.resource)


def counted(resource: str) -> Counted | None:
    """The devices that a resource stands for; None where it stands for none that a claim can ask for."""
    if resource in _WHOLE:
        return Counted(resource, _WHOLE[resource])
    if resource.startswith(MIG_PREFIX) and (profile := _profile(resource.removeprefix(MIG_PREFIX))):
        return Counted(resource, MIG_CLASS, (profile_selector(profile),))
    return None


def why_kept(resource: str) -> str | None:
    """Why a resource that looks like a GPU cannot become a claim; None for what is no GPU or can."""
    if counted(resource) is not None or resource in _NODE_ONLY or resource.startswith(PREFIX):
        return None
    if resource.startswith("nvidia.com/") and resource.endswith(SHARED_SUFFIX):
        return "it counts replicas of shared cards (time-slicing or MPS), and a claim would take a whole one"
    if resource in _KEPT:
        return _KEPT[resource]
    if "/" in resource and _LIKE_A_GPU.search(resource):
        return "it is not known which devices of a DRA driver it stands for"
    return None


def looks_counted(resource: str) -> bool:
    """Whether a name is that of a GPU resource, one that becomes a claim or not."""
    return counted(resource) is not None or why_kept(resource) is not None


def whole_number(value: Any) -> int | None:
    """A count as a whole number; None where it is none."""
    read = amount(str(value))
    if read is None or read.nanos < 0 or read.nanos % 10**9:
        return None
    return read.nanos // 10**9


def profile_selector(profile: str) -> str:
    """The CEL expression for slices of one MIG profile."""
    return f"device.attributes['{NVIDIA_DRIVER}'].?profile.orValue('') == '{profile}'"


def _profile(text: str) -> str | None:
    found = _PROFILE.fullmatch(text)
    if found is None or text.endswith(SHARED_SUFFIX):
        return None
    more = found["more"]
    return text if more is None else f"{text.removesuffix(more)}+{more.removeprefix('.')}"
