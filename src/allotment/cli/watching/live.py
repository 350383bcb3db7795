"""The picture of a run on a terminal: campaigns with their bars, devices with what runs on them."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, cast

from allotment.cli.shared import safe
from allotment.cli.watching.display import Text
from allotment.cli.watching.notices import notice, pages
from allotment.cli.watching.plain import ENDING, standing_still
from allotment.cli.words import clock, device_words, rate, span
from allotment.events.event import Event
from allotment.events.model import CampaignState, CampaignView, VolumeState
from allotment.running.engine.snapshot import Snapshot

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_WORKERS_SHOWN = 24
CAMPAIGN_NUMBERS = {"volumes": 7, "pages": 9, "failed": 6, "rate": 15, "expected end": 12}


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
