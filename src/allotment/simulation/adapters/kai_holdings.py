"""Which devices the pods of KAI's model hold: by claims that were made for them, or handed out by number.

A claim from a template is its pod's own and goes with it; one with a name stays, and is free again when
nobody uses it any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from allotment.scheduling.state.claimed_devices import Allocation, Claim
from allotment.simulation.adapters.adapter import PodId, Start
from allotment.simulation.adapters.kai_ground import Asked, Shelves
from allotment.simulation.adapters.kai_jobs import pod_name

_QUEUE: Final = "kai.scheduler/queue"


class Holdings:
    """The claims by name, as the model sees them, and what was handed out without one."""

    def __init__(self, claims: Mapping[str, Claim], shelves: Shelves) -> None:
        self.claims = dict(claims)
        self._shelves = shelves
        self._given: dict[PodId, tuple[str, ...]] = {}

    def make(self, pod: PodId, asked: Asked, queue: str) -> tuple[str, ...]:
        """The claims of a new pod, by name."""
        names = []
        for number, (name, part, shared) in enumerate(asked.claims):
            own = name if shared else f"{pod_name(pod)}-{name}-{number}"
            made = Claim(own, part.device_class, part.count, labels={_QUEUE: queue}, template=not shared)
            self.claims.setdefault(own, made)
            names.append(own)
        return tuple(dict.fromkeys(names))

    def found(self, start: Start, count: int) -> None:
        """A pod runs already; where nobody says on which of the devices, on the first that are free."""
        self._shelves.take(start.node, start.devices)
        if count:
            self._given[start.pod] = start.devices or self._shelves.hand_out(start.node, count)

    def hand_out(self, pod: PodId, node: str, count: int) -> tuple[str, ...]:
        """So many devices of a node, by number."""
        self._given[pod] = self._shelves.hand_out(node, count)
        return self._given[pod]

    def reserve(self, pod: PodId, node: str, given: Mapping[str, tuple[str, ...]]) -> None:
        """The pod uses claims that are given these devices; of none, they keep what they have."""
        for name, devices in given.items():
            claim = self.claims[name]
            held = Allocation(node, devices) if devices else claim.allocation
            users = (*claim.reserved_for, pod_name(pod))
            self.claims[name] = replace(claim, allocation=held, reserved_for=users)

    def told(self, names: Iterable[str], devices: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
        """The devices that are told of a pod, by claim, in their order."""
        rest, given = list(devices), {}
        for name in names:
            count = self.claims[name].count
            given[name] = tuple(rest[:count])
            del rest[:count]
        return given

    def give_back(self, pod: PodId, node: str, names: Iterable[str]) -> None:
        """The pod is gone."""
        self._shelves.give_back(node, self._given.pop(pod, ()))
        for name in names:
            self._release(name, pod_name(pod))

    def _release(self, name: str, pod: str) -> None:
        claim = self.claims.get(name)
        if claim is None:
            return
        users = tuple(user for user in claim.reserved_for if user != pod)
        if claim.template:
            del self.claims[name]
        else:
            kept = claim.allocation if users else None
            self.claims[name] = replace(claim, reserved_for=users, allocation=kept)
