"""Events as lines for people, and how a campaign stands as one line; counts that only move have no line."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from allotment.cli.shared import safe
from allotment.cli.words import clock, device_words, rate, span
from allotment.events.event import Event
from allotment.events.model import CampaignState, CampaignView, VolumeState
from allotment.pictures.counts import counted


def _page_count(event: Event) -> str:
    done = event.data.get("pages_done", 0)
    failed = event.data.get("pages_failed", 0)
    return counted(int(done), "page") + (f", {failed} failed" if failed else "")


def _devices(event: Event) -> str:
    return ", ".join(device_words(str(device)) for device in event.data.get("devices", ())) or "no device"


def _started(event: Event) -> str:
    total, done = event.data.get("pages_total"), event.data.get("pages_done", 0)
    already = f", {done} done already" if done else ""
    pages = f": {counted(int(total), 'page')}{already}" if total is not None else ""
    return f"started on {_devices(event)}{pages}"


def _completed(event: Event) -> str:
    seconds = event.data.get("seconds")
    return f"complete: {_page_count(event)}" + (f" in {span(float(seconds))}" if seconds is not None else "")


def _said(verb: str) -> Callable[[Event], str]:
    def say(event: Event) -> str:
        message = event.data.get("message")
        return f"{verb}: {message}" if message else verb

    return say


def _retrying(event: Event) -> str:
    later = event.data.get("next_try")
    when = f"; next try in {span(float(later) - event.time)}" if later is not None else ""
    return _said("will be tried again")(event) + when


def _bounds(event: Event) -> str:
    replicas = event.data.get("replicas")
    if not isinstance(replicas, dict):
        return "always"
    least = "" if replicas["min"] == replicas["max"] else f"{replicas['min']} to "
    return f"{least}{counted(replicas['max'], 'replica')}"


def _together(event: Event) -> str:
    size = event.data.get("size")
    return f"{counted(size, 'worker')}{' together' * (size > 1)}" if isinstance(size, int) else "its workers"


def _replica_ended(event: Event) -> str:
    pause, message = event.data.get("pause"), event.data.get("message")
    again = f", again in {span(float(pause))}" if pause is not None else ""
    return f"{event.data.get('rank')} {event.data.get('reason')}{again}: {message}"


NOTICES: Mapping[str, Callable[[Event], str]] = {
    "campaign.started": lambda event: f"begins: {counted(int(event.data.get('volumes', 0)), 'volume')}",
    "campaign.finished": lambda event: (
        f"finished: {counted(int(event.data.get('complete', 0)), 'volume')} complete"
        + (f", {event.data['failed']} failed" if event.data.get("failed") else "")
    ),
    "campaign.stopped": _said("stopped"),
    "campaign.suspended": _said("suspended"),
    "volume.started": _started,
    "volume.completed": _completed,
    "volume.failed": _said("failed"),
    "volume.retrying": _retrying,
    "volume.reclaimed": _said("was interrupted and goes on where it was"),
    "volume.held": _said("waits, another engine has it"),
    "page.failed": _said("page failed"),
    "warning": _said("warning"),
    "prepare.started": _said("is being prepared"),
    "prepare.completed": _said("is prepared"),
    "prepare.retrying": _said("could not be prepared, and will be tried again"),
    "prepare.failed": _said("could not be prepared"),
    "fleet.started": lambda event: f"is kept up: {_bounds(event)}",
    "fleet.stopped": _said("ended"),
    "gang.started": lambda event: f"started: {_together(event)}",
    "gang.completed": _said("finished"),
    "gang.failed": _said("failed"),
    "gang.stopped": _said("ended"),
    "replica.started": lambda event: f"{event.data.get('rank')} started on {_devices(event)}",
    "replica.given-back": lambda event: (
        f"{event.data.get('rank')} gives its devices back: {event.data.get('message')}"
    ),
    "replica.ended": _replica_ended,
}


def notice(event: Event) -> str | None:
    """An event as a line for people, or None for those that only move a count."""
    words = NOTICES.get(event.kind)
    if words is None:
        return None
    name = "/".join(part for part in (event.campaign, event.volume, event.page) if part)
    return safe(f"{name} {words(event)}")


def progress(view: CampaignView, now: float) -> str:
    """How a campaign stands, as one line."""
    total = view.volumes_total or len(view.volumes)
    running, failed = view.number(VolumeState.RUNNING), view.number(VolumeState.FAILED)
    parts = [f"{view.number(VolumeState.COMPLETE):,} of {counted(total, 'volume')}"]
    parts += [f"{running} running"] if running else []
    parts += [f"{counted(failed, 'volume')} failed"] if failed else []
    parts += [counted(view.pages_done, "page")] if view.pages_done else []
    parts += [f"{counted(view.pages_failed, 'page')} could not be read"] if view.pages_failed else []
    if view.state is CampaignState.RUNNING:
        parts += [rate(view.rate)] if view.rate else []
        parts += [f"expected end {clock(view.expected_end, now)}"] if view.expected_end else []
    elif view.ended is not None:
        parts += [f"ended {clock(view.ended, now)}"]
    return ", ".join(parts)


def pages(view: CampaignView) -> str:
    """Pages done, of those that are known; ``…`` while some volumes have not been counted yet."""
    known = all(volume.pages_total is not None for volume in view.volumes.values())
    more = "" if known and len(view.volumes) == (view.volumes_total or len(view.volumes)) else "…"
    return f"{view.pages_done:,}/{view.pages_total:,}{more}" if view.pages_total else ""
