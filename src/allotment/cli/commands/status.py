"""`allot status`: how campaigns stand, now or afterwards, from any terminal."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from allotment.buckets.event_log import read_events
from allotment.cli.cluster import cluster_options, hint_at_cluster
from allotment.cli.json_text import json_text
from allotment.cli.opened import Opened, open_repository
from allotment.cli.shared import output_option, safe, world_options
from allotment.cli.watching.notices import progress
from allotment.cli.words import device_words, span
from allotment.events.model import CampaignState, CampaignView, VolumeState, VolumeView
from allotment.events.programs import ProgramState, ProgramView, fold_program
from allotment.pictures.counts import counted
from allotment.running.engine.control import living_engines, state_folder
from allotment.running.engine.other_recipes import left_behind
from allotment.running.engine.overview import overview

FORMAT_VERSION = 1
WATCH_SECONDS = 1.0
MOST_VOLUMES_SHOWN = 20
COLOURS = {
    CampaignState.FINISHED: "green",
    CampaignState.RUNNING: "cyan",
    CampaignState.STOPPED: "yellow",
    CampaignState.SUSPENDED: "yellow",
}
PROGRAM_COLOURS = {
    ProgramState.COMPLETE: "green",
    ProgramState.RUNNING: "cyan",
    ProgramState.FAILED: "red",
    ProgramState.STOPPED: "yellow",
}
INTERRUPTED = "its engine ended before it did; `allot run` starts it anew"
WORTH_SHOWING = (
    VolumeState.RUNNING,
    VolumeState.FAILED,
    VolumeState.RETRYING,
    VolumeState.HELD,
    VolumeState.RECLAIMED,
)


@click.command(name="status")
@click.argument("campaigns", nargs=-1, metavar="[CAMPAIGN]...")
@click.option("-w", "--watch", is_flag=True, help="Show it again and again, until Ctrl-C.")
@click.option("--volumes", "all_volumes", is_flag=True, help="Every volume that has begun.")
@output_option("text", "json")
@world_options
@cluster_options
def command(
    campaigns: tuple[str, ...],
    watch: bool,
    all_volumes: bool,
    form: str,
    repository: Path,
    platform: Path | None,
    team: str | None,
    cluster: str | None,
    snapshot: Path | None,
) -> int:
    """Say how campaigns, fleets and gangs stand; without names, all of this repository.

    What is done is read from the bucket, so it is right after a crash too. With --cluster or --snapshot it is
    what Kubernetes, Kueue and KAI say: one sentence that names the cause, what to do, and what runs where.
    """
    if cluster is not None or snapshot is not None:
        from allotment.cli.following import follow_cluster

        return follow_cluster(
            campaigns,
            cluster=cluster,
            snapshot=snapshot,
            root=repository,
            platform=platform,
            team=team,
            form=form,
            watch=watch,
            all_indexes=all_volumes,
        )
    opened, names = open_repository(
        repository, platform=platform, team=team, campaigns=campaigns, programs=True
    )
    hint_at_cluster(opened.platform, "this is what the bucket and this machine say")
    while True:
        now = time.time()
        views = list(_views(opened, [name for name in names if name in opened.repository.campaigns], now))
        programs = list(_programs(opened, names))
        if form == "json":
            answer = {**_as_json(views, now), "programs": [asdict(view) for view in programs]}
            click.echo(json_text(answer, indent=None if watch else 2))
        else:
            if watch:
                click.clear()
            bucket = opened.bucket()
            for view in views:
                for line in _lines(view, now, all_volumes=all_volumes):
                    click.echo(line)
                if left := left_behind(bucket, opened.work(view.name)):
                    click.echo(f"  {left}")
            for program in programs:
                for line in _program_lines(program):
                    click.echo(line)
        if not watch:
            return 0
        time.sleep(WATCH_SECONDS)


def _programs(opened: Opened, names: Iterable[str]) -> Iterator[ProgramView]:
    """Fleets and gangs; one whose engine has died is not running, whatever its events say last."""
    bucket, found = opened.bucket(), opened.repository
    folder = opened.bucket_identity
    running = {
        campaign
        for engine in living_engines(state_folder(os.environ))
        if (engine.bucket, engine.team) == (folder, opened.team.name)
        for campaign in engine.campaigns
    }
    for name in names:
        if name in found.campaigns:
            continue
        kind = "fleet" if name in found.fleets else "gang"
        view = fold_program(read_events(bucket, opened.team.name, name), name, kind)
        if view.state is ProgramState.RUNNING and name not in running:
            view = replace(view, state=ProgramState.STOPPED, up={}, message=INTERRUPTED)
        yield view


def _program_lines(view: ProgramView) -> Iterator[str]:
    state = click.style(str(view.state), fg=PROGRAM_COLOURS.get(view.state))
    numbers = f": {len(view.up)} of {view.most} up" if view.state is ProgramState.RUNNING else ""
    restarts = f", {counted(view.restarts, 'restart')}" if view.restarts else ""
    yield f"{click.style(view.name, bold=True)} {state}{numbers}{restarts}"
    if view.message and view.state is not ProgramState.COMPLETE:
        yield f"  {safe(view.message)}"
    for rank, devices in sorted(view.up.items()):
        yield f"  {rank} on {', '.join(map(device_words, devices)) or 'no device'}"


def _views(opened: Opened, names: Iterable[str], now: float) -> Iterator[CampaignView]:
    bucket = opened.bucket()
    folder = opened.bucket_identity
    engines = [engine for engine in living_engines(state_folder(os.environ)) if engine.bucket == folder]
    for name in names:
        lives = any(name in engine.campaigns and engine.team == opened.team.name for engine in engines)
        yield overview(bucket, opened.work(name), now, engine_lives=lives)


def _lines(view: CampaignView, now: float, *, all_volumes: bool) -> Iterator[str]:
    waits = view.waits if view.state in {CampaignState.RUNNING, CampaignState.PREPARING} else None
    state = click.style("waits" if waits else str(view.state), fg=COLOURS.get(view.state))
    yield f"{click.style(view.name, bold=True)} {state}: {progress(view, now)}"
    if waits:
        yield f"  {safe(waits)}"
    if view.message and view.state in {CampaignState.STOPPED, CampaignState.SUSPENDED}:
        yield f"  {safe(view.message)}"
    shown = [volume for volume in view.volumes.values() if all_volumes or volume.state in WORTH_SHOWING]
    most = len(shown) if all_volumes else MOST_VOLUMES_SHOWN
    for volume in shown[:most]:
        yield f"  {_volume_line(volume, view.word_of(volume), now)}"
    if len(shown) > most:
        yield f"  … and {counted(len(shown) - most, 'volume')} more: --volumes shows all"


def _volume_line(volume: VolumeView, state: str, now: float) -> str:
    parts = [state]
    pages = f"{volume.pages_done} of {counted(volume.pages_total, 'page')}" if volume.pages_total else ""
    parts += [pages or counted(volume.pages_done, "page")] if pages or volume.pages_done else []
    parts += [f"{counted(volume.pages_failed, 'page')} could not be read"] if volume.pages_failed else []
    if volume.state is VolumeState.RUNNING:
        parts += [f"on {', '.join(map(device_words, volume.devices))}"] if volume.devices else []
        parts += [f"for {span(now - volume.started)}"] if volume.started else []
    if volume.state is VolumeState.RETRYING and volume.next_try and volume.next_try > now:
        parts += [f"next try in {span(volume.next_try - now)}"]
    message = safe(volume.message) if volume.message and volume.state in WORTH_SHOWING[1:] else ""
    return f"{volume.id} {', '.join(parts)}" + (f": {message}" if message else "")


def _as_json(views: list[CampaignView], now: float) -> dict[str, Any]:
    def plain(view: CampaignView) -> dict[str, Any]:
        record = asdict(view)
        record["pages_done"], record["pages_failed"] = view.pages_done, view.pages_failed
        record["volumes"] = [
            {**volume, "rate": None} | _rates(view, volume["id"]) for volume in record["volumes"].values()
        ]
        return record

    return {"format_version": FORMAT_VERSION, "time": now, "campaigns": [plain(view) for view in views]}


def _rates(view: CampaignView, volume: str) -> dict[str, float | None]:
    return {"rate": view.volumes[volume].rate}
