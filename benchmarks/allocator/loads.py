"""What is placed: single cards, four alike, parts cut on demand, and needs over a fleet of twelve models.

Each load is a fleet of 1,000 nodes in words and a list of claims that it can hold; half of it is half the
nodes and half the claims.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import cycle, islice
from pathlib import Path

from allotment.devices.claims import ClaimSpec, Constraint, ExactRequest, Request
from allotment.devices.describe import parse_description
from allotment.devices.fleet import Fleet, Placed
from allotment.devices.known_classes import NVIDIA_DRIVER
from allotment.devices.slices import DeviceId
from allotment.devices.world import World
from benchmarks.allocator.naive import Found

NODES = 1000
GPU_CLASS = "gpu.nvidia.com"
MIG_CLASS = "mig.nvidia.com"
MODELS = (
    "T4", "L4", "A10", "A30", "A40", "L40S",
    "A100-40", "A100-80", "H100-PCIE-80", "H100-NVL-94", "H100-SXM-80", "H200-141",
)  # fmt: skip
PROFILES = ("3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb")


def _at_least(memory: str) -> str:
    return f"device.capacity['{NVIDIA_DRIVER}'].memory.compareTo(quantity('{memory}')) >= 0"


def _of_profile(profile: str) -> str:
    return f"device.attributes['{NVIDIA_DRIVER}'].profile == '{profile}'"


def _claim(device_class: str, *selectors: str, count: int = 1, same: str | None = None) -> ClaimSpec:
    constraints = () if same is None else (Constraint(match_attribute=f"{NVIDIA_DRIVER}/{same}"),)
    return ClaimSpec((Request("cards", ExactRequest(device_class, selectors, count)),), constraints)


@dataclass(frozen=True)
class Load:
    """So many claims, in turn of these kinds, over so many nodes, each kind of node in turn.

    ``naive_claims``: how many the naive search is asked for; ``is_promised``: held to upstream's rate;
    ``times_naive``: how often a claim of ours goes into one of the naive search's.
    """

    name: str
    cards: tuple[str, ...]
    kinds: tuple[ClaimSpec, ...]
    claims: int
    naive_claims: int
    nodes: int = NODES
    is_promised: bool = False
    times_naive: int = 50

    @cached_property
    def world(self) -> World:
        """The fleet."""
        each, more = divmod(self.nodes, len(self.cards))
        counts = [each + (number < more) for number in range(len(self.cards))]
        words = (f"{count} nodes of {cards}" for count, cards in zip(counts, self.cards, strict=True))
        return parse_description(", ".join(words))

    @cached_property
    def half(self) -> Load:
        """The same over half the nodes."""
        return replace(self, claims=self.claims // 2, nodes=self.nodes // 2)


LOADS = (
    Load("single cards", ("8 x H100-SXM",), (_claim(GPU_CLASS),), 8 * NODES, 10, is_promised=True),
    Load(
        "four alike",
        ("8 x H100-SXM",),
        (_claim(GPU_CLASS, _at_least("40Gi"), count=4, same="productName"),),
        2 * NODES,
        10,
        times_naive=20,  # which has four times as much to show for a walk
    ),
    Load(
        "MIG on demand",
        ("4 x H100-SXM mig=on-demand",),
        tuple(
            _claim(MIG_CLASS, _of_profile(profile))
            for profile in ("3g.40gb", "2g.20gb", "1g.10gb", "1g.10gb")
        ),
        8 * NODES,
        6,
    ),
    Load(
        f"{len(MODELS)} models",
        tuple(f"8 x {model}" for model in MODELS),
        tuple(_claim(GPU_CLASS, _at_least(memory)) for memory in ("70Gi", "20Gi", "35Gi", "10Gi")),
        6 * NODES,
        10,
    ),
)


def place_all(load: Load) -> list[tuple[ClaimSpec, Found | None]]:
    """Every claim in order, each with its devices."""
    places = Fleet(load.world)
    answers = []
    for claim in islice(cycle(load.kinds), load.claims):
        placed = places.place(claim)
        answers.append((claim, placed.allocation.ids if isinstance(placed, Placed) else None))
    _look_at(load, [found for _, found in answers])
    return answers


def most_memory(load: Load) -> int:
    """Bytes that a process of its own needs at most, to describe the fleet and to place all."""
    alone = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=alone) as processes:
        return processes.submit(_peak, load.name).result()


def _peak(name: str) -> int:
    place_all(next(load for load in LOADS if load.name == name))
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("ascii").splitlines())
    return int(lines["VmHWM"].split()[0]) * 1024  # ru_maxrss would begin with the parent's


def _look_at(load: Load, found: Sequence[tuple[DeviceId, ...] | None]) -> None:
    """Nothing twice, and nothing refused; AssertionError otherwise."""
    given = [device for devices in found if devices is not None for device in devices]
    if len(given) != len(set(given)) or None in found:
        raise AssertionError(f"{load.name}: {found.count(None)} claims refused")
