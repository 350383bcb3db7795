"""One event: what happened to a campaign, a volume or a page, and when; one line of JSON.

Time is Unix seconds as the writer's clock had it, passed in, and RFC 3339 in UTC with milliseconds on the
line, so that a person can read it. ``data`` is free but flat and small: an event is a notice, never a result.
A reader skips kinds and keys that it does not know, so that old readers can read new events, and lines that
are no events, since steps are foreign code that can write into any file that their worker has open.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

FORMAT_VERSION = 1
LONGEST_LINE = 1 << 20

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode

KINDS: Mapping[str, str] = {
    "campaign.started": "an engine took the campaign up; data: volumes, window",
    "campaign.waiting": "nothing of it runs, and nothing can be started now; data: message",
    "campaign.share": "what it holds, and how its team stands among others on the machine; data: held, "
    "team_held, team_asked, fair, quota, limit, weight, total, unit",
    "campaign.suspended": "it holds until its file says `suspend: false`",
    "campaign.stopped": "somebody stopped it, or its first volumes all failed alike; data: reason, message",
    "campaign.finished": "every volume is complete or failed; data: complete, failed",
    "engine.started": "an engine began; data: id, pid, host",
    "engine.ended": "an engine ended; data: id",
    "volume.started": "a worker began a volume; data: attempt, pages_total, pages_done, devices, host, pid",
    "volume.completed": "its manifest is written; data: pages_total, pages_done, pages_failed, seconds",
    "volume.failed": "it failed for good, until `allot retry`; data: reason, message, attempt",
    "volume.retrying": "it will be tried again; data: reason, message, attempt, failures, retries, next_try",
    "volume.reclaimed": "its worker was ended from outside; what is done stays done; data: attempt, message, "
    "and where it was for another team: whom",
    "volume.held": "somebody else runs it; data: message, holder",
    "model.loaded": "the worker's steps are loaded; data: seconds",
    "page.done": "a page's record is in the bucket; data: seconds, wait_seconds, pages_done, pages_total",
    "page.failed": "a page failed; data: reason, message, permanent",
    "prepare.started": "its `prepare` began, or what it made is fetched; data: pid",
    "prepare.completed": "what `prepare` made is in the bucket and on this machine; data: seconds",
    "prepare.held": "somebody else prepares it; data: message",
    "prepare.retrying": "it failed and will be tried again; data: reason, message, attempt",
    "prepare.failed": "it failed for good; data: reason, message",
    "fleet.started": "an engine keeps it up from now on; data: replicas",
    "fleet.stopped": "it is ended; data: message",
    "gang.started": "all of its workers were started; data: size",
    "gang.completed": "all of its workers ended well; data: size",
    "gang.failed": "one of its workers failed, and all were ended; data: reason, message",
    "gang.stopped": "it was ended from outside; data: message",
    "replica.started": "a process of a fleet or gang began; data: rank, devices, pid",
    "replica.given-back": "it was told to end, for a higher lane or another team; data: rank, whom, message",
    "replica.ended": "it ended; data: rank, reason, message, seconds, and of one to be started again: pause",
    "warning": "something that a person should know, and that stopped nothing; data: reason, message",
}
"""Every kind of event, what it means, and which data it carries."""


@dataclass(frozen=True, slots=True)
class Event:
    """What happened (``kind``, one of ``KINDS``), when (Unix seconds), and to what."""

    kind: str
    time: float
    team: str
    campaign: str
    volume: str | None = None
    page: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    def to_line(self) -> str:
        """The event as one line of JSON, without the line's end; absent parts are left out."""
        record: dict[str, Any] = {
            "format_version": FORMAT_VERSION,
            "time": format_time(self.time),
            "kind": self.kind,
            "team": self.team,
            "campaign": self.campaign,
        }
        if self.volume is not None:
            record["volume"] = self.volume
        if self.page is not None:
            record["page"] = self.page
        if self.data:
            record["data"] = self.data
        return _encode(record)


def parse_line(line: str | bytes) -> Event | None:
    """The event on a line, or None for what is no event of a format that this version reads."""
    if len(line) > LONGEST_LINE:
        return None
    try:
        record = json.loads(line)
        if record["format_version"] != FORMAT_VERSION:
            return None
        return Event(
            kind=_text(record["kind"]),
            time=parse_time(record["time"]),
            team=_text(record["team"]),
            campaign=_text(record["campaign"]),
            volume=_optional_text(record.get("volume")),
            page=_optional_text(record.get("page")),
            data=_mapping(record.get("data", {})),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def parse_lines(lines: Iterable[str | bytes]) -> Iterator[Event]:
    """The events of many lines, in their order; what cannot be read is skipped."""
    for line in lines:
        event = parse_line(line)
        if event is not None:
            yield event


def format_time(seconds: float) -> str:
    """Unix seconds as RFC 3339 in UTC with milliseconds: ``2026-01-02T03:04:05.678Z``."""
    whole, milliseconds = divmod(round(seconds * 1000), 1000)
    return f"{_format_second(whole)}.{milliseconds:03d}Z"


@lru_cache(maxsize=16)
def _format_second(seconds: int) -> str:
    """A whole second; many events fall into one."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


def parse_time(text: str) -> float:
    """Unix seconds of an RFC 3339 time with a zone."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} names no zone")
    return moment.timestamp()


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _optional_text(value: object) -> str | None:
    return None if value is None else _text(value)


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("not a mapping")
    return value
