"""Events in the bucket: small create-only objects of lines, which any reader can put together again.

Many writers may log one campaign (engines, pods), each under a name of its own that nobody else ever had, so
that no two ever want one key. Events are notices: a log that cannot be written is said once, and the work
goes on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from allotment.buckets.bucket import Bucket, KeyExists, KeyMissing, ObjectRefused
from allotment.buckets.keys import events_object, events_prefix
from allotment.errors import WorldError
from allotment.events.event import Event, parse_lines

FLUSH_SECONDS = 10.0
FLUSH_EVENTS = 1000
MOST_BYTES = 64 * 1024 * 1024

log = logging.getLogger(__name__)


class BucketSink:
    """Collects events and writes them in batches: after so many seconds or events, and on `flush`."""

    def __init__(
        self,
        bucket: Bucket,
        team: str,
        campaign: str,
        writer: str,
        clock: Callable[[], float],
        *,
        every: float = FLUSH_SECONDS,
    ) -> None:
        self._bucket = bucket
        self._place = (team, campaign, writer)
        self._clock = clock
        self._every = every
        self._number = 0
        self._lines: list[str] = []
        self._since = clock()
        self._complained = False

    def emit(self, event: Event) -> None:
        """Take one event, and write the batch when it is time."""
        self._lines.append(event.to_line())
        if len(self._lines) >= FLUSH_EVENTS or self._clock() - self._since >= self._every:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting; what the bucket does not take now waits for the next time, up to a limit."""
        self._since = self._clock()
        if not self._lines:
            return
        data = ("\n".join(self._lines) + "\n").encode(errors="replace")
        try:
            self._bucket.create(events_object(*self._place, self._number), data)
        except KeyExists:
            # An earlier try took place though its answer was lost; at worst these events come twice.
            self._number += 1
            return
        except WorldError as error:
            if not self._complained:
                log.warning("events cannot be written: %s", error)
                self._complained = True
            del self._lines[: -10 * FLUSH_EVENTS]
            return
        self._number += 1
        self._lines.clear()


def read_events(bucket: Bucket, team: str, campaign: str) -> list[Event]:
    """Every event of a campaign by every writer, in order of time."""
    events = [event for data in _objects(bucket, team, campaign) for event in parse_lines(data.splitlines())]
    return sorted(events, key=lambda event: event.time)


def _objects(bucket: Bucket, team: str, campaign: str) -> Iterator[bytes]:
    for key in sorted(entry.key for entry in bucket.list(events_prefix(team, campaign))):
        try:
            yield bucket.read(key, MOST_BYTES)
        except (KeyMissing, ObjectRefused):
            continue
