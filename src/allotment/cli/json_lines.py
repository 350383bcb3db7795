"""What `allot run` prints with ``ALLOT_LOG=json``: every event as one JSON object, for programs to read."""

from __future__ import annotations

from allotment.cli.display import Text
from allotment.cli.watching import ENDING, notice
from allotment.events.event import Event
from allotment.running.engine.snapshot import Snapshot
from allotment.running.logs import Where, event_line, json_line


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
        """Print it."""
        self._print(event_line(event, notice(event) or event.kind))

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
