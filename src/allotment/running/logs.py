"""Logs of workers and engines: plain lines for people, or with ``ALLOT_LOG=json`` one JSON object a line.

Every line of JSON has the time, the level, the message, and one ``id``, ``team/campaign/volume``, by which
the lines of a campaign or a volume are found among those of many; its parts stand beside it.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

from allotment.events.event import Event, format_time
from allotment.running.masking import Mask

FORM = "ALLOT_LOG"
JSON, TEXT = "json", "text"
TIME = "%Y-%m-%d %H:%M:%S"


@dataclass(slots=True)
class Where:
    """What this process is at work on; a worker has one volume at a time."""

    team: str = ""
    campaign: str = ""
    volume: str | None = None


where = Where()


def unknown_form(environ: Mapping[str, str]) -> str:
    """What the variable says, when it means nothing."""
    said = environ.get(FORM, "").strip()
    return said if said.lower() not in {"", TEXT, JSON} else ""


def wants_json(environ: Mapping[str, str]) -> bool:
    """Whether logs are to be JSON lines."""
    return environ.get(FORM, "").strip().lower() == JSON


def json_line(
    moment: float, level: str, message: str, about: Where, more: Mapping[str, Any] | None = None
) -> str:
    """One line of a structured log, without its end."""
    parts = {"team": about.team, "campaign": about.campaign, "volume": about.volume}
    said = {key: part for key, part in parts.items() if part}
    record = {"time": format_time(moment), "level": level, "message": message}
    name = {"id": "/".join(said.values())} if said else {}
    return json.dumps({**record, **name, **said, **(more or {})}, ensure_ascii=False, default=str)


def event_line(event: Event, message: str) -> str:
    """An event as a line of a structured log."""
    level = {"volume.failed": "error", "page.failed": "warning", "warning": "warning"}.get(event.kind, "info")
    page = {"page": event.page} if event.page is not None else {}
    about = Where(event.team, event.campaign, event.volume)
    return json_line(event.time, level, message, about, {"kind": event.kind, **page, "data": event.data})


class Lines(logging.Formatter):
    """One line for one message, whatever is in it; a traceback keeps its lines."""

    def __init__(self, mask: Mask = str) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", TIME)
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        """The message, masked."""
        return self._mask(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name that logging calls
        """The message with its line breaks shown."""
        record.message = record.message.replace("\r", "\\r").replace("\n", "\\n")
        record.levelname = record.levelname.lower()
        return super().formatMessage(record)


class JsonLines(logging.Formatter):
    """One JSON object for one message, its traceback in it."""

    def __init__(self, about: Where, mask: Mask = str) -> None:
        super().__init__()
        self._about = about
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        """The message as JSON; texts are masked before they are escaped."""
        more: dict[str, Any] = {"logger": record.name}
        if record.exc_info:
            more["traceback"] = self._mask(self.formatException(record.exc_info))
        message = self._mask(record.getMessage())
        return json_line(record.created, record.levelname.lower(), message, self._about, more)


def log_to(
    stream: IO[str], environ: Mapping[str, str], mask: Mask = str, *, ours: int = logging.INFO
) -> None:
    """Log to a stream: our own messages from the level ``ours`` on, those of libraries from `warning` on."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines(where, mask) if wants_json(environ) else Lines(mask))
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("allotment").setLevel(ours)


def begin_log(environ: Mapping[str, str], team: str, campaign: str, mask: Mask) -> None:
    """Begin a worker's log on standard error."""
    where.team, where.campaign, where.volume = team, campaign, None
    log_to(sys.stderr, environ, mask)
