"""Quotas held against the cards that there are: what is in no quota, and which limits nobody can reach.

Kueue lends what queues of a cohort have as quota, and nothing else: a card above the sum of the quotas is in
no queue's reach. KAI shares out all cards, what is above the quotas by weight. Cards are counted as both
count claims: devices of GPU drivers, as they are published, and what device plugins count; but none of nodes
that nobody's pod starts on. A node with a taint is open to whoever tolerates it, so its cards are counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from allotment.devices.closed_nodes import closed_notes, closed_to_all
from allotment.kubernetes.cluster.capacity import KUEUE, Amount, Capacity, amount_text
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.kinds import NODE, SLICE, Kind
from allotment.pictures.counts import counted
from allotment.planning.queues import UNSTATED
from allotment.scheduling.state.claimed_devices import is_gpu
from allotment.simulation.machines import PART

PLUGIN: Final = "nvidia.com/gpu"


def cards_there(snapshot: Snapshot) -> int | None:
    """How many cards there are; None where that cannot be told, as of those that are cut on demand."""
    return _cards(snapshot, frozenset())


def cards_open(snapshot: Snapshot) -> int | None:
    """How many of them are on nodes that pods start on."""
    return _cards(snapshot, closed_to_all(world_of(snapshot).world))


def closed_words(snapshot: Snapshot) -> tuple[str, ...]:
    """Why the cards of some nodes are in no count."""
    told = closed_notes(world_of(snapshot).world, to_all=True)
    return tuple(f"{words}: cards there are in no count" for words in told)


def _cards(snapshot: Snapshot, closed: frozenset[str]) -> int | None:
    if any(not _all_of(snapshot, kind) for kind in (SLICE, NODE)):
        return None
    newest: dict[tuple[str, str], int] = defaultdict(int)
    held: dict[tuple[str, str, int], int] = defaultdict(int)
    for published in snapshot.of(SLICE):
        spec = _mapping(published.get("spec"))
        driver, pool = str(spec.get("driver")), _mapping(spec.get("pool"))
        devices = spec.get("devices") or ()
        if not is_gpu(driver) or not isinstance(devices, list):
            continue
        if any("consumesCounters" in _mapping(device) for device in devices):
            return None
        generation = pool.get("generation")
        key, number = (driver, str(pool.get("name"))), generation if isinstance(generation, int) else 0
        newest[key] = max(newest[key], number)
        held[*key, number] += sum((_node(spec, each) or "") not in closed for each in devices)
    published_cards = sum(held[*key, number] for key, number in newest.items())
    counted_cards = sum(_plugged(each) for each in snapshot.of(NODE) if _name(each) not in closed)
    return published_cards + counted_cards or None


def _name(value: Mapping[str, Any]) -> str:
    return str(_mapping(value.get("metadata")).get("name"))


def _node(spec: Mapping[str, Any], device: object) -> object:
    """The node of a device: that of its slice, unless each device of it has its own."""
    return spec.get("nodeName") or _mapping(device).get("nodeName")


def noun_of(snapshot: Snapshot) -> str:
    """What is counted: cards, or devices where some are published in parts."""
    names = (
        str(_mapping(device).get("name"))
        for published in snapshot.of(SLICE)
        if is_gpu(str(_mapping(published.get("spec")).get("driver")))
        for device in _listed(_mapping(published.get("spec")).get("devices"))
    )
    return "device" if any(PART in name for name in names) else "card"


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _plugged(node: Mapping[str, Any]) -> int:
    count = str(_mapping(_mapping(node.get("status")).get("allocatable")).get(PLUGIN, 0))
    return int(count) if count.isdigit() else 0


def _all_of(snapshot: Snapshot, kind: Kind) -> bool:
    return snapshot.lacks(kind) is None and all(each.kind != kind for each in snapshot.partly)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def quota_words(
    scheduler: str, quota: Amount | None, cards: int | None, resource: str, noun: str = "card"
) -> Iterator[str]:
    """What of the cards is in no quota, or what the quotas promise that is not there."""
    if quota is None or cards is None or quota >= UNSTATED:
        return
    if quota > cards:
        told = f"the quotas are {amount_text(quota)} `{resource}` together, and {_there(cards, noun)}"
        yield f"{told}: not all of it can be had at once"
    elif scheduler == KUEUE and quota < cards:
        beyond = amount_text(cards - quota)
        of = f"{beyond} of {counted(cards, noun)}"
        told = f"{of} {'is' if beyond == '1' else 'are'} in no quota of `{resource}`"
        yield f"{told}, and Kueue gives out no more than the quotas together: raise them to have all used"


def limit_words(capacity: Capacity, cards: int | None, noun: str = "card") -> str:
    """Why a limit is never reached, whatever the others leave idle; nothing of one that can be."""
    limit, most = capacity.limit, capacity.most
    if capacity.scheduler != KUEUE:
        limit, most = capacity.most, None
    if limit is None or limit >= UNSTATED:
        return ""
    text = f"the limit of {amount_text(limit)} `{capacity.resource}` is never reached"
    if most is not None and limit > most:
        return f"{text}: with all that others could lend it has {amount_text(most)} at most"
    return f"{text}: {_there(cards, noun)}" if cards is not None and limit > Fraction(cards) else ""


def _there(count: int, noun: str) -> str:
    return f"there {'is' if count == 1 else 'are'} {counted(count, noun)}"
