"""What `allot run` prints with ``ALLOT_LOG=json``: every event as one JSON object, for programs to read."""

from __future__ import annotations

from typing import Self, TextIO

from allotment.cli.watching import ENDING, notice
from allotment.events.event import Event
from allotment.running.engine.engine import Engine
from allotment.running.logs import Where, event_line, json_line


class JsonEvents:
    """Prints a line for every event, pages included."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._ending = ""
        self._waits: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is kept open."""

    def event(self, event: Event) -> None:
        """Print it."""
        self._print(event_line(event, notice(event) or event.kind))

    def turn(self, engine: Engine) -> None:
        """Say once why somebody waits, and that it ends."""
        now = engine.filler.wall()
        if engine.ending and engine.ending != self._ending:
            self._ending = engine.ending
            self._print(json_line(now, "warning", f"{engine.ending}: {ENDING}", Where()))
        waits = engine.snapshot().waits
        for name, message in waits.items():
            if self._waits.get(name) != message:
                self._print(json_line(now, "info", f"{name} waits: {message}", Where(campaign=name)))
        self._waits = dict(waits)

    def _print(self, line: str) -> None:
        print(line, file=self._output, flush=True)
