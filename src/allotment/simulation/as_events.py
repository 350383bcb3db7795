"""What a simulation came to as events, in the one format that engines and clusters tell of their work in.

So whatever reads events reads a simulation too. A pod's start is its volume's, with the attempt and the node;
of a gang and a fleet it is a replica's. A simulation has no date: when it begins is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from allotment.events.event import Event
from allotment.simulation.outcome import End, Outcome, Span, WorkEnd
from allotment.simulation.work import Kind, Work

_VOLUME: Final = {
    End.COMPLETE: "volume.completed",
    End.FAILED: "volume.failed",
    End.RECLAIMED: "volume.reclaimed",
    End.NODE_LOST: "volume.reclaimed",
    End.SHRUNK: "volume.reclaimed",
}


def events_of(outcome: Outcome, works: Iterable[Work], since: float = 0.0) -> list[Event]:
    """All events in the order of their times; ``since`` (Unix seconds) is when the simulation begins."""
    by_name = {work.name: work for work in works}
    found = [
        event
        for span in outcome.spans
        if span.work in by_name
        for event in _of_span(span, by_name[span.work], since)
    ]
    found += [event for end in outcome.ends for event in _of_work(end, by_name[end.work], since)]
    found += [
        Event("campaign.waiting", since + wait.since, by_name[wait.work].team, wait.work,
              data={"message": wait.message})
        for wait in outcome.waits
        if wait.work in by_name
    ]  # fmt: skip
    return sorted(found, key=lambda event: event.time)


def _of_span(span: Span, work: Work, since: float) -> Iterator[Event]:
    def event(kind: str, at: float, data: Mapping[str, Any], volume: str | None = None) -> Event:
        return Event(kind, since + at, span.team, span.work, volume, data=data)

    devices = {"devices": list(span.devices)} if span.devices else {}
    attempt = {"attempt": span.attempt + 1}
    if work.kind is not Kind.CAMPAIGN:
        rank: dict[str, Any] = {"rank": span.index}
        yield event("replica.started", span.bound, rank | devices | {"host": span.node})
        if span.end is not End.RUNNING:
            seconds = round(span.ended - span.bound, 3)
            yield event("replica.ended", span.ended, rank | {"reason": span.end, "seconds": seconds})
        return
    volume = _volume(work, span.index)
    yield event("volume.started", span.bound, {**attempt, **devices, "host": span.node}, volume)
    kind = _VOLUME.get(span.end)
    if kind is not None:
        yield event(kind, span.ended, {**attempt, **_said(span)}, volume)


def _said(span: Span) -> Mapping[str, Any]:
    if span.end is End.COMPLETE:
        return {"pages_done": span.pages, "seconds": round(span.ended - span.bound, 3)}
    if span.end is End.FAILED:
        return {"reason": "failed"}
    return {"message": f"for {span.by}"} if span.by else {}


def _volume(work: Work, index: int) -> str:
    units: Sequence[Any] = work.units
    place = index * work.pack
    return str(units[place].name) if place < len(units) else str(index)


def _of_work(end: WorkEnd, work: Work, since: float) -> Iterator[Event]:
    prefix = str(work.kind)
    if end.started is not None:
        started: Mapping[Kind, Mapping[str, Any]] = {
            Kind.CAMPAIGN: {"volumes": len(work.units), "window": work.most},
            Kind.FLEET: {"replicas": work.most},
            Kind.GANG: {"size": work.most},
        }
        yield Event(f"{prefix}.started", since + end.started, work.team, work.name, data=started[work.kind])
    if end.finished is None:
        return
    over: Mapping[Kind, tuple[str, Mapping[str, Any]]] = {
        Kind.CAMPAIGN: ("campaign.finished", {"complete": end.complete, "failed": end.failed}),
        Kind.FLEET: ("fleet.stopped", {}),
        Kind.GANG: ("gang.failed" if end.failed else "gang.completed", {"size": work.most}),
    }
    kind, data = over[work.kind]
    yield Event(kind, since + end.finished, work.team, work.name, data=data)
