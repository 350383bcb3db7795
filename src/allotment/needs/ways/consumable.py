"""Consumable shares: each pod claims an amount of a card's memory, and the scheduler does the sums.

The claims are of the pods' own, in any namespace, and land on one card as long as its memory is not given
out. A claim without an amount takes all of it. A share in parts needs a card whose memory is known.
Facts: NVIDIA DRA driver for GPUs v0.5, ConsumableShares; KEP-5075.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from allotment.devices.server import Gate
from allotment.needs.cards import Kinds, UnknownCardError, chosen_cards
from allotment.needs.fault import Fault
from allotment.needs.rules import SHARE_OF_ANY
from allotment.needs.ways.gates import CONSUMABLE_SHARES
from allotment.needs.ways.share import asked_bytes, over_card, shared_cards
from allotment.needs.ways.way import Isolation, Scope, Way
from allotment.platform.need import Need
from allotment.quantities import MI, format_bytes

_MEMORY: Final = "memory"


def _capacity(need: Need, kinds: Kinds) -> Mapping[str, str]:
    """The memory that is asked for, up to whole MiB."""
    amount = asked_bytes(need)
    if amount is None:
        known = _memory_of(need, kinds)
        amount = 0 if known is None else round(known * float(need.share or 0))
    return {_MEMORY: format_bytes(-(-amount // MI) * MI)} if amount else {}


def _memory_of(need: Need, kinds: Kinds) -> int | None:
    """The memory of the one kind of card that the need names."""
    try:
        choice = chosen_cards(need.card, kinds)
    except UnknownCardError:
        return None
    sizes = {card.memory for card in choice.cards}
    alone = len(sizes) == 1 and not choice.architectures and not choice.bounds
    return sizes.pop() if alone else None


def _faults(need: Need, kinds: Kinds) -> Iterator[Fault]:
    if isinstance(need.share, float | int) and _memory_of(need, kinds) is None:
        message = f"`share: {need.share:g}` of a card whose memory nobody knows is no amount to claim"
        hint = "write an amount, such as `share: 8Gi`, or name one kind of card"
        yield Fault(("share",), SHARE_OF_ANY, message, hint)
    yield from over_card(need, kinds)


CONSUMABLE: Final = Way(
    id="consumable",
    word="consumable",
    noun="part",
    title="an amount of a card's memory",
    writes="gpu: {sharing: consumable, share: 8Gi}",
    becomes="a ResourceClaimTemplate: each pod gets a claim of its own for an amount of a card's memory",
    scope=Scope.POD,
    isolation=Isolation.NONE,
    keeps_apart=(
        "nothing: the scheduler does the sums, and a pod that takes more pushes its neighbours out of memory"
    ),
    maturity="alpha in NVIDIA's driver (v0.5) and off; beta in Kubernetes, and on from 1.36",
    accounting="the share of a card, times `count`",
    lints=(
        "not-measured",
        "no-isolation",
        "share-of-any-card",
        "share-over-card",
        "gate-off",
        "incompatible-gates",
    ),
    measured=True,
    gates=(Gate.CONSUMABLE_CAPACITY,),
    driver_gates=(CONSUMABLE_SHARES,),
    cards=shared_cards,
    capacity=_capacity,
    faults=_faults,
)
