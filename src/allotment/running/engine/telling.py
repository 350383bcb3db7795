"""What an engine tells: each event into its campaign's log and to who looks on, shares only as they change.

Logs are written a second apart rather than an event at a time, because each writing may be an object in a
store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from allotment.events.event import Event
from allotment.running.engine.snapshot import Log, Watcher
from allotment.running.engine.team_shares import Shown

FLUSH_SECONDS = 1.0
STILL_SECONDS = 300.0


@dataclass(slots=True)
class Telling:
    """The logs by the name of a campaign, fleet or gang, and who looks on."""

    logs: Mapping[str, Log]
    watcher: Watcher
    _flushed: float = 0.0
    _shares: dict[str, tuple[float, Shown]] = field(default_factory=dict)

    def event(self, name: str, event: Event) -> None:
        """Tell of something that happened to one of them."""
        self.logs[name].emit(event)
        self.watcher.event(event)

    def news(self, shares: Mapping[str, Shown], now: float) -> Iterator[tuple[str, Shown]]:
        """How the team stands among others, where that has changed since it was told, or was told long ago:
        of an engine that was killed no end is ever told."""
        for name, data in shares.items():
            when, told = self._shares.get(name, (now, None))
            if told != data or now >= when + STILL_SECONDS:
                self._shares[name] = now, data
                yield name, data

    def flush(self) -> None:
        """Write what was told."""
        for log in self.logs.values():
            log.flush()

    def flush_now_and_then(self, now: float) -> None:
        """Write what was told, if that is a while ago."""
        if now >= self._flushed + FLUSH_SECONDS:
            self._flushed = now
            self.flush()
