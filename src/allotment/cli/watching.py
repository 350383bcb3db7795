"""What `allot run` shows while it works: a live picture on a terminal, plain lines elsewhere.

Both draw what a display hands them, and show the same read model that `allot status` shows afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any, cast

from allotment.cli.display import Text
from allotment.cli.shared import safe
from allotment.cli.words import clock, counted, device_words, rate, span
from allotment.events.event import Event
from allotment.events.model import CampaignState, CampaignView, VolumeState
from allotment.running.engine.snapshot import Snapshot

if TYPE_CHECKING:
    from rich.console import RenderableType

PROGRESS_SECONDS = 10.0
MOST_WORKERS_SHOWN = 24
ENDING = "the pages in hand are finished first; once more ends at once"
CAMPAIGN_NUMBERS = {"volumes": 7, "pages": 9, "failed": 6, "rate": 15, "expected end": 12}


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


class LivePicture:
    """A picture that stays in place: campaigns with their bars, devices with what runs on them, notices."""

    def __init__(self, output: Text) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = Console(file=cast("IO[str]", output), highlight=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)

    def begin(self) -> None:
        """Make room for the picture."""
        self._live.start()

    def end(self) -> None:
        """Take the picture away; what scrolled by stays."""
        self._live.stop()

    def event(self, event: Event) -> None:
        """Let what is worth a line scroll by above the picture."""
        line = notice(event)
        if line is None or event.kind == "volume.started":
            return
        style = {"volume.failed": "red", "page.failed": "yellow", "warning": "yellow"}.get(event.kind, "dim")
        self._console.print(
            f"{clock(event.time, event.time)} {line}", style=style, markup=False, highlight=False
        )

    def show(self, shown: Snapshot) -> None:
        """Draw the picture anew."""
        self._live.update(picture(shown), refresh=True)

    def left_out(self, count: int) -> None:
        """A picture shows the newest anyway."""


def standing_still(shown: Snapshot) -> dict[str, str]:
    """Why campaigns wait of which nothing runs; one that runs and would run wider is no news."""
    running = {worker.campaign for worker in shown.workers}
    return {name: message for name, message in shown.waits.items() if name not in running}


def picture(shown: Snapshot) -> RenderableType:
    """Campaigns and devices as two tables."""
    from rich.console import Group
    from rich.text import Text as RichText

    parts: list[Any] = [_campaign_table(shown), _device_table(shown)]
    still = standing_still(shown)
    parts += [RichText(f"{name} waits: {safe(message)}", style="yellow") for name, message in still.items()]
    if shown.ending:
        parts.append(RichText(f"{shown.ending}: {ENDING}", style="bold yellow"))
    return Group(*parts)


def _campaign_table(shown: Snapshot) -> RenderableType:
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    table.add_column("campaign", no_wrap=True)
    table.add_column("", no_wrap=True, ratio=1)
    for title, width in CAMPAIGN_NUMBERS.items():
        table.add_column(title, justify="right", no_wrap=True, min_width=width)
    for run in shown.programs:
        up = f"{len(run.workers):,}/{run.program.most:,}"
        table.add_row(run.program.name, str(run.program.kind), up, "", "", "", "")
    for view in shown.campaigns:
        total = view.volumes_total or len(view.volumes)
        complete, failed = view.number(VolumeState.COMPLETE), view.number(VolumeState.FAILED)
        table.add_row(
            view.name,
            ProgressBar(
                total=max(1.0, float(total)),
                completed=_volumes_done(view),
                style="dim",
                complete_style="cyan",
                finished_style="red" if failed else "green",
            ),
            f"{complete:,}/{total:,}",
            pages(view),
            f"{failed:,}" if failed else "",
            rate(view.rate) if view.state is CampaignState.RUNNING else str(view.state),
            clock(view.expected_end, shown.now) if view.expected_end else "",
        )
    return table


def _volumes_done(view: CampaignView) -> float:
    """Volumes done, with those that run counted by their pages."""
    done = 0.0
    for volume in view.volumes.values():
        if volume.state in {VolumeState.COMPLETE, VolumeState.FAILED}:
            done += 1
        elif volume.pages_total:
            done += (volume.pages_done + volume.pages_failed) / volume.pages_total
    return done


def _device_table(shown: Snapshot) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("device", "volume", "pages done", "for"):
        table.add_column(title, no_wrap=True)
    views = {view.name: view.volumes for view in shown.campaigns}
    for worker in shown.workers[:MOST_WORKERS_SHOWN]:
        volumes = [views[worker.campaign][name] for name in worker.volumes if name in views[worker.campaign]]
        current = next((volume for volume in volumes if volume.state is VolumeState.RUNNING), None)
        page = f"{current.pages_done + current.pages_failed}/{current.pages_total or '?'}" if current else "…"
        table.add_row(
            ", ".join(device_words(str(device)) for device in worker.allocation.ids),
            f"{worker.campaign}/{current.id if current else worker.volumes[0]}",
            page,
            span(shown.now - current.started) if current and current.started else "starting",
        )
    if len(shown.workers) > MOST_WORKERS_SHOWN:
        table.add_row("…", f"{len(shown.workers) - MOST_WORKERS_SHOWN} more", "", "")
    return table
