"""`allot run`: campaigns on this machine, until they are finished."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click

from allotment.cli.opened import Opened, open_repository, show_warnings
from allotment.cli.shared import safe, world_options
from allotment.cli.watching import LivePicture, PlainLines
from allotment.cli.words import counted
from allotment.cli.world import ChosenWorld, chosen_world, which_world
from allotment.devices.ledger import Ledger
from allotment.devices.machine import this_machine
from allotment.errors import (
    EXIT_FINE,
    EXIT_INTERRUPTED,
    EXIT_REFUSED,
    FindingsError,
    Severity,
    UsageError,
)
from allotment.needs.fit_findings import fit_findings
from allotment.platform.find import find_platform
from allotment.repository import load_repository
from allotment.running.engine.campaign_run import CampaignRun, Halt
from allotment.running.engine.pretend import pretended_ledger, pretended_world
from allotment.running.engine.requests import Settings
from allotment.running.engine.session import Session, run_works
from allotment.running.engine.work import works_for

MOST_FAILURES_SHOWN = 20


@click.command(name="run")
@click.argument("campaigns", nargs=-1, metavar="CAMPAIGN...")
@click.option("--plain", is_flag=True, help="Plain lines, on a terminal too.")
@click.option(
    "--pretend",
    is_flag=True,
    help="Give workers the devices of --devices or --describe, in name only; the steps run here.",
)
@world_options
@which_world
def command(
    campaigns: tuple[str, ...],
    plain: bool,
    pretend: bool,
    repository: Path,
    platform: Path | None,
    team: str | None,
    devices: tuple[Path, ...],
    describe: str | None,
) -> int:
    """Run campaigns on this machine, until each is finished.

    A CAMPAIGN is a name or its file. It starts with the devices that are free and grows to its window.
    What is in the bucket already is not done again: stop it, kill it, and run it once more. Ctrl-C ends
    after the pages in flight, a second one at once.
    """
    if not campaigns:
        raise UsageError(
            "no campaign is named", remedy="name some, or all of them: allot run campaigns/*.yaml"
        )
    opened, names = open_repository(repository, platform=platform, team=team, campaigns=campaigns)
    show_warnings(finding for finding in opened.findings if finding.severity is Severity.WARNING)
    if opened.platform.engine != "local":
        raise UsageError(
            f"the platform's engine is `{opened.platform.engine}`, and `run` is for this machine",
            remedy="name a platform's file that says `engine: local` with --platform",
        )
    works = works_for(opened.repository, opened.platform, opened.team, names)
    chosen = _world(devices, describe, pretend=pretend)
    _refuse_what_never_fits(opened, names, chosen)
    session = Session(
        bucket=opened.platform.bucket,
        bucket_options=opened.platform.bucket_options,
        base=opened.base,
        world=chosen.world,
        ledger=Ledger(pretended_ledger(chosen.world, os.environ)) if pretend else Ledger(),
        environment=dict(os.environ),
        reread=_rereader(opened, platform),
        pretend=pretend,
    )
    with _watcher(plain=plain) as watcher:
        runs = run_works(works, session, watcher)
    for run in runs:
        _summarize(run)
    return _exit_code(runs)


def _world(devices: tuple[Path, ...], describe: str | None, *, pretend: bool) -> ChosenWorld:
    """The world to run on: this machine, or with ``--pretend`` one that is not here."""
    chosen = chosen_world(devices, describe)
    if chosen.is_here == pretend:
        raise UsageError(
            "--pretend needs a world" if pretend else f"{chosen.name} is not this machine",
            remedy='name one: --pretend --describe "2 x H100-SXM"'
            if pretend
            else "add --pretend to give workers its devices in name only",
        )
    if pretend:
        return replace(chosen, world=pretended_world(chosen.without_errors(), this_machine()))
    return chosen


def _refuse_what_never_fits(opened: Opened, names: tuple[str, ...], chosen: ChosenWorld) -> None:
    """Raise FindingsError for needs that nothing here can meet, with the nearest device."""
    where = "on this machine" if chosen.is_here else f"in {chosen.name}"
    pipelines = {opened.repository.campaigns[name].pipeline for name in names}
    findings = [
        finding
        for pipeline in sorted(pipelines)
        for finding in fit_findings(
            opened.repository.pipelines[pipeline],
            chosen.world,
            opened.platform.cards,
            where=where,
            on_cluster=False,
        )
    ]
    if findings:
        raise FindingsError(findings)


def _watcher(*, plain: bool) -> LivePicture | PlainLines:
    if plain or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return PlainLines(sys.stdout)
    from rich.console import Console

    return LivePicture(Console(highlight=False))


def _rereader(opened: Opened, platform: Path | None) -> Callable[[str], Settings | None]:
    """How the engine learns what a campaign's file says now; a file that is wrong says nothing."""

    def reread(name: str) -> Settings | None:
        found, _ = find_platform(opened.root, option=platform, environ=os.environ)
        campaign = opened.repository.campaigns[name]
        loaded = load_repository(opened.root, found, only=[opened.root / "campaigns" / f"{name}.yaml"])
        now = loaded.repository.campaigns.get(name)
        if now is None or now.pipeline != campaign.pipeline:
            return None
        lane = found.lanes[now.priority]
        return Settings(now.window, now.priority, lane.value, now.suspend)

    return reread


def _summarize(run: CampaignRun) -> None:
    """How one campaign ended, and where its results are."""
    name, work = run.work.campaign, run.work
    total = len(work.volumes)
    view = run.view(0.0)
    pages = sum(
        volume.pages_done - volume.done_at_start for volume in view.volumes.values() if volume.started
    )
    headline = {
        None: "finished",
        Halt.ASKED: "stopped",
        Halt.ALIKE: "stopped",
        Halt.SUSPENDED: "suspended",
        Halt.NEVER_FITS: "cannot run on this machine",
        Halt.INTERRUPTED: "interrupted",
    }[run.halt]
    failed = len(run.failures)
    colour = "green" if run.halt is None and not failed else "red" if failed else "yellow"
    click.echo(
        f"{click.style(name, bold=True)} {click.style(headline, fg=colour)}: "
        f"{len(run.completed):,} of {counted(total, 'volume')} complete"
        + (f", {counted(pages, 'page')} in this run" if pages else "")
        + (f", {counted(failed, 'volume')} failed" if failed else "")
        + (f", {counted(view.pages_failed, 'page')} failed" if view.pages_failed else "")
    )
    if run.message and run.halt is not None:
        click.echo(f"  {safe(run.message)}")
    for volume, (_, message) in sorted(run.failures.items())[:MOST_FAILURES_SHOWN]:
        click.echo(f"  {volume}: {safe(message)}")
    if failed > MOST_FAILURES_SHOWN:
        click.echo(f"  … and {failed - MOST_FAILURES_SHOWN} more: allot status {name}")
    if failed:
        click.echo(f"  try the failed ones again: allot retry {name}, then allot run {name}")
    if run.completed:
        click.echo(f"  results: allot results {name}")


def _exit_code(runs: tuple[CampaignRun, ...]) -> int:
    if any(run.halt is Halt.INTERRUPTED for run in runs):
        return EXIT_INTERRUPTED
    if any(run.failures or run.halt in {Halt.ALIKE, Halt.NEVER_FITS} for run in runs):
        return EXIT_REFUSED
    if any(run.halt is Halt.ASKED for run in runs):
        return EXIT_INTERRUPTED
    return EXIT_FINE
