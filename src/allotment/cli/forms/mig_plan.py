"""A plan of static MIG: in words with a picture, as data, and as the file that sets it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from allotment.cli.columns import terminal_width
from allotment.cli.devices.mig_picture import Piece, bar
from allotment.cli.json_text import json_text
from allotment.cli.shared import safe
from allotment.devices.mig.mig_parted import mig_parted
from allotment.devices.mig.plan import MigPlan, Near
from allotment.devices.mig.seats import Seat, slots_of
from allotment.pictures.counts import counted
from allotment.quantities import format_bytes, format_gi

FORMAT_VERSION = 1
MOST_BARS = 16
ORDER_WORDS = "a node's cards are taken in the order of their names, and nodes in that of the description"


def as_text(plan: MigPlan, name: str, notes: Sequence[str]) -> str:
    """Everything in words, with a bar for each card, like ones together."""
    return "\n".join(_text(plan, name, notes, terminal_width(), picture=True))


def as_yaml(plan: MigPlan, name: str, notes: Sequence[str]) -> str:
    """The file for nvidia-mig-parted; what there is to say stands in comments."""
    import yaml

    config, by_node = mig_parted(plan.fleet, plan.layout.seats)
    said = [click.unstyle(line) for line in _text(plan, name, notes, 80, picture=True)]
    nodes: dict[str, list[str]] = {}
    for node, each in by_node.items():
        nodes.setdefault(each, []).append(node)
    said += ["", "nvidia-mig-parted apply -f FILE -c NAME, on each node:"]
    said += [f"  {each}: {safe(', '.join(found))}" for each, found in nodes.items()]
    dumped = yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=1000, default_flow_style=None)
    return "\n".join([*(f"# {line}".rstrip() for line in said), dumped.rstrip()])


def as_json(plan: MigPlan, name: str, notes: Sequence[str]) -> str:
    """The plan for programs."""
    config, by_node = mig_parted(plan.fleet, plan.layout.seats)
    parts = [part.words for part in plan.load.parts]
    told = {
        "format_version": FORMAT_VERSION,
        "world": name,
        "load": [{"part": part, "pods": count} for part, count in zip(parts, plan.load.counts, strict=True)],
        "layout": {
            **_outcome(plan, plan.layout.seats),
            "exact": plan.layout.exact,
            "cards": [_card(plan, at) for at in range(len(plan.fleet))],
        },
        "best": {**_outcome(plan, plan.best.seats), "exact": plan.best.exact},
        "scheduler": {
            "on_demand": _outcome(plan, plan.on_demand),
            "on_layout": {
                "by_name": dict(zip(parts, plan.by_name, strict=True)),
                "at_worst": dict(zip(parts, plan.at_worst, strict=True)),
            },
        },
        "never_fit": [part.words for part in plan.never_fit()],
        "nearly": [
            {
                "part": near.part.words,
                "card": near.card.id,
                "profile": near.profile.name,
                "bytes": near.memory,
            }
            for near in plan.nearly()
        ],
        "mig_parted": config,
        "mig_parted_by_node": by_node,
        "notes": list(notes),
    }
    return json_text(told)


def _outcome(plan: MigPlan, seats: Sequence[Seat]) -> dict[str, Any]:
    served = plan.served(seats)
    return {
        "pods": sum(served),
        "of": plan.load.total,
        "cards_begun": len({seat.card for seat in seats}),
        "served": {part.words: count for part, count in zip(plan.load.parts, served, strict=True)},
    }


def _card(plan: MigPlan, at: int) -> dict[str, Any]:
    each = plan.fleet[at]
    return {
        "node": each.node,
        "number": each.number,
        "card": each.card.id,
        "slots": slots_of(each.card),
        "seats": [
            {"profile": seat.profile and seat.profile.name, "start": seat.start, "part": _words(plan, seat)}
            for seat in plan.seats_of(at)
        ],
        "room_for": [profile.name for profile in plan.room(at)],
    }


def _text(
    plan: MigPlan, name: str, notes: Sequence[str], width: int | None, *, picture: bool
) -> Iterator[str]:
    kinds = Counter(each.card.id for each in plan.fleet)
    cards = ", ".join(f"{count} x {card}" for card, count in kinds.items())
    yield click.style(safe(f"{name}: {cards}"), bold=True)
    yield safe(f"the load: {plan.load} ({counted(plan.load.total, 'pod')} at once)")
    yield ""
    proof = "nothing better exists" if plan.layout.exact else "the best of several tries"
    yield click.style(f"the layout: {_outcome_words(plan, plan.layout.seats)} ({proof})", bold=True)
    yield from _left_out(plan, plan.layout.seats)
    if picture:
        yield ""
        yield from _bars(plan, width)
    yield ""
    yield from _scheduler(plan)
    told = [*_hints(plan), *notes]
    if told:
        yield ""
    yield from (safe(f"note: {each}") for each in told)


def _outcome_words(plan: MigPlan, seats: Sequence[Seat]) -> str:
    served, total = len(seats), plan.load.total
    begun = len({seat.card for seat in seats})
    pods = f"all {counted(total, 'pod')}" if served == total else f"{served:,} of {counted(total, 'pod')}"
    return f"{pods}, on {begun:,} of {counted(len(plan.fleet), 'card')}"


def _left_out(plan: MigPlan, seats: Sequence[Seat]) -> Iterator[str]:
    pairs = zip(plan.load.parts, plan.load.counts, plan.served(seats), strict=True)
    without = [f"{count - got} x {part.words}" for part, count, got in pairs if got < count]
    if without:
        yield safe(f"  without a seat: {', '.join(without)}")


def _bars(plan: MigPlan, width: int | None) -> Iterator[str]:
    """The cards, those that are cut alike together, and then what is left over."""
    groups: dict[Any, list[int]] = {}
    for at, each in enumerate(plan.fleet):
        seats = tuple((seat.start, seat.name, seat.part) for seat in plan.seats_of(at))
        groups.setdefault((each.card.id, seats), []).append(at)
    used = [members for members in groups.values() if plan.seats_of(members[0])]
    for members in used[:MOST_BARS]:
        first = plan.fleet[members[0]]
        yield safe(f"{_places(plan, members)}, {first.card.id}")
        yield from bar(
            [_piece(plan, seat) for seat in plan.seats_of(members[0])], slots_of(first.card), width
        )
        if left := _left_over(plan, members[0]):
            yield f"  left over{' on each' if len(members) > 1 else ''}: {left}"
    if len(used) > MOST_BARS:
        yield f"… and {counted(len(used) - MOST_BARS, 'more kind')} of layout: -o json has all"
    for members in groups.values():
        if not plan.seats_of(members[0]):
            yield safe(f"{_places(plan, members)}, {plan.fleet[members[0]].card.id}: left over, whole")


def _left_over(plan: MigPlan, at: int) -> str:
    """What else could be cut from a card, and what of its computing nobody has."""
    names = Counter(profile.name for profile in plan.room(at))
    more = ", ".join(f"{count} x {profile}" for profile, count in names.items())
    used, there = plan.computing(at)
    idle = f"{there - used} of {there} compute slices" if used < there else ""
    return "; ".join(part for part in (f"room for {more}" if more else "", idle) if part)


def _places(plan: MigPlan, members: Sequence[int]) -> str:
    """Which cards: ``node-1 gpu-0 … gpu-3``, or how many of how many nodes."""
    found = [plan.fleet[at] for at in members]
    if len(found) == 1:
        return found[0].name
    nodes = list(dict.fromkeys(each.node for each in found))
    if len(nodes) == 1:
        between = "," if len(found) == 2 else " …"
        return f"{found[0].name}{between} gpu-{found[-1].number} ({len(found)} cards)"
    return f"{nodes[0]} … {nodes[-1]} ({counted(len(found), 'card')} of {len(nodes)} nodes)"


def _piece(plan: MigPlan, seat: Seat) -> Piece:
    size = slots_of(plan.fleet[seat.card].card) if seat.profile is None else seat.profile.memory_slices
    return Piece(seat.start, size, seat.name, safe(_words(plan, seat)), seat.part)


def _words(plan: MigPlan, seat: Seat) -> str:
    return plan.load.parts[seat.part].words


def _scheduler(plan: MigPlan) -> Iterator[str]:
    """The scheduler beside the best: cutting on demand, and on the layout."""
    yield f"the scheduler, cutting on demand (first fit): {_outcome_words(plan, plan.on_demand)}"
    yield from _left_out(plan, plan.on_demand)
    yield f"the best possible, cutting on demand:         {_outcome_words(plan, plan.best.seats)}"
    yield from _left_out(plan, plan.best.seats)
    total = plan.load.total
    by_name, worst = sum(plan.by_name), sum(plan.at_worst)
    span = f"{by_name:,}" if by_name == worst else f"{min(by_name, worst):,} to {max(by_name, worst):,}"
    yield f"the scheduler, on the layout:                 {span} of {counted(total, 'pod')}"
    if worst < len(plan.layout.seats):
        yield "  a claim by memory alone may take a partition that only a larger pod could use: say"
        for number, part in enumerate(plan.load.parts):
            if (found := plan.range_of(number)) is not None:
                yield safe(f"  {part.words}: `memory: {format_bytes(found[0])}..{format_bytes(found[1])}`")


def _hints(plan: MigPlan) -> Iterator[str]:
    for part in plan.never_fit():
        yield f"{part.words} never fits: no card of this fleet, whole or cut, has that"
    for near in plan.nearly():
        yield _near_words(near)
    for name in plan.assumed():
        yield f"what partitions of {name} report nobody has told: 91 % of their share of the card is assumed"
    cut = {plan.fleet[seat.card].card for seat in plan.layout.seats if seat.profile is not None}
    for card in sorted(cut, key=lambda each: each.id):
        if card.mig is not None and not card.mig.without_reset:
            yield f"{card.id}: the card is reset when MIG is switched on, and must be idle then"
    if len(plan.fleet) > 1:
        yield ORDER_WORDS


def _near_words(near: Near) -> str:
    return (
        f"{near.part.words} just misses {near.profile.name} of {near.card.id}, which has "
        f"{format_gi(near.memory)} ({format_bytes(near.memory)}): ask for that, and a card seats "
        f"{near.seats_then} instead of {near.seats_now}"
    )


FORMS: Mapping[str, Any] = {"text": as_text, "yaml": as_yaml, "json": as_json}
