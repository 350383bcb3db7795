"""This machine's NVIDIA cards, named and measured as NVIDIA's DRA driver publishes them.

The library is ``pynvml`` (nvidia-ml-py), passed in by tests and imported only where the kernel's driver has
left its files: a machine without cards pays for a look at three names. A card with MIG switched on offers its
partitions and never itself. What the library refuses to tell is left out; a selector has to live with that
on a cluster too. Facts: NVIDIA's DRA driver v0.5 (names, attributes, units, taints), NVML API reference.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allotment.devices.found import NOTHING, Found, slices_of
from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.devices.nvml_health import card_taints
from allotment.devices.nvml_words import (
    ADDRESSING_MODES,
    BRANDS,
    architecture,
    cuda_version,
    driver_version,
    mig_device_name,
    mig_profile,
)
from allotment.devices.pci import pci_attributes
from allotment.devices.slices import AttributeValue, Capacity, Device, DeviceId, Taint, Version
from allotment.quantities import format_bytes

Nvml = Any
"""The module ``pynvml``, or what a test puts in its place."""

_SIGNS = ("dev/nvidiactl", "proc/driver/nvidia", "dev/dxg")
_MEBIBYTE = 1 << 20
_MIG_ON = 1


def discover(node: str, *, root: Path = Path("/"), nvml: Nvml | None = None) -> Found:
    """The cards under ``root`` as this node's slices; nothing, and at most one note, when there are none."""
    if nvml is None:
        if not any((root / sign).exists() for sign in _SIGNS):
            return NOTHING
        nvml = _library()
        if nvml is None:
            return Found(notes=("NVIDIA's driver is here, but the package nvidia-ml-py is not installed",))
    try:
        nvml.nvmlInit()
    except (nvml.NVMLError, OSError) as error:
        return Found(notes=(f"NVIDIA's driver is here, but its library does not answer: {error}",))
    try:
        return _Look(nvml, node, root).found()
    except (nvml.NVMLError, OSError) as error:
        return Found(notes=(f"NVIDIA's library does not tell what cards there are: {error}",))
    finally:
        with contextlib.suppress(nvml.NVMLError, OSError):
            nvml.nvmlShutdown()


def _library() -> Nvml | None:
    try:
        return importlib.import_module("pynvml")
    except ImportError:
        return None


@dataclass(frozen=True, slots=True)
class _Card:
    """What a card and its partitions have in common. ``number`` is the minor number, by which it is named."""

    number: int
    handle: Any
    name: str
    attributes: dict[str, AttributeValue]
    taints: tuple[Taint, ...]


