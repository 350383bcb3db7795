"""What somebody wants of a running engine: `allot stop`, and a campaign's file that has changed.

Files are looked at every second or so. A changed window, lane or ``suspend`` holds from then on; a file
that has become wrong changes nothing, nor does any while the platform's file is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from allotment.errors import AllotmentError
from allotment.repository.model import Window

LOOK_SECONDS = 0.5

Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Settings:
    """What of a campaign's file may change while it runs."""

    window: Window
    lane: str
    lane_value: int
    suspended: bool
    lends: bool = True


@dataclass(slots=True)
class Requests:
    """Looks for requests, and tells those who asked.

    ``stopped`` is called with a campaign that has stopped, ``over`` with one of which nothing more will come;
    ``reread`` gives a campaign's settings as its file says them now, or None; it may raise AllotmentError.
    """

    stops: Callable[[], frozenset[str]]
    stopped: Callable[[str], None]
    files: Mapping[str, Path]
    reread: Callable[[str], Settings | None]
    over: Callable[[str], None] = lambda _campaign: None
    _stamps: dict[str, Stamp | None] = field(init=False)
    _next_stops: float = 0.0
    _next_files: float = 0.0

    def __post_init__(self) -> None:
        self._stamps = {campaign: _stamp(path) for campaign, path in self.files.items()}

    def to_stop(self, now: float) -> frozenset[str]:
        """Campaigns that somebody asked to stop; looked for twice a second."""
        if now < self._next_stops:
            return frozenset()
        self._next_stops = now + LOOK_SECONDS
        return self.stops()

    def changes(self, now: float) -> dict[str, Settings]:
        """Settings of the campaigns whose files have changed since the last look."""
        if now < self._next_files:
            return {}
        self._next_files = now + LOOK_SECONDS
        changed = {}
        for campaign, path in self.files.items():
            stamp = _stamp(path)
            if stamp is None or stamp == self._stamps[campaign]:
                continue
            try:
                settings = self.reread(campaign)
            except AllotmentError:  # of the platform's file, say: it is read again once that is right
                continue
            self._stamps[campaign] = stamp
            if settings is not None:
                changed[campaign] = settings
        return changed


def _stamp(path: Path) -> Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size)
