"""The shares of a machine's teams over time, as text, for programs, and as a page."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from allotment.buckets.bucket import Bucket
from allotment.buckets.event_log import read_events
from allotment.buckets.opening import open_interruptible
from allotment.cli.json_text import json_text
from allotment.cli.pictures import sparkline
from allotment.cli.shared import safe
from allotment.cli.words import span
from allotment.errors import UsageError, did_you_mean
from allotment.events.event import Event
from allotment.pictures.counts import counted
from allotment.pictures.over_time import QueueOverTime, SharesOverTime, Steps
from allotment.planning.shares_over_time import mean, shares_over_time
from allotment.platform.find import find_platform
from allotment.quantities import QuantityError, parse_duration

FORMAT_VERSION: Final = 1
COLUMNS: Final = 40


def shares_text(option: Path | None, over: str, names: Sequence[str], form: str) -> str:
    """How the teams of the platform's file stood over the last while, in a form."""
    try:
        seconds = parse_duration(over)
    except QuantityError as error:
        raise UsageError(f"--over-time: {error.message}", remedy=error.hint) from None
    platform, origin = find_platform(Path(), option=option, environ=os.environ)
    if platform.engine != "local":
        raise UsageError(
            "shares over time are told by engines of a machine, and this platform is a cluster's",
            where=origin,
            remedy="its scheduler keeps the metrics of a cluster's queues",
        )
    for name in names:
        if name not in platform.teams:
            hint = did_you_mean(name, platform.teams)
            raise UsageError(f"there is no queue `{name}`", where=origin, remedy=hint)
    base = Path(origin).resolve().parent if Path(origin).is_file() else Path().resolve()
    bucket = open_interruptible(platform.bucket, base, create=False, options=platform.bucket_options)
    events = {team: _events(bucket, team) for team in platform.teams if not names or team in names}
    now = time.time()
    value = shares_over_time("this machine", events, since=now - seconds, until=now)
    if form == "json":
        return json_text(_data(value))
    if form == "html":
        from allotment.cli.pages.shares import shares_page

        return shares_page(value)
    return "\n".join(_lines(value, over))


def _events(bucket: Bucket, team: str) -> list[Event]:
    """All that the team's engines told."""
    prefix = f"{team}/events/"
    names = {entry.key.removeprefix(prefix).partition("/")[0] for entry in bucket.list(prefix)}
    return [event for name in sorted(names) for event in read_events(bucket, team, name)]


def _lines(value: SharesOverTime, over: str) -> Iterator[str]:
    if not value.queues:
        yield f"{safe(value.name)}: no team has shared it with others in the last {safe(over)}"
        return
    whole = f" of {value.total:g} {value.unit}" if value.total else f" {value.unit}"
    yield f"{safe(value.name)}: {counted(len(value.queues), 'team')} over {span(value.until)},{whole}"
    widest = max(len(safe(queue.name)) for queue in value.queues)
    for queue in value.queues:
        picture = sparkline(_columns(queue.allocated, value.until), COLUMNS, value.total)
        taken = sum(each.amount for each in value.reclaims if each.queue == queue.name)
        words = f"{mean(queue.allocated, value.until):.1f} in the mean, its share {_fair(queue, value.until)}"
        words += f", {taken:g} taken back" if taken else ""
        yield f"  {safe(queue.name):<{widest}}  {picture}  {words}"


def _fair(queue: QueueOverTime, until: float) -> str:
    return f"{mean(queue.fair, until):.1f}"


def _columns(steps: Steps, until: float) -> list[float]:
    """The value in the middle of each of equal parts of the time."""
    moments = [(place + 0.5) * until / COLUMNS for place in range(COLUMNS)]
    return [next((value for at, value in reversed(steps) if at <= moment), 0.0) for moment in moments]


def _data(value: SharesOverTime) -> dict[str, Any]:
    def plain(thing: object) -> object:
        return thing.isoformat() if isinstance(thing, datetime) else thing

    return {
        "format_version": FORMAT_VERSION,
        **{key: plain(part) for key, part in asdict(value).items() if key != "is_past"},
    }
