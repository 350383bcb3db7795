"""This machine's AMD and Intel cards from the kernel's files, named as their DRA drivers name them.

Both vendors' Python libraries fail where there is no card, and the kernel tells what is needed. Only what the
drivers are known to publish is published: AMD's ``gpu-<card>-<render node>`` with ``memory``,
``computeUnits`` and ``simdUnits``, Intel's devices by PCI address and id with ``memory`` and ``millicores``.
Facts: ROCm/k8s-gpu-dra-driver and intel/intel-resource-drivers-for-kubernetes (documentation of October 2025
and later), Linux ``drivers/gpu/drm/amd`` and ``amdkfd`` (sysfs), ``i915`` (``lmem_total_bytes``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from allotment.devices.found import NOTHING, Found, slices_of
from allotment.devices.kernel_files import number, numbered, read_number, read_text
from allotment.devices.known_classes import AMD_DRIVER, INTEL_DRIVER
from allotment.devices.pci import PCIE_ROOT, pci_attributes, pcie_root
from allotment.devices.slices import AttributeValue, Capacity, Device, DeviceId, Version
from allotment.quantities import format_bytes

_DRM: Final = "sys/class/drm"
_KFD: Final = "sys/class/kfd/kfd/topology/nodes"
_AMD: Final = "0x1002"
_INTEL: Final = "0x8086"
_WHOLE: Final = "spx"
_INTEL_DRIVERS: Final = frozenset({"i915", "xe"})


@dataclass(frozen=True, slots=True)
class _Drm:
    """A card as the kernel's graphics layer shows it; ``folder`` holds the files of its PCI device."""

    index: int
    folder: str
    address: str
    vendor: str


def discover(node: str, *, root: Path = Path("/")) -> Found:
    """AMD's and Intel's cards under ``root`` as this node's slices."""
    cards = tuple(_cards(root))
    if not cards:
        return NOTHING
    return _amd(node, root, cards) + _intel(node, root, cards)


def _cards(root: Path) -> Iterator[_Drm]:
    for index, name in numbered(root, _DRM, "card"):
        folder = f"{_DRM}/{name}/device"
        vendor = read_text(root, f"{folder}/vendor")
        if vendor in {_AMD, _INTEL}:
            yield _Drm(index, folder, _address(root, folder), vendor)


def _address(root: Path, folder: str) -> str:
    """The PCI address: the name of the folder that the card's ``device`` leads to."""
    return os.path.basename(os.path.realpath(f"{root}/{folder}"))  # noqa: PTH119 - realpath gives text


def _amd(node: str, root: Path, cards: tuple[_Drm, ...]) -> Found:
    topology = dict(_topology(root))
    devices, notes, in_use = [], [], {}
    for card in cards:
        if card.vendor != _AMD:
            continue
        partition = (read_text(root, f"{card.folder}/current_compute_partition") or _WHOLE).lower()
        render = _render(root, card)
        if partition != _WHOLE:
            notes.append(
                f"AMD card {card.index} ({card.address}) is partitioned ({partition}): its parts are offered "
                "by AMD's driver on a cluster, and not on this machine"
            )
        elif render is not None:
            device = _amd_device(root, card, render, topology.get(render, {}))
            devices.append(device)
            used = read_number(root, f"{card.folder}/mem_info_vram_used")
            if used is not None:
                in_use[DeviceId(AMD_DRIVER, node, device.name)] = used
    return Found(slices_of(AMD_DRIVER, node, devices), in_use, tuple(notes))


def _amd_device(root: Path, card: _Drm, render: int, told: Mapping[str, int]) -> Device:
    memory_partition = (read_text(root, f"{card.folder}/current_memory_partition") or "nps1").lower()
    attributes: dict[str, AttributeValue] = {
        "type": "amdgpu",
        "cardIndex": card.index,
        "renderIndex": render,
        "pciAddr": card.address,
        "partitionProfile": f"{_WHOLE}_{memory_partition}",
    }
    if told.get("unique_id"):
        attributes["deviceID"] = str(told["unique_id"])
    if name := read_text(root, f"{card.folder}/product_name"):
        attributes["productName"] = name.replace(" ", "_")
    if version := read_text(root, "sys/module/amdgpu/version"):
        attributes["driverVersion"] = Version(version)
    if source := read_text(root, "sys/module/amdgpu/srcversion"):
        attributes["driverSrcVersion"] = source
    if bus := pcie_root(root, card.address):
        attributes[PCIE_ROOT] = bus
    simds, each = told.get("simd_count", 0), told.get("simd_per_cu", 0)
    amounts = {
        "memory": format_bytes(read_number(root, f"{card.folder}/mem_info_vram_total") or 0),
        "computeUnits": str(simds // each) if simds and each else "",
        "simdUnits": str(simds) if simds else "",
    }
    capacity = {key: Capacity(amount) for key, amount in amounts.items() if amount}
    return Device(f"gpu-{card.index}-{render}", attributes=attributes, capacity=capacity)


def _render(root: Path, card: _Drm) -> int | None:
    return next((index for index, _ in numbered(root, f"{card.folder}/drm", "renderD")), None)


def _topology(root: Path) -> Iterator[tuple[int, dict[str, int]]]:
    """What the compute driver says of each of its nodes that is a card, by the number of its render node."""
    for _, name in numbered(root, _KFD, ""):
        lines = (read_text(root, f"{_KFD}/{name}/properties") or "").splitlines()
        pairs = (line.split() for line in lines)
        told = {pair[0]: value for pair in pairs if len(pair) == 2 and (value := number(pair[1])) is not None}
        if told.get("drm_render_minor", 0) > 0:
            yield told["drm_render_minor"], told


def _intel(node: str, root: Path, cards: tuple[_Drm, ...]) -> Found:
    devices = []
    for card in cards:
        driver = os.path.basename(os.path.realpath(f"{root}/{card.folder}/driver"))  # noqa: PTH119 - as above
        if card.vendor == _INTEL and driver in _INTEL_DRIVERS:
            devices.append(_intel_device(root, card, driver))
    return Found(slices_of(INTEL_DRIVER, node, devices))


def _intel_device(root: Path, card: _Drm, driver: str) -> Device:
    """An Intel card. Memory 0 is its driver's way to say that nobody knows."""
    model = read_text(root, f"{card.folder}/device") or "0x0000"
    place = pci_attributes(root, card.address)
    attributes: dict[str, AttributeValue] = {
        "driver": driver,
        "family": "Unknown",
        "health": "Healthy",
        "model": "Unknown",
        "pciAddress": card.address,
        "pciId": model,
        "sriov": bool(read_number(root, f"{card.folder}/sriov_totalvfs")),
        **place,
    }
    if PCIE_ROOT in place:
        attributes["pciRoot"] = str(place[PCIE_ROOT]).rpartition(":")[2]
    memory = read_number(root, f"{_DRM}/card{card.index}/lmem_total_bytes") or 0
    capacity = {"memory": Capacity(format_bytes(memory)), "millicores": Capacity("1k")}
    name = f"{card.address}-{model}".replace(":", "-").replace(".", "-").lower()
    return Device(name, attributes=attributes, capacity=capacity)
