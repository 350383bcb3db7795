"""How many pods more of a work could have devices now: what the window controller looks at before it grows.

Free devices are counted by node and by the made-up class that a claim comes to; GPUs that are counted, by
node. Devices that overlap through counters are all counted as free, so it may be told too many there: what
then finds no place keeps its work from growing further.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from allotment.scheduling.state.state import State
from allotment.simulation.adapters.kai_ground import GPU
from allotment.simulation.adapters.matching import Part, matching
from allotment.simulation.work import Work


class Room:
    """What is free of devices."""

    def __init__(self, state: State, works: Sequence[Work]) -> None:
        found = matching(state, works)
        self.parts = found.parts
        self.classes = {device.key: device.classes for device in found.devices}
        self.node_of = {device.key: device.node for device in found.devices}
        self.free: dict[str, dict[str, int]] = {name: {} for name in found.names}
        for device in found.devices:
            for name in device.classes:
                here = self.free.setdefault(name, {})
                here[device.node] = here.get(device.node, 0) + 1
        self.counted = {
            name: node.allocatable.get(GPU, 0) - node.taken.get(GPU, 0) for name, node in state.nodes.items()
        }
        for pod in state.pods.values():
            if pod.node in self.counted:
                self.counted[pod.node] -= pod.requests.get(GPU, 0)

    def take(self, work: Work, node: str, devices: Iterable[str], by: int = 1) -> None:
        """A pod has these; ``by`` -1: it has them no more."""
        for key in devices:
            for name in self.classes.get(key, ()):
                self.free[name][self.node_of[key]] -= by
        if node in self.counted:
            self.counted[node] -= by * work.ask.request.gpus

    def pods(self, work: Work, most: int) -> int:
        """How many pods more there are devices for, up to ``most``."""
        ask = work.ask
        if ask.request.shared or ask.request.mig:
            return most
        parts: list[Part] = [part for claim in ask.claims for part in self.parts.get(claim.spec, ())]
        tables = [(self.free.get(part.device_class, {}), part.count) for part in parts]
        if ask.request.gpus:
            tables.append((self.counted, ask.request.gpus))
        if not tables:
            return most
        first, _ = tables[0]
        found = 0
        for node in first:
            found += max(0, min(free.get(node, 0) // count for free, count in tables))
            if found >= most:
                return most
        return found
