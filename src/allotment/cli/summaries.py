"""How a run ended, in lines for people or one line each for programs: campaigns, fleets and gangs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import click

from allotment.cli.shared import called, safe
from allotment.events.model import CampaignView
from allotment.pictures.counts import counted
from allotment.running.engine.campaign_run import CampaignRun, Halt
from allotment.running.engine.endings import never_began
from allotment.running.engine.gang_run import GangRun
from allotment.running.engine.programs import ProgramRun
from allotment.running.logs import Where, json_line, wants_json

MOST_FAILURES_SHOWN = 20
HEADLINES = {
    None: "finished",
    Halt.ASKED: "stopped",
    Halt.ALIKE: "stopped",
    Halt.SUSPENDED: "suspended",
    Halt.NEVER_FITS: "cannot run on this machine",
    Halt.INTERRUPTED: "interrupted",
    Halt.NOT_PREPARED: "could not be prepared",
}


def say(lines: Iterable[str], team: str, name: str, numbers: Mapping[str, int]) -> None:
    """How something ended: lines for people, or one line for programs."""
    if not wants_json(os.environ):
        for line in lines:
            click.echo(line)
        return
    first, *more = map(click.unstyle, lines)
    data = {**numbers, "lines": [line.strip() for line in more]}
    about = Where(team, name)
    click.echo(json_line(time.time(), "info", first, about, {"kind": "summary", "data": data}))


def numbers(run: CampaignRun) -> dict[str, int]:
    """How many volumes it has, and how many are complete and failed."""
    return {"volumes": len(run.work.volumes), "complete": len(run.completed), "failed": len(run.failures)}


def summary(run: CampaignRun, root: Path) -> Iterator[str]:
    """How one campaign ended, and where its results are."""
    name, total, failed = run.work.campaign, len(run.work.volumes), len(run.failures)
    view = run.view(0.0)
    colour = "green" if run.halt is None and not failed else "red" if failed else "yellow"
    headline = click.style(HEADLINES[run.halt], fg=colour)
    yield f"{click.style(name, bold=True)} {headline}: {', '.join(_counts(run, view))}"
    if run.message and run.halt is not None:
        yield f"  {safe(run.message)}"
    for volume, (_, message) in sorted(run.failures.items())[:MOST_FAILURES_SHOWN]:
        yield f"  {volume}: {safe(message)}"
    if failed > MOST_FAILURES_SHOWN:
        yield f"  … and {failed - MOST_FAILURES_SHOWN} more: {called('status', root)} {name}"
    if view.pages_failed:
        yield f"  which pages could not be read, and why: {called('results', root)} {name}"
    if failed and never_began(run):
        yield f"  once mended: {called('run', root)} {name}"
    elif failed:
        yield f"  once mended: {called('retry', root)} {name}, then {called('run', root)} {name}"
    elif run.halt is Halt.NOT_PREPARED:
        yield f"  all that it wrote: {called('logs', root)} {name}"
        yield f"  once mended: {called('run', root)} {name}"
    elif run.halt is Halt.SUSPENDED:
        yield f"  go on with: `suspend: false` in campaigns/{name}.yaml, then {called('run', root)} {name}"
    elif len(run.completed) < total:
        yield f"  go on with: {called('run', root)} {name}"
    if run.completed:
        yield f"  results: {called('results', root)} {name}"


def _counts(run: CampaignRun, view: CampaignView) -> Iterator[str]:
    total, failed = len(run.work.volumes), len(run.failures)
    worked = [volume for volume in view.volumes.values() if volume.started]
    pages = sum(volume.pages_done - volume.done_before for volume in worked)
    if run.found_complete == total:
        yield f"nothing left to do, {counted(total, 'volume')} complete"
    else:
        yield f"{len(run.completed):,} of {counted(total, 'volume')} complete"
    if pages:
        yield f"{counted(pages, 'page')} in this run"
    if failed:
        yield f"{counted(failed, 'volume')} failed"
    if view.pages_failed:
        yield f"{counted(view.pages_failed, 'page')} could not be read"


def program_summary(run: ProgramRun) -> Iterator[str]:
    """How a fleet or a gang ended."""
    complete = isinstance(run, GangRun) and run.complete
    headline, colour = ("failed", "red") if run.failed else ("ended", "yellow")
    if complete:
        headline, colour = "finished", "green"
    restarts = f", {counted(run.restarts, 'restart')}" if run.restarts else ""
    yield (
        f"{click.style(run.program.name, bold=True)} {click.style(headline, fg=colour)}: "
        f"{run.program.kind} of {_size(run)}{restarts}"
    )
    message = run.failure if isinstance(run, GangRun) and run.failure else run.halted
    if message:
        yield f"  {safe(message)}"


def _size(run: ProgramRun) -> str:
    """How many processes a fleet or a gang had, or could have had."""
    program = run.program
    if isinstance(run, GangRun):
        return counted(run.size or program.most, "worker")
    least = "" if program.least == program.most else f"{program.least} to "
    return f"{least}{counted(program.most, 'replica')}"
