"""What is odd about a world's cards, as far as a need is concerned: one sentence each.

None of it stops a claim, and each has made somebody wait for a card that looked free, or count one twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from allotment.devices.inventory import Listed
from allotment.devices.known_classes import AMD_DRIVER, INTEL_DRIVER, NVIDIA_DRIVER
from allotment.devices.world import World
from allotment.needs.clauses import Candidate
from allotment.pictures.counts import counted

_CARD_DRIVERS = frozenset({NVIDIA_DRIVER, AMD_DRIVER, INTEL_DRIVER})
_WHOLE = "whole"
_VIRTUAL = "vGPU"
_PASSED_ON = "passthrough"
_MOST = 3


def oddities(world: World, candidates: Sequence[Candidate]) -> Iterator[str]:
    """Everything odd, in a fixed order."""
    yield from world.notes
    yield from _empty(world)
    yield from _twice(candidates)
    yield from _silent(candidates)
    yield from _virtual(candidates)


def _empty(world: World) -> Iterator[str]:
    """Pools of cards in which nothing is published, such as cards with MIG on and no partitions."""
    pools: dict[tuple[str, str], int] = {}
    for published in world.slices:
        if published.driver in _CARD_DRIVERS and not published.shared_counters:
            key = (published.driver, published.pool.name)
            pools[key] = pools.get(key, 0) + len(published.devices)
    names = [pool for (_, pool), count in pools.items() if not count]
    if names:
        yield (
            f"{_few(names)} {_verb(names, 'publishes', 'publish')} no device: cards with MIG switched on and "
            "no partitions offer nothing, and neither does a driver that found none"
        )


def _twice(candidates: Sequence[Candidate]) -> Iterator[str]:
    """Cards that are listed whole and in another form, with no counters that would keep the two apart."""
    cards: dict[str, list[Candidate]] = {}
    for each in candidates:
        if each.listed.card_id and not each.device.consumes_counters:
            cards.setdefault(each.listed.card_id, []).append(each)
    parents = {
        f"{each.driver}/{each.listed.id.pool}/{uuid}": each
        for each in candidates
        if each.listed.kind == _WHOLE and isinstance(uuid := each.device.attributes.get("uuid"), str)
    }
    found: dict[str, str] = {}
    for card_id, devices in cards.items():
        whole = [each for each in devices if each.listed.kind == _WHOLE]
        others = [each for each in devices if each.listed.kind != _WHOLE]
        parent = parents.get(card_id)
        if others and (whole or parent is not None):
            first = (whole[0] if whole else parent) or others[0]
            found[str(first.listed.id)] = f"{first.listed.id.device} of {first.listed.where}"
    if found:
        names = list(found.values())
        yield (
            f"{_few(names)} {_verb(names, 'is', 'are')} listed twice, whole and in another form, and nothing "
            "keeps the two from being given to two pods"
        )


def _silent(candidates: Sequence[Candidate]) -> Iterator[str]:
    """Cards whose memory nobody knows."""
    silent = [
        each.listed
        for each in candidates
        if each.listed.card_id and not each.listed.memory and each.listed.kind != _PASSED_ON
    ]
    if silent:
        count = counted(len(silent), "card")
        yield f"memory not told by {count} ({_few(_names(silent))}): a need for memory leaves such cards out"


def _virtual(candidates: Sequence[Candidate]) -> Iterator[str]:
    """vGPUs, which look like whole cards."""
    virtual = [each.listed for each in candidates if each.listed.kind == _VIRTUAL]
    if virtual:
        count = counted(len(virtual), "vGPU")
        yield (
            f"{count} ({_few(_names(virtual))}) published like whole cards: each is a part of a card that "
            "other machines use too"
        )


def _names(listed: Sequence[Listed]) -> list[str]:
    names: Mapping[str, None] = dict.fromkeys(each.card for each in listed)
    return list(names)


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST])
    return shown if len(names) <= _MOST else f"{shown} and {len(names) - _MOST:,} more"


def _verb(names: Sequence[str], one: str, several: str) -> str:
    return one if len(names) == 1 else several
