"""Cards that nodes only count: where KAI places parts of cards, it needs them from the device plugin.

A node's cards come from the DRA driver or from the device plugin, and KAI shares out parts of the latter
alone. A fleet that is only described has neither: where work asks for parts of cards, its nodes count their
cards as GPU feature discovery labels them, and what claims whole cards is taken to count them too, on nodes
whose cards its claim fits. Facts: KAI 0.17, docs of its DRA support.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from allotment.devices.claims import ExactRequest
from allotment.devices.inventory import device_memory
from allotment.devices.nodes import NodeSelector, NodeSelectorTerm, Requirement
from allotment.devices.slices import Device
from allotment.devices.world import World
from allotment.planning.scenes.asks import passes, product_of
from allotment.planning.scenes.ground import GPU, PRODUCT, Ground, cards_of_nodes
from allotment.planning.scenes.values import Assumption, Source
from allotment.quantities import MI
from allotment.scheduling.state.claimed_devices import is_gpu
from allotment.scheduling.state.nodes import ClusterNode
from allotment.simulation.work import Work

MEMORY: Final = "nvidia.com/gpu.memory"
COUNT: Final = "nvidia.com/gpu.count"
SAID: Final = Assumption(
    "cards of nodes",
    "counted by the device plugin",
    Source.DEFAULT,
    "KAI 0.17 places parts of cards only there, and not where the DRA driver publishes cards",
)


def asks_for_parts(works: Iterable[Work]) -> bool:
    """Whether any work asks for a part of a card by an annotation."""
    return any(work.ask.request.shared for work in works)


def as_counted(ground: Ground, works: Sequence[Work]) -> tuple[Ground, tuple[Work, ...]]:
    """The ground with cards that are counted, and the works with requests instead of claims."""
    world = ground.state.published
    if world is None or any(node.allocatable.get(GPU) for node in ground.state.nodes.values()):
        return ground, tuple(works)
    cards = _whole_cards(world)
    nodes = {name: _counted(node, cards.get(name, ())) for name, node in ground.state.nodes.items()}
    state = replace(ground.state, nodes=nodes, published=replace(world, slices=(), claims=()))
    changed = tuple(_requesting(work, world, cards) for work in works)
    found = replace(ground, state=state, cards={}, card_of_node=dict(cards_of_nodes(nodes)))
    return found, changed


def _whole_cards(world: World) -> Mapping[str, list[tuple[str, Device]]]:
    """Whole cards by node, each with its driver."""
    found: dict[str, list[tuple[str, Device]]] = {}
    for published in world.slices:
        for device in published.devices if published.node_name and is_gpu(published.driver) else ():
            if device.attributes.get("type") != "mig":
                found.setdefault(str(published.node_name), []).append((published.driver, device))
    return found


def _counted(node: ClusterNode, cards: Sequence[tuple[str, Device]]) -> ClusterNode:
    """A node labelled by its first card, as GPU feature discovery does."""
    if not cards:
        return node
    driver, first = cards[0]
    memory = device_memory(driver, first)
    labels = {
        **node.labels,
        PRODUCT: product_of(first).replace(" ", "-"),
        COUNT: str(len(cards)),
        **({MEMORY: str(memory // MI)} if memory else {}),
    }
    return replace(node, labels=labels, allocatable={**node.allocatable, GPU: len(cards)})


def _requesting(work: Work, world: World, cards: Mapping[str, Sequence[tuple[str, Device]]]) -> Work:
    """The work with its claims as counts, on the nodes whose cards would do."""
    if not work.ask.claims:
        return work
    asked = [request.alternatives[0].exactly for claim in work.ask.claims for request in claim.spec.requests]
    of_cards = [each for each in asked if is_gpu(each.device_class)]
    suited = tuple(
        name
        for name, here in cards.items()
        if all(sum(_suits(each, world, card) for card in here) >= each.count for each in of_cards)
    )
    request = replace(work.ask.request, gpus=work.ask.request.gpus + sum(each.count for each in of_cards))
    named = NodeSelector((NodeSelectorTerm((), (Requirement("metadata.name", "In", suited),)),))
    affinity = named if work.ask.affinity is None else _both(work.ask.affinity, named)
    return replace(work, ask=replace(work.ask, claims=(), request=request, affinity=affinity))


def _both(left: NodeSelector, right: NodeSelector) -> NodeSelector:
    return NodeSelector(
        tuple(
            NodeSelectorTerm(
                (*one.match_expressions, *other.match_expressions), (*one.match_fields, *other.match_fields)
            )
            for one in left.terms
            for other in right.terms
        )
    )


def _suits(asked: ExactRequest, world: World, card: tuple[str, Device]) -> bool:
    driver, device = card
    of_class = world.classes.get(asked.device_class)
    return of_class is not None and passes((*of_class.selectors, *asked.selectors), driver, device)
