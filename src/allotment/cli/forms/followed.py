"""What is on a cluster as text and as JSON: how it stands, and why not more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import click

from allotment.cli.shared import safe
from allotment.cli.watching.notices import progress
from allotment.cli.words import span
from allotment.events.model import CampaignView, VolumeState
from allotment.kubernetes.cluster.capacity import amount_text
from allotment.kubernetes.follow import (
    Cause,
    Followed,
    Index,
    IndexState,
    Slice,
    State,
    Sum,
)
from allotment.pictures.counts import counted

FORMAT_VERSION: Final = 1
MOST_SHOWN: Final = 20
COLOURS: Final[Mapping[State, str]] = {
    State.FINISHED: "green",
    State.RUNNING: "cyan",
    State.STARTING: "cyan",
    State.PAUSED: "yellow",
    State.WAITING: "yellow",
    State.NEVER: "red",
    State.FAILED: "red",
}
_UNITS: Final = {"campaign": "volume", "gang": "worker"}
_WORTH: Final = frozenset(
    {
        IndexState.RUNNING,
        IndexState.STARTING,
        IndexState.STOPPING,
        IndexState.LOST,
        IndexState.FAILED,
        IndexState.WAITING,
    }
)
_PLENTIFUL: Final = frozenset({"cpu", "memory"})
Pages = CampaignView | None


def status_lines(
    found: Followed, now: float, pages: Pages, *, all_indexes: bool, with_place: bool = False
) -> Iterator[str]:
    """One campaign, fleet or gang: numbers, the sentence, what to do, and what runs where.

    ``with_place`` puts its namespace before its name.
    """
    state = click.style(str(found.state), fg=COLOURS.get(found.state))
    name = f"{found.namespace}/{found.name}" if with_place else found.name
    yield f"{click.style(safe(name), bold=True)} {state}{_numbers(found)}"
    yield f"  {safe(found.sentence)}"
    if found.root is not None and found.root.remedy and found.state is not State.FINISHED:
        yield f"  to do: {safe(found.root.remedy)}"
    for cause in found.causes[1:]:
        if cause.brief == "" or cause.brief not in found.sentence:
            yield f"  also: {safe(cause.sentence)}"
    yield from _pages_lines(pages, now)
    yield from _index_lines(found, now, pages, all_indexes=all_indexes)
    for note in found.notes:
        yield click.style(f"  note: {safe(note)}", dim=True)


def _numbers(found: Followed) -> str:
    counts, window = found.counts, found.window
    if found.state is State.ABSENT:
        return ""
    parts = []
    if found.kind == "fleet":
        parts.append(f"{counts.running} of {counted(window.asked if window else 0, 'copy')} up")
    elif counts.total:
        unit = "pack" if found.is_packed else _UNITS[found.kind]
        parts.append(f"{counts.done:,} of {counted(counts.total, unit)} done")
    running = (
        (counts.running, "running"),
        (counts.starting, "starting"),
        (counts.pending, "waiting for a place"),
        (counts.stopping, "stopping"),
        (counts.failed, "failed"),
    )
    parts += [f"{number:,} {word}" for number, word in running if number and found.kind != "fleet"]
    if window is not None and found.state not in {State.FINISHED, State.FAILED, State.ABSENT}:
        parts += [_window_words(found)]
    return f": {', '.join(each for each in parts if each)}" if any(parts) else ""


def _window_words(found: Followed) -> str:
    window = found.window
    if window is None or window.most is None or found.kind != "campaign":
        return ""
    bounds = (
        f"window {window.least} to {window.most}" if window.least != window.most else f"window {window.most}"
    )
    return f"{bounds}, now {window.asked}" if window.asked != window.most else bounds


def _pages_lines(pages: Pages, now: float) -> Iterator[str]:
    if pages is not None and (pages.volumes or pages.pages_done):
        yield f"  in the bucket: {safe(progress(pages, now))}"


def _index_lines(found: Followed, now: float, pages: Pages, *, all_indexes: bool) -> Iterator[str]:
    shown = [each for each in found.indexes if all_indexes or each.state in _WORTH]
    most = len(shown) if all_indexes else MOST_SHOWN
    for each in shown[:most]:
        yield f"  {safe(_index_words(found, each, now, pages))}"
    if len(shown) > most:
        yield f"  … and {len(shown) - most:,} more: --volumes shows all"


def _index_words(found: Followed, each: Index, now: float, pages: Pages) -> str:
    state = "to be tried again" if each.state is IndexState.WAITING else str(each.state)
    parts = [f"{called(found, each)} {state}"]
    if each.node and each.state is not IndexState.FAILED:
        devices = [device.split("/", 1)[-1] for device in each.devices]
        parts.append(f"on {', '.join(devices) if devices else each.node}")
    if each.since is not None and each.state in {IndexState.RUNNING, IndexState.STARTING}:
        parts.append(f"for {span(max(0.0, now - each.since))}")
    if each.failures and each.state is not IndexState.FAILED:
        parts.append(f"{counted(each.failures, 'failed try')} before")
    words = ", ".join(parts)
    message = _of_bucket(each, pages) or each.message
    return f"{words}: {message}" if message else words


def _of_bucket(each: Index, pages: Pages) -> str:
    """Why its volumes failed, as the runner told the bucket."""
    if pages is None:
        return ""
    views = [pages.volumes[name] for name in each.volumes if name in pages.volumes]
    return next((view.message for view in views if view.state is VolumeState.FAILED and view.message), "")


def called(found: Followed, each: Index) -> str:
    """An index by its volumes, a worker by its rank, a copy by its pod."""
    if each.volumes:
        first, more = each.volumes[0], len(each.volumes) - 1
        return f"{first} and {more} more" if more else first
    return (
        each.pod if found.kind == "fleet" and each.pod else f"{_UNITS.get(found.kind, 'index')} {each.number}"
    )


def why_lines(found: Followed) -> Iterator[str]:
    """The root sentence, what to do, then each cause with its evidence, slices and sums."""
    state, colon, rest = found.sentence.partition(": ")
    head = click.style(safe(state), fg=COLOURS.get(found.state)) + (f": {safe(rest)}" if colon else "")
    yield f"{click.style(safe(found.name), bold=True)}: {head}"
    if found.root is not None and found.root.remedy:
        yield f"  to do: {safe(found.root.remedy)}"
    for place, cause in enumerate(found.causes):
        yield ""
        yield from _cause_lines(cause, is_root=place == 0)
    if len(found.slices) > 1:
        yield ""
        yield from (f"  {safe(_slice_words(each))}" for each in found.slices)
    if sums := _worth_telling(found.sums):
        yield ""
        yield "  what it asks for at once, and what its queue may use:"
        for each in sums:
            asked = amount_text(each.asked, each.capacity.resource)
            yield f"    {asked} {safe(each.capacity.resource)}: {safe(each.words)}"


def _worth_telling(sums: Sequence[Sum]) -> Sequence[Sum]:
    """Those that there is not enough of; else those of devices, for of cores and memory there mostly is."""
    short = [each for each in sums if each.capacity.free is not None and each.asked > each.capacity.free]
    return short or [each for each in sums if each.capacity.resource not in _PLENTIFUL]


def _cause_lines(cause: Cause, *, is_root: bool) -> Iterator[str]:
    if is_root:
        yield "  seen:"
    else:
        yield f"  also: {safe(cause.sentence)}"
        if cause.remedy:
            yield f"    to do: {safe(cause.remedy)}"
    for each in cause.evidence:
        yield f"    {safe(each.about)}, {safe(each.field)}:"
        yield click.style(f"      {safe(each.text)}", dim=True)


def _slice_words(each: Slice) -> str:
    what = "has quota for" if each.is_live else "waits for quota for"
    place = (
        f", number {each.position.place} of {each.position.of} in `{each.position.queue}`"
        if each.position
        else ""
    )
    return f"Workload {each.name} {what} {counted(each.pods, 'pod')}{place}"


def as_data(
    found: Sequence[Followed], now: float, cluster: str, pages: Mapping[str, Pages], unread: str = ""
) -> dict[str, Any]:
    """Everything as plain data; ``unread`` is why the bucket tells nothing."""
    return {
        "format_version": FORMAT_VERSION,
        "time": now,
        "cluster": cluster,
        "notes": [unread] if unread else [],
        "found": [followed_data(each, pages.get(each.name)) for each in found],
    }


def followed_data(found: Followed, pages: Pages = None) -> dict[str, Any]:
    """One campaign, fleet or gang as plain data."""
    record = asdict(found)
    record["sums"] = [
        {
            "queue": each.capacity.queue,
            "resource": each.capacity.resource,
            "asked": amount_text(each.asked, each.capacity.resource),
            "never_fits": each.capacity.never_fits(each.asked),
            "words": each.words,
        }
        for each in found.sums
    ]
    record["counts"]["waiting"] = found.counts.waiting
    if pages is not None:
        keys = ("pages_done", "pages_failed", "pages_total", "rate", "expected_end")
        record["pages"] = {key: getattr(pages, key) for key in keys}
    return record
