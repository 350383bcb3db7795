"""A fleet in a line of words, as a world: ``2 nodes of 8 x H100-SXM, 2 x A100-40 mig=1g.5gb*7``.

``[N nodes of] K x CARD [mig=PROFILE*M]``, comma-separated; without ``N nodes of`` an entry is one node, and
several ``mig=`` cut each of its cards in several ways. ``mig=on-demand`` leaves the cutting to claims. What a
card is comes from the catalogue, and is published as the card's own driver would publish it
(``described_cards``, ``described_on_demand``). Nodes are named ``node-1`` on, have no Node objects, and so
are bounded in nothing but their cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from allotment.devices.catalogue import Card, MigProfile, find
from allotment.devices.described_cards import Cut, card_devices
from allotment.devices.described_on_demand import MOST_CARDS as MOST_ON_DEMAND
from allotment.devices.described_on_demand import on_demand_slices
from allotment.devices.found import slices_of
from allotment.devices.known_classes import CLASSES
from allotment.devices.mig.cuts import all_cuts, lay_out
from allotment.devices.slices import ResourceSlice
from allotment.devices.world import World
from allotment.errors import UsageError, did_you_mean

MOST_NODES: Final = 100_000
MOST_CARDS: Final = 256  # of one node
MOST_DEVICES: Final = 1_000_000
FORM: Final = (
    "`[N nodes of] K x CARD [mig=PROFILE*M|on-demand]`, comma-separated, such as `2 nodes of 8 x H100-SXM`"
)

_ENTRY: Final = re.compile(
    r"\s*(?:(?P<nodes>\d+)\s*nodes?\s+(?:of|with)\s+)?(?P<count>\d+)\s*[x×*]\s*(?P<card>.*)", re.IGNORECASE
)
_NUMBERED: Final = re.compile(r"(?:(\d+)\s+)?(.*)", re.DOTALL)
_ON_DEMAND: Final = re.compile(r"\s+mig\s*=\s*on-demand\s*", re.IGNORECASE)
_CUT: Final = re.compile(r"\s+mig\s*=\s*(?P<profile>[^\s*×]*)(?:\s*[*×]\s*(?P<count>\d+))?", re.IGNORECASE)


class _Entry(NamedTuple):
    """So many nodes of so many cards, each cut alike (not at all: whole), or when a claim asks for it."""

    nodes: int
    cards: int
    card: Card
    cuts: tuple[Cut, ...]
    on_demand: bool = False

    @property
    def devices(self) -> int:
        """How many devices are published of each card."""
        if self.on_demand and self.card.mig is not None:
            return 1 + len(all_cuts(self.card.mig))
        return max(1, len(self.cuts))


def parse_description(text: str) -> World:
    """The world that the words describe; UsageError with the column of what makes no sense."""
    entries = [_entry(part, column) for part, column in _parts(text)]
    total = sum(entry.nodes for entry in entries)
    devices = sum(entry.nodes * entry.cards * entry.devices for entry in entries)
    if total > MOST_NODES or devices > MOST_DEVICES:
        raise _wrong(
            1,
            f"{total:,} nodes with {devices:,} devices are more than can be described",
            f"describe at most {MOST_NODES:,} nodes and {MOST_DEVICES:,} devices",
        )
    slices = tuple(_slices(entries, len(str(total))))
    return World(
        slices=slices,
        classes={each.name: each for each in CLASSES},
        node=slices[0].node_name or "",
        notes=tuple(dict.fromkeys(note for entry in entries for note in _notes(entry))),
    )


def _parts(text: str) -> Iterator[tuple[str, int]]:
    """The entries, each with the column at which it begins."""
    column = 1
    for part in text.split(","):
        leading = len(part) - len(part.lstrip())
        if not part.strip():
            raise _wrong(column + leading, "an entry is missing here", f"the form is {FORM}")
        yield part.strip(), column + leading
        column += len(part) + 1


def _entry(text: str, column: int) -> _Entry:
    match = _ENTRY.fullmatch(text)
    if match is None:
        raise _wrong(column, f"`{text}` is no entry of a description", _meant(text))
    nodes = 1 if match["nodes"] is None else int(match["nodes"][:9])
    count = int(match["count"][:9])
    if not 1 <= nodes <= MOST_NODES:
        raise _wrong(column + match.start("nodes"), f"{nodes:,} nodes cannot be", f"1 to {MOST_NODES:,} can")
    if not 1 <= count <= MOST_CARDS:
        raise _wrong(
            column + match.start("count"),
            f"a node of {count:,} cards cannot be",
            f"1 to {MOST_CARDS} can; for more say `N nodes of`",
        )
    cuts_from = _CUT.search(match["card"])
    named = match["card"][: cuts_from.start()] if cuts_from else match["card"]
    at = column + match.start("card")
    try:
        card = find(named.strip())
    except UsageError as error:
        raise _wrong(at, error.what, error.remedy) from None
    rest = match["card"][len(named) :]
    if _ON_DEMAND.fullmatch(rest):
        return _Entry(nodes, count, card, (), _can_be_cut(card, count, at + len(named) + 1))
    return _Entry(nodes, count, card, _cuts(rest, card, at + len(named)))


def _can_be_cut(card: Card, count: int, column: int) -> bool:
    """Whether such cards can be cut on demand; UsageError where they cannot."""
    if card.mig is None:
        raise _wrong(column, f"the {card.id} cannot be cut: it has no MIG", "leave `mig=` out")
    if count > MOST_ON_DEMAND:
        raise _wrong(
            column,
            f"a node of {count} cards cannot offer them on demand: {MOST_ON_DEMAND} counter sets can be",
            f"describe nodes of at most {MOST_ON_DEMAND} such cards",
        )
    return True


def _cuts(text: str, card: Card, column: int) -> tuple[Cut, ...]:
    """How each card is cut: every partition at its place."""
    wanted: list[MigProfile] = []
    end = 0
    while match := _CUT.match(text, end):
        profile = _profile(match["profile"], card, column + match.start("profile"))
        number = 1 if match["count"] is None else int(match["count"][:6])
        if not 1 <= number <= profile.most:
            raise _wrong(
                column + match.start("profile"),
                f"the {card.id} cannot hold {number} of {profile.name}",
                f"it holds 1 to {profile.most}",
            )
        wanted += [profile] * number
        end = match.end()
    if text[end:].strip():
        raise _wrong(column + end + 1, f"`{text[end:].strip()}` is not understood", f"the form is {FORM}")
    if not wanted or card.mig is None:
        return ()
    placed = lay_out(wanted, card.mig.slots)
    if placed is None:
        names = ", ".join(f"{profile.name} ({profile.memory_slices})" for profile in wanted)
        raise _wrong(
            column + 1,
            f"these do not fit on one {card.id} together: {names}",
            f"the card has {card.mig.slots} memory slots, and partitions begin only at certain ones",
        )
    return placed


def _profile(name: str, card: Card, column: int) -> MigProfile:
    if card.mig is None:
        raise _wrong(column, f"the {card.id} cannot be cut: it has no MIG", "leave `mig=` out")
    profile = card.mig.profile(name)
    if profile is None:
        known = [each.name for each in card.mig.profiles]
        hint = did_you_mean(name, known) or "known: " + ", ".join(f"`{each}`" for each in known)
        raise _wrong(column, f"the {card.id} has no MIG profile `{name}`", hint)
    return profile


def _slices(entries: Sequence[_Entry], digits: int) -> Iterator[ResourceSlice]:
    number = 0
    for entry in entries:
        for _ in range(entry.nodes):
            number += 1
            node = f"node-{number:0{digits}d}"
            if entry.on_demand:
                yield from on_demand_slices(entry.card, node, entry.cards)
                continue
            devices = [
                device
                for minor in range(entry.cards)
                for device in card_devices(entry.card, node, minor, entry.cuts)
            ]
            yield from slices_of(entry.card.driver, node, devices)


def _notes(entry: _Entry) -> Iterator[str]:
    """What the catalogue does not know for sure of what is described."""
    card = entry.card
    profiles = [cut.profile for cut in entry.cuts]
    if entry.on_demand and card.mig is not None:
        profiles = list(card.mig.profiles)
    memory = [profile.memory for profile in profiles] or [card.reported]
    what = f"a {card.id}'s partitions" if profiles else f"a {card.id}"
    if any(figure.value is None for figure in memory):
        yield f"what memory {what} would report is not known: the described ones report none"
    elif not all(figure.verified for figure in memory):
        sources = ", ".join(dict.fromkeys(source for figure in memory for source in figure.sources))
        yield f"the memory of {what} is taken from {sources}, and not from a card"


def _meant(text: str) -> str:
    """What somebody wrote who left something out."""
    match = _NUMBERED.match(text)
    number, named = match.groups() if match else (None, text)
    try:
        card = find(_CUT.split(named)[0].strip())
    except UsageError:
        return f"the form is {FORM}"
    return f"write `{number} x {card.id}`" if number else f"write how many: `1 x {card.id}`"


def _wrong(column: int, what: str, remedy: str) -> UsageError:
    return UsageError(what, where=f"--describe, column {column}", remedy=remedy)
