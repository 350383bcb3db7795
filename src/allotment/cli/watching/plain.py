"""What `allot run` prints while it works where no picture can be drawn: plain lines, for logs and pipes.

They say what a display hands them, and show the same read model that `allot status` shows afterwards.
"""

from __future__ import annotations

from allotment.cli.shared import safe
from allotment.cli.watching.display import Text
from allotment.cli.watching.notices import notice, progress
from allotment.cli.words import clock
from allotment.events.event import Event
from allotment.pictures.counts import counted
from allotment.running.engine.snapshot import Snapshot

PROGRESS_SECONDS = 10.0
ENDING = "the pages in hand are finished first; once more ends at once"


class PlainLines:
    """Lines with the time, for logs and pipes: what happens to volumes, and now and then how far it is."""

    def __init__(self, output: Text) -> None:
        self._output = output
        self._progressed: float | None = None
        self._shown: dict[str, str] = {}
        self._waits: dict[str, str] = {}
        self._ending = ""
        self._now = 0.0

    def begin(self) -> None:
        """Nothing comes before the first line."""

    def end(self) -> None:
        """Nothing comes after the last line."""

    def event(self, event: Event) -> None:
        """Print what is worth a line."""
        line = notice(event)
        if line is not None:
            self._print(event.time, line)

    def show(self, shown: Snapshot) -> None:
        """Print how far it is, every ten seconds, and why somebody waits, once."""
        self._now = shown.now
        if shown.ending and shown.ending != self._ending:
            self._ending = shown.ending
            self._print(shown.now, f"{shown.ending}: {ENDING}")
        if self._progressed is not None and shown.now - self._progressed < PROGRESS_SECONDS:
            return
        first, self._progressed = self._progressed is None, shown.now
        waits = standing_still(shown)
        for name, message in waits.items():
            if self._waits.get(name) != message:
                self._print(shown.now, f"{name} waits: {safe(message)}")
        self._waits = waits
        for view in shown.campaigns:
            line = progress(view, shown.now)
            if not first and self._shown.get(view.name) != line:
                self._print(shown.now, f"{view.name} {line}")
            self._shown[view.name] = line

    def left_out(self, count: int) -> None:
        """Say that lines are missing."""
        self._print(self._now, f"… {counted(count, 'event')} left out, they came faster than they were read")

    def _print(self, moment: float, line: str) -> None:
        self._output.write(f"{clock(moment, moment)} {line}\n")


def standing_still(shown: Snapshot) -> dict[str, str]:
    """Why campaigns wait of which nothing runs; one that runs and would run wider is no news."""
    running = {worker.campaign for worker in shown.workers}
    return {name: message for name, message in shown.waits.items() if name not in running}
