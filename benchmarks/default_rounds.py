"""The default scheduler's model on 1,000 nodes of 8 cards, by CPU: pods with a card each, until all are full.

The rival is the same model that looks at every node anew for every pod, as the scheduler itself does. Beside
that: what a pod costs on four times as many nodes.
"""

from __future__ import annotations

import time

from allotment.devices.claims import ClaimSpec, ExactRequest, Request
from allotment.devices.classes import DeviceClass
from allotment.devices.slices import Device, Pool, ResourceSlice
from allotment.devices.world import World
from allotment.scheduling.default import Bound, Memory, decide
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.pods import Pod, PodClaim
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from benchmarks.ratio import Ratio

NODES, CARDS = 1000, 8
RIVALS = 100  # pods of the rival, or this would take minutes
ONE = ClaimSpec((Request("card", ExactRequest("gpu")),))


def run() -> list[Ratio]:
    """Remembering answers beside not, and growth."""
    each, bound = _fill(NODES, NODES * CARDS)
    rival, _bound = _fill(NODES, RIVALS, alike=False)
    small, _bound = _fill(NODES // 4, NODES * CARDS // 4)
    told = f"{each * 1e6:.0f} µs of CPU for each of {bound} pods"
    return [
        Ratio("a pod with a card on 1,000 nodes", each / rival, 0.2, f"{told}; anew {rival * 1e6:.0f} µs"),
        Ratio(
            "a pod on 1,000 nodes beside 250", each / small, 5.0, f"{each * 1e6:.0f} and {small * 1e6:.0f} µs"
        ),
    ]


def _fill(nodes: int, pods: int, *, alike: bool = True) -> tuple[float, int]:
    """CPU for a pod, and how many were bound; pods that are not alike cannot share an answer."""
    state = State(
        nodes={
            f"n{number}": ClusterNode(f"n{number}", allocatable={"cpu": 64_000, "memory": 2**40})
            for number in range(nodes)
        },
        pods=Shelf({pod.key: pod for pod in (_pod(number, alike=alike) for number in range(pods))}),
        published=World(tuple(map(_slice, range(nodes))), {"gpu": DeviceClass("gpu", ())}, ""),
    )
    before = time.process_time()
    decisions, _memory = decide(state, Memory(), 0.0)
    seconds = time.process_time() - before
    return seconds / pods, sum(isinstance(each, Bound) for each in decisions)


def _pod(number: int, *, alike: bool) -> Pod:
    cpu = 4000 if alike else 4000 + number
    return Pod("n", f"p{number}", {"cpu": cpu}, created=float(number), claims=(PodClaim("card", ONE),))


def _slice(number: int) -> ResourceSlice:
    cards = tuple(Device(f"gpu-{card}") for card in range(CARDS))
    return ResourceSlice(
        f"s{number}", "gpu.example.com", Pool(f"n{number}"), node_name=f"n{number}", devices=cards
    )
