"""What `allot run` prints with ``ALLOT_LOG=json``: every event as one JSON object, for programs to read."""

from __future__ import annotations

from allotment.cli.watching.display import Text
from allotment.cli.watching.notices import notice
from allotment.cli.watching.plain import ENDING
from allotment.errors import AllotmentError, Finding, FindingsError
from allotment.events.event import KINDS, Event
from allotment.running.engine.snapshot import Snapshot
from allotment.running.logs import Where, event_line, json_line


def finding_json(finding: Finding, moment: float) -> str:
    """A finding as a line like those of events."""
    data = {"rule": finding.rule, "file": finding.position.file, "line": finding.position.line}
    message = f"{finding.position} {finding.message}" + (f" ({finding.hint})" if finding.hint else "")
    return json_line(moment, str(finding.severity), message, Where(), {"kind": "finding", "data": data})


def error_json(error: AllotmentError, moment: float) -> list[str]:
    """An error as lines like those of events: its findings, or its message."""
    if isinstance(error, FindingsError):
        return [finding_json(finding, moment) for finding in error.findings]
    return [json_line(moment, "error", " ".join(str(error).split()), Where(), {"kind": "error"})]


def _meaning(event: Event) -> str:
    """An event that nobody is shown as a line, in words."""
    name = "/".join(part for part in (event.campaign, event.volume, event.page) if part)
    return f"{name}: {KINDS.get(event.kind, event.kind).partition('; data')[0]}"


class JsonEvents:
    """Prints a line for every event, pages included."""

    def __init__(self, output: Text) -> None:
        self._output = output
        self._now = 0.0
        self._ending = ""
        self._waits: dict[str, str] = {}

    def begin(self) -> None:
        """Nothing comes before the first line."""

    def end(self) -> None:
        """Nothing comes after the last line."""

    def event(self, event: Event) -> None:
        """Print it; that somebody waits comes with `show`."""
        if event.kind != "campaign.waiting":
            self._print(event_line(event, notice(event) or _meaning(event)))

    def show(self, shown: Snapshot) -> None:
        """Say once why somebody waits, and that it ends."""
        self._now = shown.now
        if shown.ending and shown.ending != self._ending:
            self._ending = shown.ending
            self._print(json_line(shown.now, "warning", f"{shown.ending}: {ENDING}", Where()))
        for name, message in shown.waits.items():
            if self._waits.get(name) != message:
                self._print(json_line(shown.now, "info", f"{name} waits: {message}", Where(campaign=name)))
        self._waits = dict(shown.waits)

    def left_out(self, count: int) -> None:
        """Say that lines are missing."""
        message = f"{count} events left out, they came faster than they were read"
        self._print(json_line(self._now, "warning", message, Where()))

    def _print(self, line: str) -> None:
        self._output.write(f"{line}\n")
