"""Which cards will do, said by node labels: for pods that make no claim and so have no selectors.

A node's labels name one kind of card and its memory in MiB, whatever else is in the node.
Facts: NVIDIA GPU feature discovery: ``nvidia.com/gpu.product`` (the product name with dashes for spaces) and
``nvidia.com/gpu.memory``; node affinity of Kubernetes, whose ``Gt`` and ``Lt`` compare integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from allotment.devices.catalogue import cards
from allotment.needs.cards import Kinds, admits, chosen_cards
from allotment.platform.need import MemoryRange, Need
from allotment.quantities import MI

PRODUCT: Final = "nvidia.com/gpu.product"
MEMORY: Final = "nvidia.com/gpu.memory"


def node_affinity(need: Need, kinds: Kinds) -> Mapping[str, Any] | None:
    """The affinity for nodes with such cards; None where any will do."""
    expressions = [*_products(need, kinds), *_memory(need.memory or MemoryRange())]
    if not expressions:
        return None
    terms = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def _products(need: Need, kinds: Kinds) -> list[dict[str, Any]]:
    if not need.card:
        return []
    choice = chosen_cards(need.card, kinds)
    names = dict.fromkeys(
        name.replace(" ", "-") for card in cards() if admits(choice, card) for name in card.names.value
    )
    return [{"key": PRODUCT, "operator": "In", "values": list(names)}]


def _memory(asked: MemoryRange) -> list[dict[str, Any]]:
    """The bounds in whole MiB, as labels tell it: at least 40Gi is more than 40959."""
    found = []
    if asked.at_least is not None:
        found.append({"key": MEMORY, "operator": "Gt", "values": [str(-(-asked.at_least // MI) - 1)]})
    if asked.more_than is not None:
        found.append({"key": MEMORY, "operator": "Gt", "values": [str(asked.more_than // MI)]})
    if asked.at_most is not None:
        found.append({"key": MEMORY, "operator": "Lt", "values": [str(asked.at_most // MI + 1)]})
    return found
