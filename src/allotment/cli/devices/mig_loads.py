"""The load that ``--mig-plan`` is given: words, or a repository (or a file of it) and what it runs.

A campaign asks for as many pods as its window is wide, a fleet for all of its replicas, a gang for its
workers; a pipeline that is named itself for one. What of a need cannot be planned (its own selector,
fallbacks) is said.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from allotment.devices.catalogue import Card, cards
from allotment.devices.mig.load import Load, Part, load_of, parse_load
from allotment.errors import FindingsError, Severity, UsageError
from allotment.needs.cards import Kinds, UnknownCardError, admits, chosen_cards
from allotment.platform.find import find_platform
from allotment.platform.need import WHOLE, Need
from allotment.quantities import GI, format_bytes
from allotment.repository import Loaded, load_repository
from allotment.repository.model import Campaign
from allotment.repository.select import is_repository

Entry = tuple[str, Need | None, int]
_PARTITION: Final = "mig"


def load_from(needs: str) -> tuple[Load, tuple[str, ...]]:
    """The load, and what there is to say about it."""
    path = Path(needs)
    if not path.exists():
        return parse_load(needs), ()
    root = path if path.is_dir() else path.absolute().parent.parent
    if path.is_dir() and not is_repository(path):
        raise UsageError(
            "this folder is no repository, and no load in words",
            where=str(path.resolve()),
            remedy='write a load such as "8 x 9.5Gi, 2 x 40Gi", or name a repository\'s folder',
        )
    platform, _ = find_platform(root, option=None, environ=os.environ)
    only = None if path.is_dir() else [path.absolute()]
    loaded = load_repository(root, platform, only=only)
    if any(finding.severity is Severity.ERROR for finding in loaded.findings):
        raise FindingsError(loaded.findings)
    entries, notes = [], []
    for name, need, count in _entries(loaded, only):
        if need is None or need.cpu is not None:
            continue
        notes += [f"{name}: {note}" for note in _set_aside(need)]
        entries.append((_part(need, platform.cards), count * need.count))
    if not entries:
        raise UsageError("nothing here needs a card", where=str(path), remedy="name a load in words")
    return load_of(entries), tuple(notes)


def _entries(loaded: Loaded, only: list[Path] | None) -> Iterator[Entry]:
    """Everything that needs cards: its name, its need, and how many pods at once."""
    repository = loaded.repository
    named = {path.stem for path in only or () if path.parent.name == "pipelines"}
    for campaign in repository.campaigns.values():
        pipeline = repository.pipelines.get(campaign.pipeline)
        yield campaign.name, pipeline.gpu if pipeline else None, _pods(campaign)
    for fleet in repository.fleets.values():
        yield fleet.name, fleet.gpu, fleet.replicas.max
    for gang in repository.gangs.values():
        yield gang.name, gang.gpu, gang.workers
    for pipeline in repository.pipelines.values():
        if pipeline.id in named:
            yield pipeline.id, pipeline.gpu, 1


def _pods(campaign: Campaign) -> int:
    """As many as the window has, and never more than there is work for."""
    return max(1, min(campaign.window.max, -(-len(campaign.volumes) // campaign.pack)))


def _part(need: Need, kinds: Kinds) -> Part:
    memory = need.memory
    least = (memory.at_least or 0) if memory else 0
    words, at_most = "whole", None
    if memory is not None:
        least = max(least, (memory.more_than or -1) + 1)
        at_most = memory.at_most
        strictly = memory.more_than is not None
        words = f">{_amount(memory.more_than or 0)}" if strictly else _amount(least)
        words += f"..{_amount(at_most)}" if at_most is not None else ""
    wanted = _cards(need, kinds)
    if need.card:
        words += f" of {' or '.join(need.card)}"
    return Part(words, least, at_most, whole=memory is None, cards=tuple(card.id for card in wanted))


def _amount(memory: int) -> str:
    """Bytes as short as they can be said exactly: ``9.5Gi``, ``9984Mi``."""
    tenths, rest = divmod(memory * 10, GI)
    return f"{tenths / 10:g}Gi" if not rest else format_bytes(memory)


def _cards(need: Need, kinds: Kinds) -> list[Card]:
    """The cards of the catalogue that a need names."""
    if not need.card:
        return []
    try:
        choice = chosen_cards(need.card, kinds)
    except UnknownCardError as error:
        raise UsageError(error.message, remedy=error.hint) from None
    return [card for card in cards() if admits(choice, card)]


def _set_aside(need: Need) -> Iterator[str]:
    """What the plan does not look at, or looks at otherwise than the need is written."""
    if need.memory is not None and _PARTITION not in need.sharing:
        asked = " or ".join(need.sharing)
        yield f"asks for {asked}; planned as a partition, which `sharing: [mig, whole]` would ask for"
    if need.memory is None and need.sharing != (WHOLE,):
        yield "names no memory; planned as a whole card"
    if need.select is not None:
        yield "its own selector is not looked at"
    if need.fallback:
        yield "its fallbacks are not looked at"
