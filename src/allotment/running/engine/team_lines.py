"""What an engine says of itself on its machine's board, as plain values and back.

The plain form is JSON that another user may have written: what is not right in it makes the whole no word of
an engine's, and is never an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from allotment.devices.board import Notice
from allotment.devices.claim_lines import claim_from
from allotment.devices.claims import ClaimSpec
from allotment.devices.slices import DeviceId
from allotment.errors import AllotmentError
from allotment.repository.model import Window
from allotment.scheduling.local import (
    CampaignQueue,
    FleetQueue,
    GangQueue,
    Holding,
    Queue,
    Replica,
    TeamQueue,
)

FORMAT: Final = 1
MOST: Final = 10_000
MOST_SAID: Final = 300
LONGEST: Final = 300
NAMELESS: Final = -1


@dataclass(frozen=True, slots=True)
class Unit:
    """One worker with what it holds, and the word by which the ledger knows it beside its campaign's name."""

    holding: Holding
    label: str


@dataclass(frozen=True, slots=True)
class Said:
    """What one engine says."""

    engine: str
    pid: int
    team: TeamQueue
    several: bool
    at: float
    asks: tuple[Queue, ...] = ()
    units: tuple[Unit, ...] = ()


def plain(said: Said) -> dict[str, Any]:
    """What an engine says, for JSON."""
    team = said.team
    return {
        "format": FORMAT,
        "pid": said.pid,
        "team": {"name": team.name, "quota": team.quota, "weight": team.weight, "limit": team.limit},
        "several": said.several,
        "at": round(said.at, 3),
        "asks": [_plain_ask(queue) for queue in _first(said.asks)],
        "units": [_plain_unit(unit) for unit in said.units],
    }


def _first(asks: Iterable[Queue]) -> list[Queue]:
    """What is asked for, of very many those that come first: more than a machine has nobody needs to know."""
    some = [queue for queue in asks if not _is_nothing(queue)]
    if len(some) <= MOST_SAID:
        return some
    return sorted(some, key=lambda queue: (-queue.lane_value, getattr(queue, "running", 0), queue.arrival))[
        :MOST_SAID
    ]


def _is_nothing(queue: Queue) -> bool:
    if isinstance(queue, GangQueue):
        return not queue.workers
    return not queue.ready and not (isinstance(queue, FleetQueue) and queue.paused)


def _plain_ask(queue: Queue) -> dict[str, Any]:
    common = {
        "name": queue.name,
        "lane": queue.lane_value,
        "arrival": queue.arrival,
        "claim": queue.claim.to_dict(),
        "memory": queue.memory_bytes,
    }
    if isinstance(queue, CampaignQueue):
        own: dict[str, Any] = {
            "kind": "campaign",
            "max": queue.window.max,
            "running": queue.running,
            "ready": len(queue.ready),
            "shared": queue.shared,
            "lends": queue.lends,
        }
    elif isinstance(queue, FleetQueue):
        own = {
            "kind": "fleet",
            "min": queue.min,
            "max": queue.max,
            "ready": len(queue.ready),
            "up": queue.standing - queue.paused,
            "paused": queue.paused,
            "lends": queue.preemptible,
        }
    else:
        own = {"kind": "gang", "min": queue.min, "workers": queue.workers}
    return {**common, **own}


def _plain_unit(unit: Unit) -> dict[str, Any]:
    holding = unit.holding
    whole = [[*device] for device in holding.devices]
    return {
        "name": holding.name,
        "number": holding.number,
        "label": unit.label,
        "devices": whole,
        "shares": [[*device, amount] for device, amount in holding.shares],
        "memory": holding.memory_bytes,
        "since": round(holding.since, 3),
        "keeps_until": round(holding.keeps_until, 3),
        "ending": holding.ending,
        "lends": holding.lends,
        "passes": holding.passes,
        "lane": holding.lane_value,
        "replica": holding.replica,
    }


def said_by(notice: Notice) -> Said | None:
    """What a notice says; None for what is not of this format."""
    said = notice.said
    try:
        if said["format"] != FORMAT:
            return None
        team = said["team"]
        queue = TeamQueue(
            _text(team["name"]), _bound(team["quota"]), _number(team["weight"]), _bound(team["limit"])
        )
        asks = [_ask(each) for each in said["asks"][:MOST]]
        units = [_unit(each, notice.engine, queue.name) for each in said["units"][:MOST]]
        return Said(
            notice.engine,
            int(_number(said["pid"])),
            queue,
            said["several"] is True,
            float(said["at"]),
            tuple(asks),
            tuple(units),
        )
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AllotmentError):
        return None


def _ask(said: Mapping[str, Any]) -> Queue:
    name, lane, arrival = _text(said["name"]), int(said["lane"]), int(said["arrival"])
    claim, memory = _claim(json.dumps(said["claim"])), int(_number(said["memory"]))
    kind = said["kind"]
    if kind == "gang":
        return GangQueue(name, lane, arrival, _count(said["workers"]), _count(said["min"]), claim, memory)
    ready, most, lends = range(_count(said["ready"])), _count(said["max"]), said["lends"] is True
    if kind == "campaign":
        running, shared = _count(said["running"]), said["shared"] is True
        return CampaignQueue(
            name, lane, arrival, Window(1, max(1, most)), running, ready, claim, memory, shared, lends
        )
    up = tuple(Replica(NAMELESS, ()) for _ in range(_count(said["up"])))
    least, paused = _count(said["min"]), _count(said["paused"])
    return FleetQueue(name, lane, arrival, least, most, up, ready, claim, memory, paused, lends)


@lru_cache(maxsize=256)
def _claim(text: str) -> ClaimSpec:
    return claim_from(json.loads(text))


def _unit(said: Mapping[str, Any], engine: str, team: str) -> Unit:
    devices = tuple(DeviceId(*map(_text, each)) for each in said["devices"])
    shares = tuple((DeviceId(*map(_text, each[:3])), int(_number(each[3]))) for each in said["shares"])
    holding = Holding(
        engine,
        team,
        _text(said["name"]),
        int(said["number"]),
        devices,
        shares,
        int(_number(said["memory"])),
        float(said["since"]),
        float(said["keeps_until"]),
        said["ending"] is True,
        said["lends"] is True,
        said["passes"] is True,
        int(said["lane"]),
        said["replica"] is True,
    )
    return Unit(holding, _text(said["label"]))


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > LONGEST or not value.isprintable():
        raise ValueError("not a text")
    return value


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e18:
        raise ValueError("not a number")
    return value


def _bound(value: object) -> float | None:
    return None if value is None else _number(value)


def _count(value: object) -> int:
    return min(MOST, int(_number(value)))
