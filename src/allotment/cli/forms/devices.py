"""Devices as text, JSON and YAML: which there are, which can be had, who has the others."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import click

from allotment.cli.columns import Column, cut, table
from allotment.cli.devices.rows import Row, exceptions, natural, rows_of
from allotment.cli.shared import finding_data, finding_line, safe
from allotment.cli.words import clock
from allotment.cli.world import ChosenWorld
from allotment.devices.holders import Holder
from allotment.devices.inventory import Listed, State, inventory
from allotment.devices.slices import DeviceId
from allotment.devices.world import World
from allotment.errors import Finding, Severity
from allotment.pictures.counts import counted
from allotment.quantities import format_gi

FORMAT_VERSION: Final = 1
Held = tuple[Mapping[DeviceId, Holder], Mapping[DeviceId, tuple[Holder, ...]]]
MOST_LINES = 12
ROOMY = 110  # columns of a terminal, from which on nothing is shortened
MAKER = "NVIDIA "
PROCESSOR: Final = "processor"
ON_DEMAND_WORDS = "on demand: cut when a claim asks for it; what one takes of its card, the others lose"
MOST_FINDINGS = 20
COLOURS: Final = {
    State.FREE: "green",
    State.HELD: "yellow",
    State.SHARED: "cyan",
    State.ON_DEMAND: "cyan",
    State.TAINTED: "red",
    State.INCOMPLETE: "red",
    State.INVALID: "red",
    State.CLOSED: "red",
}


def as_text(chosen: ChosenWorld, held: Held, width: int | None, *, every: bool) -> Iterator[str]:
    """A sentence, the table, what is out of the ordinary, and what was found in the files."""
    world = chosen.world
    listed = inventory(world, _holder_words(world, held[0]), _sharer_words(held[1]))
    yield click.style(safe(_headline(chosen, listed)), bold=True)
    if listed:
        rows = rows_of(listed, every=every)
        yield ""
        yield from _table(rows, width)
        yield from _exception_lines(rows, width, every=every)
    notes = [f"note: {note}" for note in world.notes]
    if notes or chosen.findings:
        yield ""
    yield from (safe(note) for note in notes)
    yield from _finding_lines(chosen.findings, every=every)


def _headline(chosen: ChosenWorld, listed: Sequence[Listed]) -> str:
    """How many nodes, cards and other devices there are; where there are cards, which of those are free."""
    name = chosen.name
    if not listed:
        return f"{name}: {'nothing that could be read' if chosen.has_errors else 'no devices'}"
    places = {each.where for each in listed}
    cards = len({each.card_id for each in listed if each.card_id})
    beside = [each for each in listed if cards and not each.card_id and each.kind != PROCESSOR]
    processors = sum(1 for each in listed if each.kind == PROCESSOR)
    on = f", {places.pop()}" if len(places) == 1 and "(" not in name else ""
    parts = [_nodes_words(len(places), len(chosen.world.nodes))] if len(places) > 1 else []
    parts += [counted(cards, "card")] if cards else []
    parts += [counted(processors, "processor")] if processors else []
    others = len(listed) - processors - len(beside)
    if cards and others != cards:
        parts[-1 if not processors else -2] += f" as {counted(others, 'device')}"
    elif not cards and others:
        parts.append(counted(others, "device"))
    parts += [counted(len(beside), "other device")] if beside else []
    counts = Counter(each.state for each in listed) - Counter(each.state for each in beside)
    states = ", ".join(f"{counts[state]:,} {state}" for state in COLOURS if counts[state])
    return f"{name}{on}: {', '.join(parts)}; {'of the cards ' if beside else ''}{states}"


def _nodes_words(with_devices: int, nodes: int) -> str:
    """How many nodes have devices, and of how many, where some have none."""
    if nodes <= with_devices:
        return counted(with_devices, "node")
    return f"{with_devices:,} of {counted(nodes, 'node')}"


def _table(rows: Sequence[Row], width: int | None) -> list[str]:
    several_places = len({member.where for row in rows for member in row.members}) > 1
    merged = any(len(row.members) > 1 for row in rows)
    columns = (
        Column("NODE", least=10, from_middle=True),
        Column("POOL", least=10, from_middle=True),
        Column("DEVICE", least=12, from_middle=True),
        Column("CARD", least=14),
        Column("MEMORY EACH" if merged else "MEMORY"),
        Column("KIND", least=11),
        Column("STATE", least=15, paint=_painted),
    )
    narrow = _is_narrow(width)
    cells = [
        (
            row.where if several_places else "",
            row.pool,
            row.device,
            row.first.card.removeprefix(MAKER) if narrow else row.first.card,
            row.memory,
            _kind(row),
            row.state(brief=narrow),
        )
        for row in rows
    ]
    lines = table(columns, [tuple(safe(cell) for cell in row) for row in cells], width)
    return [click.style(lines[0], bold=True), *lines[1:]]


def _is_narrow(width: int | None) -> bool:
    """Whether reasons have no room in the table; then they all stand below it."""
    return width is not None and width < ROOMY


def _kind(row: Row) -> str:
    return "" if row.first.kind == row.first.card else row.first.kind


def _painted(cell: str, piece: str) -> str:
    """A piece of a state in its colour: that of the worst, where there are several."""
    said = cell.partition(":")[0].partition(" by ")[0]
    if " of " in said:
        return click.style(piece, fg="yellow")
    for state in reversed(tuple(COLOURS)):
        if said.startswith(str(state)) or f" {state}" in said:
            return click.style(piece, fg=COLOURS[state])
    return piece


def _exception_lines(rows: Sequence[Row], width: int | None, *, every: bool) -> Iterator[str]:
    """Of what the table has merged: who holds what, and what cannot be had."""
    found = list(exceptions(rows, also_single=_is_narrow(width)))
    on_demand = any(member.state is State.ON_DEMAND for row in rows for member in row.members)
    if found or on_demand:
        yield ""
    if on_demand:
        yield ON_DEMAND_WORDS
    most = len(found) if every else MOST_LINES
    for state, why, members in found[:most]:
        label = click.style(str(state) if state is not State.FREE else "noted", fg=COLOURS[state])
        text = safe(f": {_names(members)}{f', {why}' if why else ''}")
        yield label + (text if width is None else cut(text, max(20, width - len(state))))
    if len(found) > most:
        yield f"… and {len(found) - most:,} more: --all shows each device"


def _names(members: Sequence[Listed]) -> str:
    """A few devices by name, each with its node when they are of several."""
    places = {member.where for member in members}
    ordered = sorted(members, key=lambda each: (natural(each.where), natural(each.id.device)))
    names = [f"{each.where}/{each.id.device}" if len(places) > 1 else each.id.device for each in ordered]
    if len(names) > 4:
        names = [*names[:3], f"… ({len(names):,} in all)"]
    on = f" on {places.pop()}" if len(places) == 1 else ""
    return ", ".join(names) + on


def _finding_lines(findings: Sequence[Finding], *, every: bool) -> Iterator[str]:
    worst_first = sorted(findings, key=lambda finding: list(Severity).index(finding.severity))
    most = len(findings) if every else MOST_FINDINGS
    for finding in worst_first[:most]:
        yield finding_line(finding)
    if len(findings) > most:
        yield f"… and {counted(len(findings) - most, 'finding')} more: --all shows them"


def _holder_words(world: World, held: Mapping[DeviceId, Holder]) -> dict[DeviceId, str]:
    """Who holds which device, in words: by the ledger of this machine, by the claims of a cluster."""
    words = {device: _ledger_words(holder) for device, holder in held.items()}
    for claim in world.claims:
        users = f" for {', '.join(claim.users)}" if claim.users else ""
        told = f"by claim {claim.namespace}/{claim.name}{users}"
        for device in claim.devices:
            words[device] = f"{words[device]}, {told}" if device in words else told
    return words


def _sharer_words(shares: Mapping[DeviceId, tuple[Holder, ...]]) -> dict[DeviceId, str]:
    """Who holds parts of which device, by the ledger of this machine, and how much is given out."""
    return {
        device: f"by {counted(len(holders), 'worker')} with "
        f"{format_gi(sum(holder.device_bytes or 0 for holder in holders))} in all: "
        + "; ".join(_ledger_words(holder).removeprefix("by ") for holder in holders)
        for device, holders in shares.items()
    }


def _ledger_words(holder: Holder) -> str:
    what = "/".join(part for part in (holder.campaign, holder.volume) if part)
    parts = [f"by {holder.user or 'somebody'}"]
    parts += [f"for {what}"] if what else []
    parts += [f"since {clock(holder.since, time.time())}"] if holder.since else []
    parts += [f"(pid {holder.pid})"] if holder.pid else []
    return " ".join(parts)


def _objects(world: World) -> list[dict[str, Any]]:
    """Every object of the world, sorted by kind, namespace and name."""
    groups: tuple[Sequence[Any], ...] = (
        list(world.classes.values()),
        world.taint_rules,
        list(world.nodes.values()),
        world.claims,
        world.templates,
        world.slices,
    )
    objects: list[dict[str, Any]] = [each.to_dict() for group in groups for each in group]
    return sorted(
        objects,
        key=lambda each: (
            each["kind"],
            each["metadata"].get("namespace", ""),
            natural(each["metadata"]["name"]),
        ),
    )


def as_data(chosen: ChosenWorld, held: Held) -> dict[str, Any]:
    """The objects as a list that kubectl and --devices read, with what is known beside them."""
    listed = inventory(chosen.world, _holder_words(chosen.world, held[0]), _sharer_words(held[1]))
    return {
        "format_version": FORMAT_VERSION,
        "apiVersion": "v1",
        "kind": "List",
        "items": _objects(chosen.world),
        "states": [
            {"device": str(each.id), "state": str(each.state), **({"why": each.why} if each.why else {})}
            for each in sorted(listed, key=lambda each: each.id)
        ],
        "notes": list(chosen.world.notes),
        "findings": [finding_data(finding) for finding in chosen.findings],
    }


def as_yaml(chosen: ChosenWorld) -> str:
    """The objects as one List, as kubectl prints one."""
    import yaml

    whole = {"apiVersion": "v1", "kind": "List", "items": _objects(chosen.world)}
    return yaml.dump(whole, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=1000)
