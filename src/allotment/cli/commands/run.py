"""`allot run`: campaigns on this machine, until they are finished."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import click

from allotment.cli.opened import Opened, open_repository, show_warnings
from allotment.cli.shared import discard_output, safe, world_options
from allotment.cli.summaries import numbers, program_summary, say, summary
from allotment.cli.watching.display import Display, Text
from allotment.cli.watching.json_lines import JsonEvents, error_json, finding_json
from allotment.cli.watching.live import LivePicture
from allotment.cli.watching.plain import PlainLines
from allotment.cli.world import AskedWorld, ChosenWorld, any_world
from allotment.devices.ledger import Ledger
from allotment.devices.machine import this_machine
from allotment.errors import (
    EXIT_FINE,
    EXIT_INTERRUPTED,
    EXIT_REFUSED,
    EXIT_WORLD,
    AllotmentError,
    Finding,
    FindingsError,
    Severity,
    UsageError,
)
from allotment.needs.fit_findings import fit_findings
from allotment.platform.find import find_platform
from allotment.platform.model import Card
from allotment.repository import load_repository
from allotment.repository.model import Fleet, Gang, Pipeline
from allotment.running.engine.campaign_run import Halt
from allotment.running.engine.endings import never_began
from allotment.running.engine.metrics import MetricsFile
from allotment.running.engine.pretend import pretended_ledger, pretended_world
from allotment.running.engine.program import programs_for
from allotment.running.engine.requests import Settings
from allotment.running.engine.session import Ran, Session, run_works
from allotment.running.engine.team_table import sharer_of
from allotment.running.engine.work import works_for
from allotment.running.logs import (
    FORM,
    JSON,
    TEXT,
    log_to,
    unknown_form,
    wants_json,
)
from allotment.running.secrets import Secrets, read_secrets, secrets_folder
from allotment.running.steps.checking import settings_findings


@click.command(name="run")
@click.argument("campaigns", nargs=-1, metavar="NAME...")
@click.option("--plain", is_flag=True, help="Plain lines, on a terminal too.")
@click.option(
    "--pretend",
    is_flag=True,
    help="Give workers the devices of the world that is named, in name only; the steps run here.",
)
@click.option(
    "--metrics",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="Keep numbers for Prometheus in a file, replaced every few seconds.",
)
@world_options
@any_world
def command(
    campaigns: tuple[str, ...],
    plain: bool,
    pretend: bool,
    metrics: Path | None,
    repository: Path,
    platform: Path | None,
    team: str | None,
    asked: AskedWorld,
) -> int:
    """Run campaigns on this machine, until each is finished; and fleets and gangs beside them.

    A NAME is that of a campaign, a fleet or a gang, or its file. A campaign starts with the devices that
    are free and grows to its window. What is in the bucket already is not done again: stop it, kill it,
    and run it once more. A fleet is kept up until it is stopped. Ctrl-C ends after the pages in flight, a
    second one at once.
    """
    if unknown := unknown_form(os.environ):
        raise UsageError(f"{FORM} says `{safe(unknown)}`", remedy=f"it is `{JSON}` or `{TEXT}`, or not set")
    if not campaigns:
        raise UsageError(
            "no campaign is named", remedy="name some, or all of them: allot run campaigns/*.yaml"
        )
    chosen = _world(asked, pretend=pretend)
    try:
        named = asked.options() if pretend else ()
        return _run(campaigns, chosen, metrics, repository, platform, team, plain=plain, pretends=named)
    except AllotmentError as error:
        if not wants_json(os.environ):
            raise
        for line in error_json(error, time.time()):
            click.echo(line, err=True)
        return error.exit_code


def _run(
    campaigns: tuple[str, ...],
    chosen: ChosenWorld,
    metrics: Path | None,
    repository: Path,
    platform: Path | None,
    team: str | None,
    *,
    plain: bool,
    pretends: tuple[str, ...],
) -> int:
    """Run what is named, and say how it ended; returns the exit code."""
    opened, names = open_repository(
        repository, platform=platform, team=team, campaigns=campaigns, programs=True
    )
    _warn([finding for finding in opened.findings if finding.severity is Severity.WARNING])
    if opened.platform.engine != "local":
        raise UsageError(
            f"the platform's engine is `{opened.platform.engine}`, and `run` is for this machine",
            remedy="name a platform's file that says `engine: local` with --platform",
        )
    found, kinds = opened.repository, opened.platform.cards
    ours = [name for name in names if name not in found.fleets and name not in found.gangs]
    works = works_for(found, opened.platform, opened.team, ours)
    programs = programs_for(found, opened.platform, opened.team, [each for each in names if each not in ours])
    files = _files(opened, names)
    _refuse_settings(files)
    secrets = _secrets(files)
    _refuse_what_never_fits(files, chosen, kinds)
    session = Session(
        bucket=opened.platform.bucket,
        bucket_options=opened.platform.bucket_options,
        base=opened.base,
        world=chosen.world,
        ledger=Ledger(pretended_ledger(chosen.world, os.environ)) if pretends else Ledger(),
        environment=dict(os.environ),
        reread=_rereader(opened, platform),
        pretend=bool(pretends),
        pretends=pretends,
        secrets=secrets,
        sharer=sharer_of(opened.platform, opened.team),
    )
    with _display(plain=plain) as display:
        looking_on = display if metrics is None else MetricsFile(metrics, display, time.monotonic)
        ran = run_works(works, session, looking_on, programs)
    try:
        for run in ran.campaigns:
            say(summary(run, opened.root), opened.team.name, run.work.campaign, numbers(run))
        for program in ran.programs:
            say(program_summary(program), opened.team.name, program.program.name, {})
    except OSError:  # the work is done, whether somebody still reads of it or not
        discard_output()
    return _exit_code(ran)


def _warn(findings: list[Finding]) -> None:
    """Findings that stop nothing, on standard error."""
    if not wants_json(os.environ):
        show_warnings(findings)
        return
    for finding in findings:
        click.echo(finding_json(finding, time.time()), err=True)


def _world(asked: AskedWorld, *, pretend: bool) -> ChosenWorld:
    """The world to run on: this machine, or with ``--pretend`` one that is not here."""
    chosen = asked.chosen()
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


def _files(opened: Opened, names: tuple[str, ...]) -> list[Pipeline | Fleet | Gang]:
    """The files that say what is to be run: pipelines of the campaigns, fleets, gangs, each once."""
    found = opened.repository
    pipelines = sorted({found.campaigns[name].pipeline for name in names if name in found.campaigns})
    programs = [found.fleets.get(name) or found.gangs.get(name) for name in names]
    return [*(found.pipelines[each] for each in pipelines), *(each for each in programs if each is not None)]


def _refuse_settings(files: list[Pipeline | Fleet | Gang]) -> None:
    """Raise FindingsError for settings with which a step or a preparation cannot work."""
    findings = [
        finding for file in files if isinstance(file, Pipeline) for finding in settings_findings(file)
    ]
    if findings:
        raise FindingsError(findings)


def _secrets(files: list[Pipeline | Fleet | Gang]) -> Secrets:
    """The secrets that the files name; raises FindingsError when one of them cannot be had."""
    secrets, findings = read_secrets(files, secrets_folder(os.environ))
    if findings:
        raise FindingsError(findings)
    return secrets


def _refuse_what_never_fits(
    files: list[Pipeline | Fleet | Gang], chosen: ChosenWorld, kinds: Mapping[str, Card]
) -> None:
    """Raise FindingsError for needs that nothing here can meet, with the nearest device."""
    where = "on this machine" if chosen.is_here else f"in {chosen.name}"
    findings = [
        finding
        for file in files
        for finding in fit_findings(file, chosen.world, kinds, where=where, on_cluster=False)
    ]
    if findings:
        raise FindingsError(findings)


def _display(*, plain: bool) -> Display:
    log_to(sys.stderr, os.environ, ours=logging.WARNING)
    output = Text(os.dup(sys.stdout.fileno()))
    if wants_json(os.environ):
        return Display(JsonEvents(output))
    if plain or not output.isatty() or os.environ.get("TERM") == "dumb":
        return Display(PlainLines(output))
    return Display(LivePicture(output))


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
        return Settings(now.window, now.priority, lane.value, now.suspend, lane.preemptible)

    return reread


def _exit_code(ran: Ran) -> int:
    runs = ran.campaigns
    if any(run.halt is Halt.INTERRUPTED for run in runs):
        return EXIT_INTERRUPTED
    if any(never_began(run) for run in runs):
        return EXIT_WORLD
    if any(run.failures or run.halt in {Halt.ALIKE, Halt.NEVER_FITS, Halt.NOT_PREPARED} for run in runs):
        return EXIT_REFUSED
    if any(program.failed for program in ran.programs):
        return EXIT_REFUSED
    if any(run.halt is Halt.ASKED for run in runs) or any(each.halted for each in ran.programs):
        return EXIT_INTERRUPTED
    return EXIT_FINE
