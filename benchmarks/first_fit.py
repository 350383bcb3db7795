"""First-fit of 8,000 single-card claims on 1,000 nodes of 8 cards, beside the slowest search that is right.

The upstream allocator (`k8s.io/dynamic-resource-allocation`, 1.36) places 63 such claims a second on two
shared cores; the promise is a hundred times that, and fifty times a search of our own that looks at every
device of every node for each claim. That one would take minutes: it is asked for a part of the claims, spread
evenly, each against what is taken by then. How the time grows with the fleet is held as well.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import partial
from statistics import median

from allotment.devices.claims import ClaimSpec, ExactRequest, Request
from allotment.devices.classes import DeviceClass
from allotment.devices.fleet import Fleet, Placed
from allotment.devices.selectors import evaluate
from allotment.devices.slices import Capacity, Device, DeviceId, Pool, ResourceSlice, Version
from allotment.devices.world import World
from benchmarks.ratio import Ratio

NODES = 1000
CARDS = 8
UPSTREAM_CLAIMS_A_SECOND = 63
TIMES_UPSTREAM = 100
TIMES_NAIVE = 50
NAIVE_CLAIMS = 40
ROUNDS = 3
DRIVER = "gpu.nvidia.com"
CLASS = DeviceClass(DRIVER, (f"device.driver == '{DRIVER}'",))
CLAIM = ClaimSpec((Request("card", ExactRequest(DRIVER)),))


def run() -> list[Ratio]:
    """Against the promise, against the naive search, and against a fleet of half the size."""
    world = fleet(NODES)
    ours, half = _medians(partial(place_all, world), partial(place_all, fleet(NODES // 2)))
    claims = NODES * CARDS
    naive = _cpu(partial(place_naively, world, NAIVE_CLAIMS)) / NAIVE_CLAIMS * claims
    promise = claims / (UPSTREAM_CLAIMS_A_SECOND * TIMES_UPSTREAM)
    figures = f"{ours:.2f} s of CPU for {claims:,} claims on {NODES:,} nodes ({claims / ours:,.0f} a second)"
    return [
        Ratio(
            f"first fit, in parts of {TIMES_UPSTREAM} times the upstream allocator",
            ours / promise,
            1.0,
            f"{figures}; the promise is {promise:.2f} s",
        ),
        Ratio(
            f"first fit, in fiftieths of a naive search's time ({TIMES_NAIVE} times faster)",
            ours * TIMES_NAIVE / naive,
            1.0,
            f"{naive / ours:,.0f} times faster than {naive:.0f} s",
        ),
        Ratio("first fit, per claim against half the nodes", ours / 2 / half, 1.5, f"{half:.2f} s for half"),
    ]


def fleet(nodes: int) -> World:
    """So many nodes of eight cards each."""
    names = [f"node-{number:05d}" for number in range(nodes)]
    return World(tuple(_slice(name) for name in names), {CLASS.name: CLASS}, names[0])


def place_all(world: World) -> None:
    """A claim for every card, from nothing."""
    places = Fleet(world)
    total = sum(len(published.devices) for published in world.slices)
    last = None
    for _ in range(total):
        last = places.place(CLAIM)
    if not isinstance(last, Placed) or last.node != world.slices[-1].node_name:
        raise AssertionError(last)


def place_naively(world: World, claims: int) -> None:
    """Some of the claims, evenly spread, by a look at every device for each."""
    every = [
        (published, device, published.device_id(device))
        for published in world.slices
        for device in published.devices
    ]
    for number in range(claims):
        place = (2 * number + 1) * len(every) // (2 * claims)
        taken = {device_id for _, _, device_id in every[:place]}
        if _naive(world, taken) != every[place][2]:
            raise AssertionError(place)


def _naive(world: World, taken: set[DeviceId]) -> DeviceId | None:
    for published in world.slices:
        for device in published.devices:
            fits = all(evaluate(expression, DRIVER, device) for expression in CLASS.selectors)
            if fits and published.device_id(device) not in taken:
                return published.device_id(device)
    return None


def _slice(node: str) -> ResourceSlice:
    devices = tuple(
        Device(
            f"gpu-{number}",
            {
                "type": "gpu",
                "productName": "NVIDIA H100 80GB HBM3",
                "architecture": "Hopper",
                "cudaComputeCapability": Version("9.0.0"),
                "uuid": f"GPU-{node}-{number}",
            },
            {"memory": Capacity("81559Mi")},
        )
        for number in range(CARDS)
    )
    return ResourceSlice(f"{node}-gpu", DRIVER, Pool(node), node, devices=devices)


def _medians(*works: Callable[[], None]) -> tuple[float, ...]:
    """The median CPU of each piece of work, in rounds that alternate."""
    rounds = [[_cpu(work) for work in works] for _ in range(ROUNDS)]
    return tuple(median(side) for side in zip(*rounds, strict=True))


def _cpu(work: Callable[[], None]) -> float:
    gc.collect()
    before = time.process_time()
    work()
    return time.process_time() - before
