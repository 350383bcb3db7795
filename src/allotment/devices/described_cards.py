"""A card of the catalogue as NVIDIA's DRA driver would publish it, on a machine that nobody has looked at.

Names, attributes, units and which of them a whole card or a partition has are the driver's (v0.5, static MIG:
a card that is cut offers its partitions and never itself). What only a real machine knows is made up, always
in the same way: ids from the names of node and card, a PCIe root of its own for each card, a driver of 2026.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final
from uuid import UUID, uuid5

from allotment.devices.catalogue import Card
from allotment.devices.mig.cuts import Cut
from allotment.devices.nvml_words import mig_device_name
from allotment.devices.slices import AttributeValue, Capacity, Device, Version
from allotment.quantities import format_bytes

__all__ = ["Cut", "capacity_of", "card_devices"]

_IDS: Final = UUID("5b0f2c52-7a6b-5a3e-9a53-0d1c61a7a0a5")
_DRIVER: Final = {"driverVersion": Version("580.126.20"), "cudaDriverVersion": Version("13.0.0")}
_CARDS_PER_DOMAIN: Final = 64
_ENGINES: Final = {
    "multiprocessors": "multiprocessors",
    "copy_engines": "copyEngines",
    "decoders": "decoders",
    "encoders": "encoders",
    "jpeg_engines": "jpegEngines",
    "ofa_engines": "ofaEngines",
}


def card_devices(card: Card, node: str, minor: int, cuts: Sequence[Cut] = ()) -> Iterator[Device]:
    """The card as the devices of a node: itself, or the partitions that it is cut into."""
    common = _common(card, minor)
    own = f"GPU-{uuid5(_IDS, f'{node}/{minor}')}"
    if not cuts:
        memory = {} if card.memory is None else {"memory": Capacity(format_bytes(card.memory))}
        yield Device(f"gpu-{minor}", {"type": "gpu", "uuid": own, **common}, memory)
        return
    for cut in cuts:
        attributes: dict[str, AttributeValue] = {
            "type": "mig",
            "uuid": f"MIG-{uuid5(_IDS, f'{node}/{minor}/{cut.profile.id}/{cut.start}')}",
            "parentUUID": own,
            "profile": cut.profile.name,
        }
        at = (cut.profile.id, cut.start, cut.profile.memory_slices)
        yield Device(
            mig_device_name(minor, cut.profile.name, at, 0), {**attributes, **common}, capacity_of(cut)
        )


def _common(card: Card, minor: int) -> dict[str, AttributeValue]:
    domain, bus = divmod(minor, _CARDS_PER_DOMAIN)
    attributes: dict[str, AttributeValue] = {
        "productName": card.product_name,
        "brand": card.brand.value,
        "architecture": card.architecture.value,
        "cudaComputeCapability": Version(card.compute_capability.value),
        **_DRIVER,
        "resource.kubernetes.io/pciBusID": f"{domain:04x}:{3 * bus + 0x12:02x}:00.0",
        "resource.kubernetes.io/pcieRoot": f"pci{domain:04x}:{3 * bus + 0x10:02x}",
    }
    if card.addressing_mode is not None:
        attributes["addressingMode"] = card.addressing_mode
    return attributes


@lru_cache(maxsize=1024)
def capacity_of(cut: Cut) -> Mapping[str, Capacity]:
    """What a partition offers: one value for all that are alike."""
    amounts: dict[str, str] = {}
    if cut.profile.memory.value is not None:
        amounts["memory"] = format_bytes(cut.profile.memory.value)
    told = {ours: getattr(cut.profile, engine) for engine, ours in _ENGINES.items()}
    amounts |= {key: str(number) for key, number in told.items() if number is not None}
    slots = range(cut.start, cut.start + cut.profile.memory_slices)
    amounts |= {f"memorySlice{slot}": "1" for slot in slots}
    return {key: Capacity(amount) for key, amount in amounts.items()}
