"""What the cards of one pod share: ``same`` as a constraint of the claim, and back into words.

``card-model`` are cards of one product name, ``pcie-root`` cards below one root complex, which reach each
other without passing the processors, ``card`` slices of one card. A device that does not publish the
attribute cannot be one of several.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from allotment.devices.claims import Constraint
from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.devices.pci import PCIE_ROOT

MODEL: Final = f"{NVIDIA_DRIVER}/productName"
PARENT: Final = f"{NVIDIA_DRIVER}/parentUUID"
SAME_CARD: Final = "card"
_ATTRIBUTES: Final[Mapping[str, str]] = {SAME_CARD: PARENT, "card-model": MODEL, "pcie-root": PCIE_ROOT}
_WORDS: Final[Mapping[str, str]] = {
    PARENT: "all of one card",
    MODEL: "all of one model",
    PCIE_ROOT: "all below one PCIe root",
}


def constraint_for(same: str | None, count: int, request: str) -> Constraint | None:
    """The constraint on the cards of a request; none where one card shares with nobody."""
    if same is None or count < 2:
        return None
    return Constraint((request,), match_attribute=_ATTRIBUTES[same])


def same_words(constraint: Constraint) -> str:
    """What the constraint asks for."""
    if constraint.match_attribute is not None:
        attribute = constraint.match_attribute
        return _WORDS.get(attribute, f"all with the same {attribute}")
    return f"each with another {constraint.distinct_attribute}"
