"""What a simulation decides on: nodes, devices, and the queues and settings of each scheduler.

Pods that stand in works of the simulation take nothing here; all others take what they ask for, and their
claims keep the devices that they were given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from allotment.devices.catalogue.find import cards as cards_known
from allotment.devices.claim_objects import ResourceClaim
from allotment.devices.known_classes import CPU_DRIVER
from allotment.devices.world import World
from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.kai_objects import SHARD, read_queue, settings_of
from allotment.kubernetes.cluster.kueue_state import scene_of
from allotment.kubernetes.kinds import Object
from allotment.planning.scenes.asks import card_name
from allotment.planning.scenes.owners import is_of_node
from allotment.planning.scenes.stage import Stage
from allotment.scheduling.kai import Settings as KaiSettings
from allotment.scheduling.kueue import Settings as KueueSettings
from allotment.scheduling.state.claimed_devices import is_gpu
from allotment.scheduling.state.nodes import HOSTNAME, ClusterNode
from allotment.scheduling.state.pod_requests import pod_requests
from allotment.scheduling.state.read_queues import read_node, read_topology
from allotment.scheduling.state.state import State
from allotment.simulation.setting import Scheduler

GPU: Final = "nvidia.com/gpu"
PRODUCT: Final = "nvidia.com/gpu.product"
PRODUCTS: Final = {name.replace(" ", "-"): card.id for card in cards_known() for name in card.names.value}
UNBOUNDED: Final[Mapping[str, int]] = {"cpu": 10**9, "memory": 2**50, "pods": 10**6}
"""What a node has of which nothing is known: a million cores, a pebibyte."""
_OVER: Final = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True)
class Ground:
    """Where work is done. ``cards`` and ``card_of_node`` name kinds of card, as a setting has them."""

    state: State
    kueue: KueueSettings
    kai: KaiSettings
    cards: Mapping[str, str]
    card_of_node: Mapping[str, str]
    notes: tuple[str, ...] = ()


def ground_of(stage: Stage, placed: Collection[str] = ()) -> Ground:
    """The ground; ``placed`` are the pods (``namespace/name``) that stand in works themselves."""
    snapshot = stage.snapshot
    nodes = {each.name: each for each in _nodes(stage, frozenset(placed))}
    world = _on_nodes(_published(stage.world, frozenset(placed)), nodes)
    cards = {
        str(published.device_id(device)): card_name(device)
        for published in world.slices
        for device in published.devices
        if is_gpu(published.driver)
    }
    state = State(nodes=nodes, published=world)
    kueue, kai, notes = KueueSettings(), KaiSettings(), list[str]()
    if stage.scheduler in {Scheduler.KUEUE, Scheduler.BOTH}:
        scene = scene_of(snapshot, stage.platform, world)
        kueue, notes = scene.settings, [*notes, *scene.notes]
        found = scene.state
        state = replace(
            state,
            cluster_queues=found.cluster_queues,
            cohorts=found.cohorts,
            local_queues=found.local_queues,
            flavors=found.flavors,
            topologies=found.topologies,
            namespaces=found.namespaces,
        )
    if stage.scheduler in {Scheduler.KAI, Scheduler.BOTH}:
        queues = [read_queue(each) for each in snapshot.of(kinds.KAI_QUEUE)]
        topologies = [read_topology(each) for each in snapshot.of(kinds.KAI_TOPOLOGY)]
        kai = settings_of(snapshot.named(kinds.KAI_SHARD, SHARD))
        state = replace(
            state,
            share_queues={each.name: each for each in queues},
            topologies={**state.topologies, **{each.name: each for each in topologies}},
        )
    return Ground(state, kueue, kai, cards, dict(cards_of_nodes(nodes)), tuple(notes))


def _published(world: World, placed: frozenset[str]) -> World:
    """The world without the claims of pods that stand in works; those of others hold their devices."""
    kept = tuple(each for each in world.claims if not _users(each) & placed)
    return replace(world, claims=kept, templates=())


def _on_nodes(world: World, nodes: Mapping[str, ClusterNode]) -> World:
    """The world without what is published of nodes that are not there: no pod ever starts on them."""
    kept = tuple(each for each in world.slices if each.node_name is None or each.node_name in nodes)
    return world if len(kept) == len(world.slices) else replace(world, slices=kept)


def _users(claim: ResourceClaim) -> frozenset[str]:
    return frozenset(f"{claim.namespace}/{user}" for user in claim.users)


def _nodes(stage: Stage, placed: frozenset[str]) -> Iterator[ClusterNode]:
    """Nodes with what pods take that stand in no work; where no Node object is at all, unbounded ones."""
    taken: dict[str, dict[str, int]] = {}
    stays: dict[str, dict[str, int]] = {}
    for pod in stage.real.of(kinds.POD) if stage.real is not None else ():
        node = (pod.get("spec") or {}).get("nodeName")
        if node and not _is_over(pod) and _key(pod) not in placed:
            amounts = {**pod_requests(pod.get("spec") or {}), "pods": 1}
            for table in (taken, stays) if is_of_node(pod) else (taken,):
                here = table.setdefault(str(node), {})
                for name, amount in amounts.items():
                    here[name] = here.get(name, 0) + amount
    known = set[str]()
    for each in stage.snapshot.of(kinds.NODE):
        found = read_node({**each, "status": _status_or_ready(each)})
        known.add(found.name)
        have = found.allocatable.keys() | {"cpu", "memory", "pods", GPU}
        its, its_own = (
            {name: amount for name, amount in table.get(found.name, {}).items() if name in have}
            for table in (taken, stays)
        )
        yield replace(found, taken=its, stays=its_own)
    levels = {level.label: "described" for level in stage.platform.topology}
    for name in dict.fromkeys(each.node_name for each in stage.world.slices if each.node_name):
        if name in known:
            continue
        found_in_world = stage.world.nodes.get(name)
        if found_in_world is None and (known or stage.world.nodes):
            continue
        if found_in_world is not None:
            raw = found_in_world.to_dict()
            told = read_node({**raw, "status": _status_or_ready(raw)})
            if not found_in_world.allocatable:
                labels = {**levels, HOSTNAME: name, **told.labels}
                told = replace(told, labels=labels, allocatable=dict(UNBOUNDED))
            yield told
            continue
        if stage.is_here and name == stage.world.node:
            yield _this_machine(stage.world, levels)
            continue
        yield ClusterNode(name, {**levels, HOSTNAME: name}, dict(UNBOUNDED))


def _this_machine(world: World, labels: Mapping[str, str]) -> ClusterNode:
    """This machine, with its processors and its memory."""
    processors = sum(device.driver == CPU_DRIVER for device, _ in world.devices())
    amounts = {
        **UNBOUNDED,
        **({"cpu": processors * 1000} if processors else {}),
        **({"memory": world.memory_bytes} if world.memory_bytes else {}),
    }
    return ClusterNode(world.node, {**labels, HOSTNAME: world.node}, amounts)


def _status_or_ready(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """The status of a Node, which is taken to be ready where it does not say."""
    return {"conditions": [{"type": "Ready", "status": "True"}], **(node.get("status") or {})}


def _is_over(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") in _OVER


def _key(pod: Object) -> str:
    return f"{pod['metadata'].get('namespace') or ''}/{pod['metadata']['name']}"


def cards_of_nodes(nodes: Mapping[str, ClusterNode]) -> Iterator[tuple[str, str]]:
    """What the cards are that nodes only count: as GPU feature discovery labels them."""
    for name, node in nodes.items():
        if node.allocatable.get(GPU, 0):
            product = node.labels.get(PRODUCT, "")
            yield name, PRODUCTS.get(product, product)
