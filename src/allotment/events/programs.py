"""How a fleet or a gang stands, folded from its events: the read model beside that of campaigns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from allotment.events.event import Event


class ProgramState(StrEnum):
    """Where a fleet or a gang stands, as far as its events tell."""

    WAITING = "waiting"
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ProgramView:
    """A fleet or a gang: the devices of each process that is up, by rank; how often one was started again."""

    name: str
    kind: str
    state: ProgramState = ProgramState.WAITING
    least: int | None = None
    most: int | None = None
    up: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    restarts: int = 0
    message: str | None = None
    since: float | None = None


def fold_program(events: Iterable[Event], name: str, kind: str) -> ProgramView:
    """The fleet or gang from its events in order of time."""
    view = ProgramView(name, kind)
    for event in events:
        change = _CHANGES.get(event.kind)
        if change is not None:
            view = replace(view, **change(event, view))
    return view


def _fleet_started(event: Event, _: ProgramView) -> dict[str, Any]:
    replicas = event.data.get("replicas")
    bounds = replicas if isinstance(replicas, dict) else {}
    return {
        "state": ProgramState.RUNNING,
        "least": _number(bounds.get("min")),
        "most": _number(bounds.get("max")),
        "up": {},
        "restarts": 0,
        "message": None,
        "since": event.time,
    }


def _gang_started(event: Event, _: ProgramView) -> dict[str, Any]:
    size = _number(event.data.get("size"))
    begun: dict[str, Any] = {"up": {}, "message": None, "since": event.time}
    return {"state": ProgramState.RUNNING, "least": size, "most": size, **begun}


def _ended(state: ProgramState) -> Callable[[Event, ProgramView], dict[str, Any]]:
    def changes(event: Event, _: ProgramView) -> dict[str, Any]:
        return {"state": state, "up": {}, "message": _text(event.data.get("message")), "since": event.time}

    return changes


def _replica_started(event: Event, view: ProgramView) -> dict[str, Any]:
    rank, devices = _number(event.data.get("rank")), event.data.get("devices")
    named = tuple(str(device) for device in devices) if isinstance(devices, list | tuple) else ()
    return {} if rank is None else {"up": {**view.up, rank: named}, "message": None}


def _replica_ended(event: Event, view: ProgramView) -> dict[str, Any]:
    rank = _number(event.data.get("rank"))
    left = {number: devices for number, devices in view.up.items() if number != rank}
    if "pause" not in event.data:
        return {"up": left}
    return {"up": left, "restarts": view.restarts + 1, "message": _text(event.data.get("message"))}


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


_CHANGES: Mapping[str, Callable[[Event, ProgramView], dict[str, Any]]] = {
    "fleet.started": _fleet_started,
    "fleet.stopped": _ended(ProgramState.STOPPED),
    "gang.started": _gang_started,
    "gang.completed": _ended(ProgramState.COMPLETE),
    "gang.failed": _ended(ProgramState.FAILED),
    "gang.stopped": _ended(ProgramState.STOPPED),
    "replica.started": _replica_started,
    "replica.ended": _replica_ended,
}
