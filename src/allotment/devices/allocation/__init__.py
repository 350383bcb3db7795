"""Allocation of devices as the upstream allocator decides it (k8s.io/dynamic-resource-allocation).

``features`` and ``behaviours`` say what a version can do and where builds differ; ``sites`` gathers the
pools of a node, ``ground`` keeps what was decided once, ``wants`` makes claims ready, ``search`` looks for
the first solution with the devices of a ``trial``, and ``outcome`` writes it down. ``taken`` is what is in
use.
"""

from __future__ import annotations

from allotment.devices.allocation.allocating import Attempt, allocate_on
from allotment.devices.allocation.behaviours import BEHAVIOURS, FIXED, Behaviour, behaviour_of
from allotment.devices.allocation.errors import AllocationError
from allotment.devices.allocation.features import Features, Variant, features_of, variant_for
from allotment.devices.allocation.ground import Ground
from allotment.devices.allocation.sites import PoolIndex, PoolState, Site
from allotment.devices.allocation.taken import Taken
from allotment.devices.allocation.wants import NamedClaim

__all__ = [
    "BEHAVIOURS",
    "FIXED",
    "AllocationError",
    "Attempt",
    "Behaviour",
    "Features",
    "Ground",
    "NamedClaim",
    "PoolIndex",
    "PoolState",
    "Site",
    "Taken",
    "Variant",
    "allocate_on",
    "behaviour_of",
    "features_of",
    "variant_for",
]
