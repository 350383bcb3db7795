"""The nodes of a setting and what the kubelet does on them: pull an image, cut a card, start a pod.

A partition is known by the name that NVIDIA's DRA driver gives to it (``gpu-0-mig-1g5gb-19-0``), and a card
that is cut on demand by the counters that its partitions take. Such a cut stays until a pod needs another
one of the same card.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from allotment.devices.closed_nodes import closed_nodes as closed_nodes_of
from allotment.scheduling.state.state import State
from allotment.simulation.setting import Pace, Setting
from allotment.simulation.work import Work

COUNTED: Final = "nvidia.com/gpu"
PART: Final = "-mig-"


@lru_cache(maxsize=65536)
def card_under(device: str) -> str:
    """The card that a device (``driver/pool/name``) is, or is a part of."""
    place = device.find(PART, device.rfind("/") + 1)
    return device if place < 0 else device[:place]


def node_names(setting: Setting) -> list[str]:
    """Every node, those with Node objects first."""
    names = dict.fromkeys(setting.state.nodes)
    published = setting.state.published
    for each in published.slices if published else ():
        if each.node_name:
            names.setdefault(each.node_name)
    names.update(dict.fromkeys(each.node for each in setting.state.devices if each.node))
    return list(names)


def emptied(state: State) -> State:
    """The state with everything free but what belongs to the nodes themselves."""
    nodes = {
        name: replace(node, taken=node.stays) if node.taken else node for name, node in state.nodes.items()
    }
    published = state.published
    if published is not None and published.claims:
        published = replace(published, claims=())
    return replace(state, nodes=nodes, published=published)


def is_held(state: State) -> bool:
    """Whether somebody who stands in no work has any of it."""
    published = state.published
    return bool(published and published.claims) or any(
        node.taken != node.stays for node in state.nodes.values()
    )


def cards_of(setting: Setting) -> dict[str, str]:
    """Which kind each whole card is, whether it is published itself or only in parts."""
    return {card_under(device): kind for device, kind in setting.cards.items()}


def counted_gpus(setting: Setting) -> dict[str, int]:
    """How many GPUs a node counts that publishes no devices."""
    return {
        name: amount
        for name, node in setting.state.nodes.items()
        if (amount := node.allocatable.get(COUNTED, 0))
    }


def closed_nodes(setting: Setting) -> frozenset[str]:
    """The nodes on which no pod starts: cordoned, not ready, or with a taint that pods do not tolerate."""
    published = setting.state.published
    nodes = setting.state.nodes.items()
    ailing = frozenset(name for name, node in nodes if not (node.ready and node.schedulable))
    return ailing if published is None else ailing | closed_nodes_of(published).keys()


def gpus_by_kind(setting: Setting, without: Collection[str] = ()) -> tuple[tuple[str, int], ...]:
    """How many cards there are of each kind, ``without`` those of these nodes."""
    left_out = frozenset(_cards_on(setting, frozenset(without))) if without else frozenset[str]()
    found = Counter(kind for card, kind in cards_of(setting).items() if card not in left_out)
    for name, amount in counted_gpus(setting).items():
        if name not in without:
            found[setting.card_of_node.get(name, "")] += amount
    return tuple(sorted(found.items()))


def _cards_on(setting: Setting, nodes: Collection[str]) -> Iterator[str]:
    """The cards that are published of these nodes."""
    published = setting.state.published
    for each in published.slices if published else ():
        for device in each.devices:
            if (each.node_name or device.node_name) in nodes:
                yield card_under(str(each.device_id(device)))


def cut_on_demand(setting: Setting) -> frozenset[str]:
    """The cards whose partitions are made when a pod needs them."""
    return frozenset(_cut_on_demand(setting))


def _cut_on_demand(setting: Setting) -> Iterator[str]:
    published = setting.state.published
    for each in published.slices if published else ():
        for device in each.devices:
            if device.consumes_counters and PART in device.name:
                yield card_under(f"{each.driver}/{each.pool.name}/{device.name}")


@dataclass(slots=True)
class Kubelet:
    """What nodes have pulled and how cards are cut; times are when a pull is done."""

    pace: Pace
    on_demand: frozenset[str]
    pulled: dict[tuple[str, str], float] = field(default_factory=dict)
    cuts: dict[str, set[str]] = field(default_factory=dict)
    used: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, setting: Setting) -> Kubelet:
        """The kubelets of all nodes, with nothing pulled and no card cut."""
        return cls(setting.pace, cut_on_demand(setting))

    def stands(self, work: Work, node: str, devices: tuple[str, ...]) -> None:
        """A pod runs already: its image is there, and its cards are cut."""
        self.pulled[node, work.image] = 0.0
        self._cut(devices)

    def start(self, work: Work, node: str, devices: tuple[str, ...], now: float) -> float:
        """When the pod's process has started."""
        begun = now
        if work.image:
            begun = max(now, self.pulled.setdefault((node, work.image), now + self.pace.image_pull))
        return begun + self._cut(devices) * self.pace.mig_cut + self.pace.pod_start

    def gone(self, devices: tuple[str, ...]) -> None:
        """What a pod had is free."""
        if self.on_demand:
            self.used.subtract(devices)

    def _cut(self, devices: tuple[str, ...]) -> int:
        """How many cuts the devices take."""
        if not self.on_demand:
            return 0
        number = 0
        for device in devices:
            card = card_under(device)
            self.used[device] += 1
            there = self.cuts.get(card)
            if card not in self.on_demand or (there is None and device == card):
                continue
            if there is None or device not in there:
                kept = {each for each in there or () if self.used[each] > 0}
                self.cuts[card] = kept | {device}
                number += 1
        return number


def kind_of(setting: Setting, node: str, devices: tuple[str, ...]) -> str:
    """The kind of card of a pod."""
    cards: Mapping[str, str] = setting.cards
    if devices:
        return (
            cards.get(devices[0]) or cards.get(card_under(devices[0])) or setting.card_of_node.get(node, "")
        )
    return setting.card_of_node.get(node, "")
