"""Events in the bucket: small create-only objects of lines, which any reader can put together again.

Many writers may log one campaign (engines, pods), each under a name of its own that nobody else ever had, so
that no two ever want one key. Events are notices: a log that cannot be written is said once, and the work
goes on. A campaign of a day comes to a hundred thousand objects, so a writer puts every 32 of them together
in a further one that holds what still matters, and every 32 of those again: a reader takes the widest and
leaves out what it covers, some dozens of objects in all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

from allotment.buckets.bucket import Bucket, KeyExists, KeyMissing, ObjectRefused
from allotment.buckets.keys import events_object, events_prefix, merged_events_object, parse_events_object
from allotment.errors import WorldError, in_one_line
from allotment.events.event import Event, parse_lines

FLUSH_SECONDS = 10.0
FLUSH_EVENTS = 1000
MOST_BYTES = 64 * 1024 * 1024
MERGED = 32
STILL_MATTERS_SECONDS = 180.0
OFTEN = "page.done"

log = logging.getLogger(__name__)


class _Span(NamedTuple):
    """The events of some objects in a row, by their first and last number."""

    first: int
    last: int
    events: tuple[Event, ...]


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
        self._events: list[Event] = []
        self._since = clock()
        self._complained = False
        self._tiers: list[list[_Span]] = []

    def emit(self, event: Event) -> None:
        """Take one event, and write the batch when it is time."""
        self._events.append(event)
        if len(self._events) >= FLUSH_EVENTS or self._clock() - self._since >= self._every:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting; what the bucket does not take now waits for the next time, up to a limit."""
        self._since = self._clock()
        if not self._events:
            return
        try:
            self._bucket.create(events_object(*self._place, self._number), _data(self._events))
        except KeyExists:
            # An earlier try took place though its answer was lost; at worst these events come twice.
            self._wrote(())
            return
        except WorldError as error:
            if not self._complained:
                log.warning("events cannot be written: %s", in_one_line(error))
                self._complained = True
            del self._events[: -10 * FLUSH_EVENTS]
            return
        events = tuple(self._events)
        self._events.clear()
        self._wrote(events)

    def _wrote(self, events: tuple[Event, ...]) -> None:
        """An object is there; put it together with those before it when there are enough."""
        span = _Span(self._number, self._number, events)
        self._number += 1
        for tier in range(len(self._tiers) + 1):
            if tier == len(self._tiers):
                self._tiers.append([])
            spans = self._tiers[tier]
            spans.append(span)
            if len(spans) < MERGED:
                return
            span = _merged(spans)
            spans.clear()
            if not self._write(span):
                return

    def _write(self, span: _Span) -> bool:
        """Write a span as one object; what it is made of stays, and will do as well."""
        key = merged_events_object(*self._place, span.first, span.last)
        try:
            self._bucket.create(key, _data(span.events))
        except KeyExists:
            return True
        except WorldError as error:
            log.info("events were not put together: %s", error)
            return False
        return True


def read_events(bucket: Bucket, team: str, campaign: str) -> list[Event]:
    """The events of a campaign by every writer, in order of time; pages of long ago may be left out."""
    events = [event for data in _objects(bucket, team, campaign) for event in parse_lines(data.splitlines())]
    return sorted(events, key=lambda event: event.time)


def _objects(bucket: Bucket, team: str, campaign: str) -> Iterator[bytes]:
    prefix = events_prefix(team, campaign)
    for key in _widest([entry.key for entry in bucket.list(prefix)], prefix):
        try:
            yield bucket.read(key, MOST_BYTES)
        except (KeyMissing, ObjectRefused):
            continue


def _widest(keys: list[str], prefix: str) -> Iterator[str]:
    """The keys that together hold everything, without those that others cover."""
    parsed = ((parse_events_object(key, prefix), key) for key in keys)
    spans = sorted((span[0], span[1], -span[2], key) for span, key in parsed if span is not None)
    writer, covered = "", -1
    for owner, first, last, key in spans:
        if owner != writer:
            writer, covered = owner, -1
        if first > covered:
            covered = -last
            yield key


def _merged(spans: list[_Span]) -> _Span:
    """Several spans as one, without pages of long ago: of those, each volume's last one says how many."""
    events = [event for span in spans for event in span.events]
    recent = max((event.time for event in events), default=0.0) - STILL_MATTERS_SECONDS
    newest = {event.volume: event for event in events if event.kind == OFTEN}
    kept = (
        event
        for event in events
        if event.kind != OFTEN or event.time >= recent or newest[event.volume] is event
    )
    return _Span(spans[0].first, spans[-1].last, tuple(kept))


def _data(events: list[Event] | tuple[Event, ...]) -> bytes:
    return "".join(f"{event.to_line()}\n" for event in events).encode(errors="replace")
