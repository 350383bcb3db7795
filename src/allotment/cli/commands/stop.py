"""`allot stop`: end campaigns that run on this machine, after the pages in flight."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from allotment.cli.opened import open_repository
from allotment.cli.shared import world_options
from allotment.errors import AllotmentError
from allotment.pictures.counts import counted
from allotment.running.engine.control import (
    EngineDescription,
    living_engines,
    request_stop,
    state_folder,
    stop_pending,
)

LOOK_SECONDS = 0.2
PATIENCE_SECONDS = 15.0


@click.command(name="stop")
@click.argument("campaigns", nargs=-1, metavar="[CAMPAIGN]...")
@click.option("--no-wait", is_flag=True, help="Ask and leave, without waiting for the end.")
@world_options
def command(
    campaigns: tuple[str, ...], no_wait: bool, repository: Path, platform: Path | None, team: str | None
) -> int:
    """End campaigns that run on this machine, after the pages in flight, and fleets and gangs; without
    names, all of this repository.

    They stay ended until the next `allot run`, which goes on where they were.
    """
    opened, names = open_repository(
        repository, platform=platform, team=team, campaigns=campaigns, programs=True
    )
    state = state_folder(os.environ)
    bucket = opened.bucket_identity

    def running() -> list[tuple[EngineDescription, list[str]]]:
        found = []
        for engine in living_engines(state):
            theirs = [name for name in engine.campaigns if name in names]
            if theirs and engine.bucket == bucket and engine.team == opened.team.name:
                found.append((engine, theirs))
        return found

    asked = running()
    if not asked:
        which = ", ".join(f"`{name}`" for name in names) if campaigns else "any campaign of this repository"
        raise AllotmentError(
            f"nothing to stop: no `allot run` of yours on this machine runs {which}",
            remedy="an engine of another user or on another machine is stopped there",
        )
    for engine, theirs in asked:
        request_stop(state, engine, theirs)
        click.echo(f"asked the engine with process id {engine.pid} to stop {', '.join(theirs)}")
    if no_wait:
        return 0
    grace = opened.platform.defaults.grace_seconds
    click.echo(f"pages in flight are finished first (at most {counted(grace, 'second')})", err=True)
    until = time.monotonic() + grace + PATIENCE_SECONDS
    while pending := [engine.pid for engine, theirs in asked if stop_pending(state, engine, theirs)]:
        if time.monotonic() > until:
            raise AllotmentError(
                f"process {pending[0]} was asked to stop and does not answer",
                remedy=f"it may itself be stopped (Ctrl-Z): bring it back, or end it: kill -9 {pending[0]}",
            )
        time.sleep(LOOK_SECONDS)
    click.echo("stopped, unless they ended meanwhile (allot status); allot run goes on where they were")
    return 0
