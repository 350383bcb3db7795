"""Which cards a worker sees: exactly those that it holds, by the names that nothing renumbers.

CUDA numbers cards by speed unless told otherwise, and NVIDIA's library by bus; a UUID is right in both. A
worker on processors sees no card at all, so that a library that looks for one does not settle on somebody
else's. What a pipeline's own environment says of cards does not count. Facts: CUDA C++ Programming Guide
(``CUDA_VISIBLE_DEVICES``, MIG UUIDs), ROCm documentation (``ROCR_VISIBLE_DEVICES``, ``GPU-`` and 16 hex
digits of the unique id), Level Zero specification (``ZE_AFFINITY_MASK``, devices in order of the bus).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from allotment.devices.known_classes import AMD_DRIVER, INTEL_DRIVER, NVIDIA_DRIVER
from allotment.devices.pci import BUS_ID
from allotment.devices.slices import Device, DeviceId
from allotment.devices.world import World

CUDA: Final = "CUDA_VISIBLE_DEVICES"
ROCR: Final = "ROCR_VISIBLE_DEVICES"
ZE_MASK: Final = "ZE_AFFINITY_MASK"
NONE_SEEN: Final[Mapping[str, str]] = {CUDA: "", ROCR: ""}
_IN_BUS_ORDER: Final[Mapping[str, str]] = {"ZE_ENABLE_PCI_ID_DEVICE_ORDER": "1"}


class Visible(NamedTuple):
    """How one card is made visible: the variable, and the card's name in it."""

    variable: str
    name: str


def visible_cards(world: World) -> Mapping[DeviceId, Visible]:
    """How each card of this machine is made visible; cards that have no name of their own are left out."""
    intel = sorted(
        str(device.attributes.get(BUS_ID)) for id_, device in world.devices() if id_.driver == INTEL_DRIVER
    )
    seen = ((id_, _visible(id_, device, intel)) for id_, device in world.devices())
    return {id_: visible for id_, visible in seen if visible is not None}


def card_variables(devices: Iterable[DeviceId], cards: Mapping[DeviceId, Visible]) -> dict[str, str]:
    """The environment of a worker that holds these devices, as far as cards go."""
    names: dict[str, list[str]] = {}
    for device in devices:
        if device in cards:
            names.setdefault(cards[device].variable, []).append(cards[device].name)
    said = {variable: ",".join(listed) for variable, listed in names.items()}
    return {**NONE_SEEN, **said, **(_IN_BUS_ORDER if ZE_MASK in said else {})}


def _visible(id_: DeviceId, device: Device, intel: list[str]) -> Visible | None:
    if id_.driver == NVIDIA_DRIVER and isinstance(uuid := device.attributes.get("uuid"), str):
        return Visible(CUDA, uuid)
    if id_.driver == AMD_DRIVER and isinstance(number := device.attributes.get("deviceID"), str):
        return Visible(ROCR, f"GPU-{int(number):016x}")
    if id_.driver == INTEL_DRIVER:
        return Visible(ZE_MASK, str(intel.index(str(device.attributes.get(BUS_ID)))))
    return None
