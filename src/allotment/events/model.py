"""The one read model: events in, what a person wants to know of a campaign out.

`status`, the live view of `run` and the pages all read campaigns through these values, whoever wrote the
events: an engine, a runner in a pod, a simulation. Events may be lost on the way (a full pipe drops them) and
may come twice; counts are therefore taken from what an event says of its volume (`pages_done`), not from
how many events came.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from allotment.events.event import Event

RATE_SECONDS = 120.0
RATE_PAGES = 1000
MOST = 1 << 50


class VolumeState(StrEnum):
    """Where a volume stands, as far as its events tell."""

    WAITING = "waiting"
    RUNNING = "running"
    RECLAIMED = "reclaimed"
    RETRYING = "retrying"
    HELD = "held"
    FAILED = "failed"
    COMPLETE = "complete"


class CampaignState(StrEnum):
    """Where a campaign stands, as far as its events tell."""

    WAITING = "waiting"
    RUNNING = "running"
    PREPARING = "preparing"
    SUSPENDED = "suspended"
    STOPPED = "stopped"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class VolumeView:
    """One volume: its pages, its latest attempt, and why it failed, if it did. Times are Unix seconds.

    ``done_at_start`` is how many pages were done when that attempt began, ``done_before`` when the first did.
    """

    id: str
    state: VolumeState = VolumeState.WAITING
    pages_done: int = 0
    pages_failed: int = 0
    pages_total: int | None = None
    attempt: int = 0
    devices: tuple[str, ...] = ()
    reason: str | None = None
    message: str | None = None
    started: float | None = None
    ended: float | None = None
    last: float | None = None
    done_at_start: int = 0
    done_before: int = 0
    next_try: float | None = None

    @property
    def rate(self) -> float | None:
        """Pages per second of the latest attempt, from its start to the latest page."""
        if self.started is None or self.last is None or self.last <= self.started:
            return None
        return (self.pages_done - self.done_at_start) / (self.last - self.started)


@dataclass(frozen=True, slots=True)
class CampaignView:
    """One campaign: its volumes by id, pages per second of late, and when it should end at that rate."""

    name: str
    team: str = ""
    state: CampaignState = CampaignState.WAITING
    volumes: Mapping[str, VolumeView] = field(default_factory=dict)
    volumes_total: int | None = None
    reason: str | None = None
    message: str | None = None
    started: float | None = None
    ended: float | None = None
    last: float | None = None
    rate: float | None = None
    expected_end: float | None = None
    waits: str | None = None

    @property
    def pages_done(self) -> int:
        """Pages with a record, in all volumes."""
        return sum(volume.pages_done for volume in self.volumes.values())

    @property
    def pages_failed(self) -> int:
        """Pages that failed, in all volumes."""
        return sum(volume.pages_failed for volume in self.volumes.values())

    @property
    def pages_total(self) -> int:
        """Pages of the volumes whose pages have been counted."""
        return sum(volume.pages_total or 0 for volume in self.volumes.values())

    def word_of(self, volume: VolumeView) -> str:
        """How a volume stands: where all of it was stopped, nobody has taken back what was told to end."""
        if volume.state is VolumeState.RECLAIMED and self.state is CampaignState.STOPPED:
            return str(self.state)
        return str(volume.state)

    def number(self, state: VolumeState) -> int:
        """How many volumes are in a state; those that no event has named are waiting."""
        known = sum(volume.state is state for volume in self.volumes.values())
        if state is VolumeState.WAITING and self.volumes_total is not None:
            known += max(0, self.volumes_total - len(self.volumes))
        return known


class CampaignReader:
    """Takes the events of one campaign one by one, and shows it as it stands."""

    def __init__(self, name: str) -> None:
        self._campaign = CampaignView(name)
        self._volumes: dict[str, VolumeView] = {}
        self._pages: deque[float] = deque(maxlen=RATE_PAGES)

    def add(self, event: Event) -> None:
        """Take one event; kinds that this version does not know change nothing but the time."""
        campaign = self._campaign
        if event.kind == "campaign.started":
            self._pages.clear()
        if event.kind in _CAMPAIGN:
            campaign = replace(campaign, **_CAMPAIGN[event.kind](event))
        if event.kind in _STARTS:
            campaign = replace(campaign, waits=None)
        latest = event.time if campaign.last is None else max(campaign.last, event.time)
        self._campaign = replace(campaign, team=event.team, last=latest)
        if event.volume is None or event.kind not in _VOLUME:
            return
        before = self._volumes.get(event.volume) or VolumeView(event.volume)
        self._volumes[event.volume] = replace(before, **_VOLUME[event.kind](event, before))
        if event.kind == "page.done":
            self._pages.append(event.time)

    def view(self, now: float | None = None) -> CampaignView:
        """The campaign as it stands; rate and expected end as seen at ``now`` (the latest event's time)."""
        now = self._campaign.last if now is None else now
        if self._campaign.ended is not None:
            now = self._campaign.ended
        rate = self._rate(now)
        shown = replace(self._campaign, volumes=dict(self._volumes), rate=rate)
        left = _pages_left(shown)
        if rate and now is not None and left and shown.state is CampaignState.RUNNING:
            return replace(shown, expected_end=now + left / rate)
        return shown

    def _rate(self, now: float | None) -> float | None:
        if now is None:
            return None
        recent = [time for time in self._pages if now - RATE_SECONDS <= time <= now]
        if len(recent) < 2 or now <= recent[0]:
            return None
        return (len(recent) - 1) / (now - recent[0])


def fold(events: Iterable[Event], *, now: float | None = None) -> CampaignView:
    """One campaign from its events in order of time; events of other campaigns than the first are skipped."""
    reader: CampaignReader | None = None
    name = ""
    for event in events:
        if reader is None:
            name = event.campaign
            reader = CampaignReader(name)
        if event.campaign == name:
            reader.add(event)
    return reader.view(now) if reader is not None else CampaignView("")


def _pages_left(campaign: CampaignView) -> float:
    """Pages still to do; a volume whose pages nobody has counted yet is taken for an average one."""
    open_states = (VolumeState.COMPLETE, VolumeState.FAILED)
    known = [volume.pages_total for volume in campaign.volumes.values() if volume.pages_total is not None]
    average = sum(known) / len(known) if known else 0.0
    left = 0.0
    for volume in campaign.volumes.values():
        if volume.state not in open_states:
            total = average if volume.pages_total is None else volume.pages_total
            left += max(0.0, total - volume.pages_done - volume.pages_failed)
    unseen = (campaign.volumes_total or 0) - len(campaign.volumes)
    return left + max(0, unseen) * average


def _number(event: Event, key: str, default: int) -> int:
    value = event.data.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST:
        return value
    return default


def _moment(event: Event, key: str) -> float | None:
    value = event.data.get(key)
    return float(value) if isinstance(value, int | float) and 0 < value < MOST else None


def _words(event: Event) -> dict[str, Any]:
    reason, message = event.data.get("reason"), event.data.get("message")
    return {
        "reason": reason if isinstance(reason, str) else None,
        "message": message if isinstance(message, str) else None,
    }


def _volume_started(event: Event, before: VolumeView) -> dict[str, Any]:
    done = _number(event, "pages_done", 0)
    devices = event.data.get("devices")
    return {
        "state": VolumeState.RUNNING,
        "attempt": _number(event, "attempt", 0),
        "pages_total": _number(event, "pages_total", 0) if "pages_total" in event.data else None,
        "pages_done": done,
        "pages_failed": _number(event, "pages_failed", 0),
        "done_at_start": done,
        "done_before": done if before.started is None else before.done_before,
        "devices": tuple(str(name) for name in devices) if isinstance(devices, list | tuple) else (),
        "next_try": None,
        "started": event.time,
        "ended": None,
        "last": None,
        "reason": None,
        "message": None,
    }


def _volume_completed(event: Event, before: VolumeView) -> dict[str, Any]:
    return {
        "state": VolumeState.COMPLETE,
        "pages_done": _number(event, "pages_done", before.pages_done),
        "pages_failed": _number(event, "pages_failed", before.pages_failed),
        "pages_total": _number(event, "pages_total", before.pages_total or 0),
        "ended": event.time,
        "devices": (),
        "reason": None,
        "message": None,
    }


def _volume_ended(state: VolumeState) -> Callable[[Event, VolumeView], dict[str, Any]]:
    def changes(event: Event, _: VolumeView) -> dict[str, Any]:
        later = _moment(event, "next_try")
        return {"state": state, "ended": event.time, "devices": (), "next_try": later, **_words(event)}

    return changes


def _page_done(event: Event, before: VolumeView) -> dict[str, Any]:
    return {
        "state": VolumeState.RUNNING,
        "pages_done": max(before.pages_done, _number(event, "pages_done", before.pages_done + 1)),
        "pages_total": _number(event, "pages_total", before.pages_total or 0) or before.pages_total,
        "last": event.time,
    }


def _page_failed(event: Event, before: VolumeView) -> dict[str, Any]:
    failed = _number(event, "pages_failed", before.pages_failed + 1)
    return {"pages_failed": max(before.pages_failed, failed), "last": event.time}


_STARTS = frozenset({"volume.started", "page.done", "prepare.started"})
"""Whatever waited before these waits no more."""

_VOLUME: Mapping[str, Callable[[Event, VolumeView], dict[str, Any]]] = {
    "volume.started": _volume_started,
    "volume.completed": _volume_completed,
    "volume.failed": _volume_ended(VolumeState.FAILED),
    "volume.retrying": _volume_ended(VolumeState.RETRYING),
    "volume.reclaimed": _volume_ended(VolumeState.RECLAIMED),
    "volume.held": _volume_ended(VolumeState.HELD),
    "page.done": _page_done,
    "page.failed": _page_failed,
}


def _campaign_started(event: Event) -> dict[str, Any]:
    return {
        "state": CampaignState.RUNNING,
        "volumes_total": _number(event, "volumes", 0) if "volumes" in event.data else None,
        "started": event.time,
        "ended": None,
        "reason": None,
        "message": None,
        "waits": None,
    }


def _campaign_ended(state: CampaignState) -> Callable[[Event], dict[str, Any]]:
    def changes(event: Event) -> dict[str, Any]:
        return {"state": state, "ended": event.time, "waits": None, **_words(event)}

    return changes


_CAMPAIGN: Mapping[str, Callable[[Event], dict[str, Any]]] = {
    "campaign.started": _campaign_started,
    "campaign.waiting": lambda event: {"waits": _words(event)["message"]},
    "prepare.started": lambda _: {"state": CampaignState.PREPARING},
    "prepare.completed": lambda _: {"state": CampaignState.RUNNING},
    "campaign.suspended": _campaign_ended(CampaignState.SUSPENDED),
    "campaign.stopped": _campaign_ended(CampaignState.STOPPED),
    "campaign.finished": _campaign_ended(CampaignState.FINISHED),
}
