"""What a campaign would meet on a cluster that is only described, for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from allotment.cli.described import AskedAbout
from allotment.cli.forms.outlook import next_lines, said_data
from allotment.cli.shared import safe
from allotment.pictures.counts import counted
from allotment.planning.outlook.kueue_asked import next_of_unsent
from allotment.planning.outlook.values import NOTHING_SAID, Said
from allotment.planning.queues import Share
from allotment.planning.scenes.sent import Sent
from allotment.planning.why.why import Why

PLACERS: Final = {"default": "the default scheduler", "kai": "KAI", "both": "KAI, after Kueue,"}


def described_lines(about: AskedAbout, told: Why | None = None) -> Iterator[str]:
    """Its quota, beside what was ``told`` of devices, and what those who decide would do if it were sent."""
    yield from quota_lines(about.share(), told)
    said = _kueue(about)
    if said.outlooks:
        yield ""
        yield from next_lines(said)
    placed = _placed(about)
    if placed is not None:
        yield ""
        yield f"  what {PLACERS[about.cluster.platform.scheduler]} would do if it were sent (a model):"
        yield from (f"    {safe(line)}" for line in _sentences(placed))


def quota_lines(share: Share | None, told: Why | None) -> Iterator[str]:
    """The sum of a queue, and how many of the pods that fit it lets run; nothing where there is none."""
    if share is not None and share.sum:
        yield ""
        yield f"  the quota of {safe(share.queue)}: {safe(share.sum)}"
        if told is not None and (words := _within(share, told)):
            yield f"  {words}"


def _within(share: Share, told: Why) -> str:
    """How many of the pods that fit the quota lets run at once; nothing where it lets all of them."""
    if share.free is None or told.pods is None or not told.devices:
        return ""
    allowed = math.floor(share.free / told.devices)
    if allowed >= told.pods:
        return ""
    return f"of the {counted(told.pods, 'pod')} that fit at once it lets {allowed:,} run"


def described_data(about: AskedAbout) -> dict[str, Any] | None:
    """The same for programs."""
    said = _kueue(about)
    found = (said_data([said]) or {}) if said.outlooks or said.notes else {}
    placed = _placed(about)
    if placed is not None:
        found["placed"] = {
            "started": placed.started,
            "wanted": placed.wanted,
            "nodes": list(placed.nodes),
            "reason": placed.reason,
            "message": placed.message,
            "never": placed.never,
        }
    return found or None


def _kueue(about: AskedAbout) -> Said:
    """What Kueue decides, where it does."""
    if about.cluster.platform.scheduler not in {"kueue", "both"}:
        return NOTHING_SAID
    opened = about.opened
    said = next_of_unsent(about.cluster.snapshot, about.name, opened.repository, opened.platform, opened.team)
    return replace(said, version=said.model, notes=())  # it has what the platform's file says


def _placed(about: AskedAbout) -> Sent | None:
    return about.placed() if about.cluster.platform.scheduler in PLACERS else None


def _sentences(placed: Sent) -> Iterator[str]:
    if not placed.waits:
        yield f"it starts {'its only pod' if placed.wanted == 1 else f'all {placed.wanted:,} pods'} at once"
    elif placed.started:
        yield f"it starts {placed.started:,} of {placed.wanted:,} pods at once, and the others wait"
    else:
        yield f"it starts none of {counted(placed.wanted, 'pod')}"
    if placed.waits and (told := placed.message or placed.reason):
        yield told
    yield from placed.notes