class _Look:
    """One look at all cards."""

    def __init__(self, nvml: Nvml, node: str, root: Path) -> None:
        self._nvml = nvml
        self._node = node
        self._root = root
        self._notes: list[str] = []
        self._in_use: dict[DeviceId, int] = {}

    def found(self) -> Found:
        devices: list[Device] = []
        common = self._of_driver()
        for index in range(self._nvml.nvmlDeviceGetCount()):
            devices += self._devices_at(index, common)
        return Found(slices_of(NVIDIA_DRIVER, self._node, devices), self._in_use, tuple(self._notes))

    def _ask(self, question: str, *about: Any) -> Any | None:
        """An answer of the library, or None for what it does not tell."""
        try:
            ask: Callable[..., Any] = getattr(self._nvml, question)
            return ask(*about)
        except (self._nvml.NVMLError, AttributeError):
            return None

    def _of_driver(self) -> dict[str, AttributeValue]:
        driver, cuda = self._ask("nvmlSystemGetDriverVersion"), self._ask("nvmlSystemGetCudaDriverVersion")
        told = {"driverVersion": driver_version(_text(driver)), "cudaDriverVersion": cuda_version(cuda)}
        return {key: Version(version) for key, version in told.items() if version}

    def _devices_at(self, index: int, common: dict[str, AttributeValue]) -> Iterator[Device]:
        try:
            handle = self._nvml.nvmlDeviceGetHandleByIndex(index)
        except self._nvml.NVMLError as error:
            self._notes.append(f"card {index} of NVIDIA's library does not answer and is left out: {error}")
            return
        card = self._card(index, handle, common)
        mode = self._ask("nvmlDeviceGetMigMode", handle)
        if mode is None or mode[0] != _MIG_ON:
            yield self._whole(card)
            return
        partitions = list(self._partitions(card))
        if not partitions:
            self._notes.append(
                f"gpu-{card.number} ({card.name}) has MIG switched on and no partitions: it offers nothing "
                f"until it is cut (nvidia-smi mig -i {index} -cgi PROFILE -C) or MIG is switched off"
            )
        yield from partitions

    def _card(self, index: int, handle: Any, common: dict[str, AttributeValue]) -> _Card:
        minor = self._ask("nvmlDeviceGetMinorNumber", handle)
        name = _text(self._ask("nvmlDeviceGetName", handle))
        attributes: dict[str, AttributeValue] = {"productName": name} if name else {}
        brand = self._ask("nvmlDeviceGetBrand", handle)
        if brand is not None:
            attributes["brand"] = BRANDS.get(brand, "Unknown")
        capability = self._ask("nvmlDeviceGetCudaComputeCapability", handle)
        if capability is not None:
            attributes["architecture"] = architecture(*capability)
            attributes["cudaComputeCapability"] = Version(f"{capability[0]}.{capability[1]}.0")
        mode = self._ask("nvmlDeviceGetAddressingMode", handle)
        if mode is not None and mode in ADDRESSING_MODES:
            attributes["addressingMode"] = ADDRESSING_MODES[mode]
        place = self._ask("nvmlDeviceGetPciInfo", handle)
        if place is not None:
            address = f"{place.domain:04x}:{place.bus:02x}:{place.device:02x}.0"
            attributes |= pci_attributes(self._root, address)
        taints = card_taints(self._nvml, handle)
        return _Card(index if minor is None else minor, handle, name, {**attributes, **common}, taints)

    def _whole(self, card: _Card) -> Device:
        name = f"gpu-{card.number}"
        memory = self._memory(card.handle, name)
        return Device(
            name,
            attributes={"type": "gpu", **self._uuid(card.handle), **card.attributes},
            capacity={} if memory is None else {"memory": Capacity(format_bytes(memory))},
            taints=card.taints,
        )

    def _partitions(self, card: _Card) -> Iterator[Device]:
        for place in range(self._ask("nvmlDeviceGetMaxMigDeviceCount", card.handle) or 0):
            handle = self._ask("nvmlDeviceGetMigDeviceHandleByIndex", card.handle, place)
            if handle is not None:
                yield self._partition(card, handle)

    def _partition(self, card: _Card, handle: Any) -> Device:
        profile = mig_profile(_text(self._ask("nvmlDeviceGetName", handle)))
        number = self._ask("nvmlDeviceGetGpuInstanceId", handle) or 0
        instance = self._ask("nvmlDeviceGetGpuInstanceById", card.handle, number)
        info = None if instance is None else self._ask("nvmlGpuInstanceGetInfo", instance)
        at = None if info is None else (info.profileId, info.placement.start, info.placement.size)
        name = mig_device_name(card.number, profile, at, number)
        attributes = {"type": "mig", **self._uuid(handle), **self._uuid(card.handle, "parentUUID")}
        return Device(
            name,
            attributes={**attributes, **card.attributes, **({"profile": profile} if profile else {})},
            capacity=self._capacity(handle, name, at),
            taints=card.taints,
        )

    def _capacity(self, handle: Any, name: str, at: tuple[int, int, int] | None) -> dict[str, Capacity]:
        """What a partition has: memory in whole mebibytes, engines, and the memory slots that it covers."""
        self._memory(handle, name)
        told = self._ask("nvmlDeviceGetAttributes", handle)
        if told is None:
            return {}
        amounts = {
            "memory": format_bytes(told.memorySizeMB * _MEBIBYTE),
            "multiprocessors": str(told.multiprocessorCount),
            "copyEngines": str(told.sharedCopyEngineCount),
            "decoders": str(told.sharedDecoderCount),
            "encoders": str(told.sharedEncoderCount),
            "jpegEngines": str(told.sharedJpegCount),
            "ofaEngines": str(told.sharedOfaCount),
        }
        if at is not None:
            _, start, size = at
            amounts |= {f"memorySlice{slot}": "1" for slot in range(start, start + size)}
        return {key: Capacity(amount) for key, amount in amounts.items()}

    def _uuid(self, handle: Any, key: str = "uuid") -> dict[str, AttributeValue]:
        uuid = _text(self._ask("nvmlDeviceGetUUID", handle))
        return {key: uuid} if uuid else {}

    def _memory(self, handle: Any, name: str) -> int | None:
        """All memory of a device in bytes; what of it is in use is noted beside."""
        told = self._ask("nvmlDeviceGetMemoryInfo", handle)
        if told is None or not told.total:
            return None
        self._in_use[DeviceId(NVIDIA_DRIVER, self._node, name)] = int(told.used)
        return int(told.total)


def _text(told: Any) -> str:
    return told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told or "")
