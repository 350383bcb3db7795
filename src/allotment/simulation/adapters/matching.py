"""Which published devices would do for which claims, for schedulers and rules that count devices by class.

Each different request becomes a made-up class of its own: its members are the devices that pass its real
class and its selectors, by our own CEL. A scheduler that knows classes and numbers only then sees no device
that would not do. What such counting cannot say is told in ``notes``: KAI 0.17 gives its allocator no
optional features, so fallback lists, devices that overlap through counters, taints of devices and constraints
are beyond it (``pkg/scheduler/plugins/dynamicresources``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from allotment.devices.allocation.ground import Ground
from allotment.devices.allocation.sites import Site
from allotment.devices.allocator import ground_of, pools_of
from allotment.devices.claims import AllocationMode, ClaimSpec, ExactRequest
from allotment.devices.world import World
from allotment.scheduling.state.claimed_devices import DeviceOfNode
from allotment.scheduling.state.state import State
from allotment.simulation.work import Work

FALLBACKS: Final = (
    "a scheduler that counts by class knows no fallback lists: of each the first alternative is taken to be "
    "asked for that the cluster has any device for"
)
COUNTERS: Final = (
    "devices that overlap through shared counters (MIG on demand) are beyond a scheduler that counts by "
    "class: of each card the device that is listed first is taken to be there"
)
TAINTS: Final = "a scheduler that counts by class looks at no taints of devices: those are given out too"
CONSTRAINTS: Final = "a scheduler that counts by class does not see that the cards of a pod must match"
ALL: Final = "a request for all devices of a node counts as one"


@dataclass(frozen=True, slots=True)
class Part:
    """One request of a claim, counted: so many devices of a made-up class."""

    device_class: str
    count: int


@dataclass(slots=True)
class Matching:
    """The devices of a state's nodes with the made-up classes that they are in, and claims by those.

    ``parts`` has what each claim comes to; None where the cluster has no such class at all.
    """

    devices: tuple[DeviceOfNode, ...] = ()
    parts: dict[ClaimSpec, tuple[Part, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()


def matching(state: State, works: Iterable[Work]) -> Matching:
    """What the works' claims come to on the devices that the state publishes and nobody else holds."""
    specs = list(dict.fromkeys(claim.spec for work in works for claim in work.ask.claims))
    if state.published is None:
        return Matching(devices=state.devices, names=state.device_classes)
    return _Desk(state, state.published).matched(specs)


class _Desk:
    """The world while claims are looked at one after the other."""

    def __init__(self, state: State, world: World) -> None:
        self.world = world
        self.ground: Ground = ground_of(world)
        index = pools_of(world, self.ground)
        self.sites: dict[str, Site] = {name: index.site(world.node_named(name)) for name in state.nodes}
        self.held = {str(device) for device in world.held()}
        self.held |= {
            str(device)
            for pod in state.pods.values()
            if pod.node is not None
            for allocation in pod.allocations
            for device in allocation.ids
        }
        self.notes: dict[str, None] = {}
        self.names: dict[tuple[str, tuple[str, ...]], str] = {}
        self.members: dict[str, dict[str, frozenset[int]]] = {}

    def matched(self, specs: Sequence[ClaimSpec]) -> Matching:
        parts = {spec: self._parts(spec) for spec in specs}
        devices = tuple(device for node, site in self.sites.items() for device in self._devices(node, site))
        return Matching(devices, parts, tuple(self.notes), frozenset(self.members))

    def _parts(self, spec: ClaimSpec) -> tuple[Part, ...]:
        if spec.constraints:
            self.notes[CONSTRAINTS] = None
        found = []
        for request in spec.requests:
            choices = [each.exactly for each in request.alternatives]
            if len(choices) > 1:
                self.notes[FALLBACKS] = None
            chosen = next((each for each in choices if self._any(each)), choices[0])
            if chosen.mode is AllocationMode.ALL:
                self.notes[ALL] = None
            count = chosen.count if chosen.mode is AllocationMode.EXACT_COUNT else 1
            found.append(Part(self._name(chosen), count))
        return tuple(found)

    def _any(self, exact: ExactRequest) -> bool:
        return any(self.members[self._name(exact)].values())

    def _name(self, exact: ExactRequest) -> str:
        """The made-up class of a request; it keeps the real one's name, by which KAI tells GPUs."""
        key = (exact.device_class, exact.selectors)
        name = self.names.get(key)
        if name is None:
            name = self.names[key] = f"{exact.device_class}-{len(self.names) + 1}"
            self.members[name] = {node: self._suited(exact, site) for node, site in self.sites.items()}
        return name

    def _suited(self, exact: ExactRequest, site: Site) -> frozenset[int]:
        if exact.device_class not in self.world.classes:
            return frozenset()
        suited = self.ground.suiting.suited(exact, site)
        return frozenset(suited.candidates) - frozenset(suited.faults)

    def _devices(self, node: str, site: Site) -> Iterable[DeviceOfNode]:
        sets: set[tuple[str, str, str]] = set()
        for number, (device_id, device) in enumerate(zip(site.ids, site.devices, strict=True)):
            if site.slices[number].node_name != node or str(device_id) in self.held:
                continue
            if device.consumes_counters:
                self.notes[COUNTERS] = None
                cards = {
                    (device_id.driver, device_id.pool, each.counter_set) for each in device.consumes_counters
                }
                if sets & cards:
                    continue
                sets |= cards
            if number in site.blocked:
                self.notes[TAINTS] = None
            classes = frozenset(name for name, nodes in self.members.items() if number in nodes[node])
            yield DeviceOfNode(node, device_id.driver, device_id.pool, device_id.device, classes)


def by_node(devices: Iterable[DeviceOfNode]) -> Mapping[str, list[DeviceOfNode]]:
    """Devices by the node that has them, in their order."""
    found: dict[str, list[DeviceOfNode]] = {}
    for device in devices:
        found.setdefault(device.node, []).append(device)
    return found
