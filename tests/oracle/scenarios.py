"""Made-up scenarios for allocators: what is published, what is given away, and what one pod asks for.

The layout is that of ``main.go``: features, classes, slices, node, claims, allocatedState. A seed always
makes the same scenario.
"""

from __future__ import annotations

from typing import Any

from tests.oracle.dice import Dice
from tests.oracle.making_claims import claims, classes
from tests.oracle.making_slices import NODE, given_away, pools

OFTEN = {
    "AdminAccess": 0.9,
    "PrioritizedList": 0.9,
    "PartitionableDevices": 0.6,
    "DeviceTaints": 0.6,
    "ConsumableCapacity": 0.5,
    "DeviceBindingAndStatus": 0.4,
    "ListTypeAttributes": 0.2,
    "FractionalCapacityRange": 0.3,
}


def scenario(seed: int) -> dict[str, Any]:
    """The scenario of this seed."""
    dice = Dice(seed)
    features = {name: True for name, part in OFTEN.items() if dice.chance(part)}
    slices = pools(dice, features)
    labels = {"zone": "a"} | ({"disk": "fast"} if dice.chance(0.5) else {})
    return {
        "id": seed,
        "features": features,
        "classes": classes(dice),
        "slices": slices,
        "node": {"metadata": {"name": NODE, "labels": labels}},
        "claims": claims(dice, features),
        "allocatedState": given_away(dice, slices),
    }
