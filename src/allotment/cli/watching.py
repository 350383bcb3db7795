"""What `allot run` shows while it works: a live picture on a terminal, plain lines elsewhere.

Both are watchers of the engine and show the same read model that `allot status` shows afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self, TextIO

from allotment.cli.shared import safe
from allotment.cli.words import clock, counted, device_words, rate, span
from allotment.events.event import Event
from allotment.events.model import CampaignView, VolumeState
from allotment.running.engine.engine import Engine
from allotment.running.engine.snapshot import Snapshot

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

PROGRESS_SECONDS = 10.0
PICTURE_SECONDS = 0.25
MOST_WORKERS_SHOWN = 24
ENDING = "ending after the pages in flight; once more ends at once"
CAMPAIGN_NUMBERS = {"volumes": 7, "pages": 5, "failed": 6, "rate": 15, "expected end": 12}


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


def _bounds(event: Event) -> str:
    replicas = event.data.get("replicas")
    return f"{replicas['min']} to {replicas['max']}" if isinstance(replicas, dict) else "always"


def _replica_ended(event: Event) -> str:
    pause, message = event.data.get("pause"), event.data.get("message")
    again = f", again in {span(float(pause))}" if pause is not None else ""
    return f"{event.data.get('rank')} {event.data.get('reason')}{again}: {message}"


NOTICES: Mapping[str, Callable[[Event], str]] = {
    "campaign.started": lambda event: f"started: {counted(int(event.data.get('volumes', 0)), 'volume')}",
    "campaign.finished": lambda event: (
        f"finished: {counted(int(event.data.get('complete', 0)), 'volume')} complete"
        + (f", {event.data['failed']} failed" if event.data.get("failed") else "")
    ),
    "campaign.stopped": _said("stopped"),
    "campaign.suspended": _said("suspended"),
    "volume.started": _started,
    "volume.completed": _completed,
    "volume.failed": _said("failed"),
    "volume.retrying": _said("will be tried again"),
    "volume.reclaimed": _said("reclaimed; it goes on where it was"),
    "volume.held": _said("waits, another engine has it"),
    "page.failed": _said("page failed"),
    "warning": _said("warning"),
    "prepare.started": _said("is being prepared"),
    "prepare.completed": _said("is prepared"),
    "prepare.retrying": _said("could not be prepared, and will be tried again"),
    "prepare.failed": _said("could not be prepared"),
    "fleet.started": lambda event: f"is kept up: {_bounds(event)}",
    "fleet.stopped": _said("ended"),
    "gang.started": lambda event: f"started: {event.data.get('size')} workers together",
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
    parts = [
        f"{view.number(VolumeState.COMPLETE):,} of {counted(total, 'volume')}",
        counted(view.pages_done, "page"),
    ]
    running, failed = view.number(VolumeState.RUNNING), view.number(VolumeState.FAILED)
    parts += [f"{running} running"] if running else []
    parts += [f"{failed} failed"] if failed else []
    parts += [rate(view.rate)] if view.rate else []
    parts += [f"expected end {clock(view.expected_end, now)}"] if view.expected_end else []
    return ", ".join(parts)


class PlainLines:
    """Lines with the time, for logs and pipes: what happens to volumes, and now and then how far it is."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._progressed = 0.0
        self._shown: dict[str, str] = {}
        self._waits: dict[str, str] = {}
        self._ending = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is kept open."""

    def event(self, event: Event) -> None:
        """Print what is worth a line."""
        line = notice(event)
        if line is not None:
            self._print(event.time, line)

    def turn(self, engine: Engine) -> None:
        """Print how far it is, every ten seconds, and why somebody waits, once."""
        now = engine.filler.wall()
        if engine.ending and engine.ending != self._ending:
            self._ending = engine.ending
            self._print(now, f"{engine.ending}: {ENDING}")
        if now - self._progressed < PROGRESS_SECONDS:
            return
        first, self._progressed = self._progressed == 0.0, now
        shown = engine.snapshot()
        for name, message in shown.waits.items():
            if self._waits.get(name) != message:
                self._print(now, f"{name} waits: {safe(message)}")
        self._waits = dict(shown.waits)
        for view in shown.campaigns:
            line = progress(view, now)
            if not first and self._shown.get(view.name) != line:
                self._print(now, f"{view.name} {line}")
            self._shown[view.name] = line

    def _print(self, moment: float, line: str) -> None:
        print(f"{clock(moment, moment)} {line}", file=self._output, flush=True)


class LivePicture:
    """A picture that stays in place: campaigns with their bars, devices with what runs on them, notices."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        self._console = console
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._drawn = 0.0
        self._last: Snapshot | None = None

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def event(self, event: Event) -> None:
        """Let what is worth a line scroll by above the picture."""
        line = notice(event)
        if line is None or event.kind == "volume.started":
            return
        style = {"volume.failed": "red", "page.failed": "yellow", "warning": "yellow"}.get(event.kind, "dim")
        self._live.console.print(
            f"{clock(event.time, event.time)} {line}", style=style, markup=False, highlight=False
        )

    def turn(self, engine: Engine) -> None:
        """Draw the picture anew, a few times a second."""
        now = engine.filler.clock()
        if now - self._drawn < PICTURE_SECONDS:
            return
        self._drawn = now
        self._live.update(picture(engine.snapshot()), refresh=True)


def picture(shown: Snapshot) -> RenderableType:
    """Campaigns and devices as two tables."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Any] = [_campaign_table(shown), _device_table(shown)]
    parts += [Text(f"{name} waits: {safe(message)}", style="yellow") for name, message in shown.waits.items()]
    if shown.ending:
        parts.append(
            Text(
                f"{shown.ending}: ending after the pages in flight; once more ends at once",
                style="bold yellow",
            )
        )
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
            ProgressBar(total=max(1.0, float(total)), completed=_volumes_done(view)),
            f"{complete:,}/{total:,}",
            f"{view.pages_done:,}",
            f"{failed:,}" if failed else "",
            rate(view.rate),
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
    for title in ("device", "volume", "page", "since"):
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
