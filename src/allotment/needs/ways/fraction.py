"""KAI fractions: a pod says in an annotation which part of a card it means to use, and KAI does the sums.

Not a claim: a reservation pod holds the card, and pods of KAI are placed on it until its parts are given out.
Which cards will do can then be said by node labels alone, and a selector or what cards have in common cannot.
Facts: KAI 0.17, ``gpu-fraction``, ``gpu-memory`` (whole MiB), ``gpu-fraction-num-devices`` and what its
admission refuses; NVIDIA GPU feature discovery.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from allotment.needs.cards import Kinds
from allotment.needs.fault import Fault
from allotment.needs.rules import NOT_BY_FRACTION
from allotment.needs.ways.gates import GPU_SHARING
from allotment.needs.ways.share import asked_bytes, over_card, shared_cards
from allotment.needs.ways.way import Isolation, Scope, Way
from allotment.platform.need import Need
from allotment.quantities import MI

SCHEDULER: Final = "kai-scheduler"
_WHY: Final = "KAI places fractions by annotation, and not by a claim"


def annotations_for(need: Need) -> Mapping[str, str]:
    """What KAI reads on the pod."""
    amount = asked_bytes(need)
    said = {"gpu-fraction": f"{need.share:g}"} if amount is None else {"gpu-memory": str(-(-amount // MI))}
    if need.count > 1:
        said["gpu-fraction-num-devices"] = str(need.count)
    return said


def _faults(need: Need, kinds: Kinds) -> Iterator[Fault]:
    if need.select is not None:
        hint = "name the cards by `card` or `memory`, which become node labels"
        yield Fault(("select",), NOT_BY_FRACTION, f"a selector cannot be kept: {_WHY}", hint)
    if need.same is not None:
        message = f"`same: {need.same}` cannot be kept: {_WHY}"
        yield Fault(("same",), NOT_BY_FRACTION, message, "take it out, or ask for whole cards")
    yield from over_card(need, kinds)


FRACTION: Final = Way(
    id="fraction",
    word="fraction",
    noun="card",
    title="a fraction of a card",
    writes="gpu: {sharing: fraction, share: 8Gi}",
    becomes="annotations of the pod (gpu-fraction, or gpu-memory in MiB), which KAI reads, and no claim",
    scope=Scope.ANNOTATION,
    isolation=Isolation.NONE,
    keeps_apart="nothing: KAI does the sums, and a pod that takes more pushes its neighbours out of memory",
    maturity=(
        "off by default in KAI; it needs cards of NVIDIA's device plugin (not of the DRA driver) and the "
        "labels of GPU feature discovery"
    ),
    accounting="the share of a card, times `count`",
    lints=(
        "not-measured",
        "no-isolation",
        "no-fractions-here",
        "share-over-card",
        "not-by-fraction",
        "gate-off",
    ),
    measured=True,
    settings=(GPU_SHARING,),
    cards=shared_cards,
    faults=_faults,
)
