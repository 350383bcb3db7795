"""A lint of a need for whole cards against cards that are published for several claims.

Such a card is nobody's alone: a claim that names no amount gets what the driver gives by default. A selector
leaves them out where a cluster's version has it by default; elsewhere somebody has to know.
Facts: KEP-5075, ``device.allowMultipleAllocations``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from allotment.devices.classes import GPU_CLASS
from allotment.devices.server import Gate
from allotment.devices.world import World
from allotment.errors import Severity
from allotment.needs.fault import Fault
from allotment.needs.lints.looked import Looked
from allotment.needs.rules import SHARED_NOT_WHOLE
from allotment.needs.ways.choosing import able, shared_in
from allotment.needs.ways.gates import kubernetes_words

_MOST: Final = 4
_CONSUMABLE: Final = "consumable"


def shared_card_not_whole(looked: Looked, world: World) -> Iterator[Fault]:
    """Cards that are given out in shares where whole ones are asked for."""
    seen = list(shared_in(world))
    asks = any(
        each.way is not None and each.way.device_class == GPU_CLASS and each.way.word != _CONSUMABLE
        for each in looked.choice.alternatives
    )
    if not seen or not asks:
        return
    cards = "a card here is" if len(seen) == 1 else f"{len(seen):,} cards here are"
    hint = "claim an amount of one (`sharing: consumable`), or use nodes whose cards are given whole"
    if able(looked.platform, world).shared_cards:
        message = f"{cards} given out in shares, and left out: a whole card is nobody else's"
    else:
        gate = kubernetes_words(Gate.CONSUMABLE_CAPACITY)
        version = looked.platform.versions.kubernetes
        message = (
            f"{cards} published for several claims; where {gate} is switched on in Kubernetes {version}, a "
            "claim for a whole card gets a share of one"
        )
    evidence = (*seen[:_MOST], *((f"and {len(seen) - _MOST:,} more",) if len(seen) > _MOST else ()))
    yield Fault(("sharing",), SHARED_NOT_WHOLE, message, hint, Severity.WARNING, evidence)
