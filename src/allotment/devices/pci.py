"""Where a card sits: its PCI address, the root that it hangs from, its NUMA node, from the kernel's ``/sys``.

Facts: ``Documentation/ABI/testing/sysfs-bus-pci``, and the standard attributes of ``resource.kubernetes.io``
(``pciBusID`` in lower case with a domain of four digits, ``pcieRoot`` as ``pci<domain>:<bus>``).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from allotment.devices.kernel_files import read_number
from allotment.devices.slices import AttributeValue

BUS_ID = "resource.kubernetes.io/pciBusID"
PCIE_ROOT = "resource.kubernetes.io/pcieRoot"
NUMA_NODE = "resource.kubernetes.io/numaNode"

_ROOT = re.compile(r"pci[0-9a-f]{4,}:[0-9a-f]{2}")


def pci_attributes(root: Path, address: str) -> dict[str, AttributeValue]:
    """The standard attributes of the device at this address, as far as the machine tells them."""
    found: dict[str, AttributeValue] = {BUS_ID: address}
    bus = pcie_root(root, address)
    if bus is not None:
        found[PCIE_ROOT] = bus
    numa = read_number(root, f"sys/bus/pci/devices/{address}/numa_node")
    if numa is not None and numa >= 0:
        found[NUMA_NODE] = numa
    return found


def pcie_root(root: Path, address: str) -> str | None:
    """The root complex above a device: the first part of its place in the kernel's tree of devices."""
    try:
        place = os.path.realpath(f"{root}/sys/bus/pci/devices/{address}")
    except OSError:
        return None
    return next((part for part in place.split("/") if _ROOT.fullmatch(part)), None)
