"""The device classes that this machine has, and that a described fleet has: ours, and those of vendors.

``cpu.allotment`` is ours. The others are as their drivers install them, and they are there even where their
cards are not, so that a claim for cards is understood on a machine that has none and its alternatives are
tried. Facts: the Helm charts of NVIDIA's, AMD's and Intel's DRA drivers.
"""

from __future__ import annotations

from typing import Final

from allotment.devices.classes import AMD_CLASS, CPU_CLASS, GPU_CLASS, INTEL_CLASS, MIG_CLASS, DeviceClass

CPU_DRIVER: Final = "cpu.allotment"
NVIDIA_DRIVER: Final = "gpu.nvidia.com"
AMD_DRIVER: Final = "gpu.amd.com"
INTEL_DRIVER: Final = "gpu.intel.com"


def _of_type(name: str, kind: str) -> DeviceClass:
    driver, kinds = f"device.driver == '{NVIDIA_DRIVER}'", f"device.attributes['{NVIDIA_DRIVER}'].type"
    return DeviceClass(name, (driver, f"{kinds} == '{kind}'"))


CLASSES: Final = (
    DeviceClass(CPU_CLASS, (f"device.driver == '{CPU_DRIVER}'",)),
    _of_type(GPU_CLASS, "gpu"),
    _of_type(MIG_CLASS, "mig"),
    DeviceClass(AMD_CLASS, (f"device.driver == '{AMD_DRIVER}'",)),
    DeviceClass(INTEL_CLASS, (f"device.driver == '{INTEL_DRIVER}'",)),
)
