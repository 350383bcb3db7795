"""`allot apply`: send a repository to a cluster; what is there already is left as it is."""

from __future__ import annotations

import getpass
import os
import socket
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from allotment.cli.checking import check
from allotment.cli.cluster import client_for, cluster_option, hold_cluster
from allotment.cli.ending import ended_by_term
from allotment.cli.progress import Progress
from allotment.cli.shared import (
    SEVERITY_COLOURS,
    finding_line,
    output_option,
    repository_identity,
    safe,
    show_error,
    world_options,
    write_out,
)
from allotment.errors import (
    EXIT_FINE,
    EXIT_REFUSED,
    EXIT_WORLD,
    Finding,
    FindingsError,
    Severity,
    UsageError,
    did_you_mean,
)
from allotment.platform.find import FILE_NAME, find_platform
from allotment.platform.model import Platform, Team, plain_location
from allotment.repository import load_repository
from allotment.repository.git import Git
from allotment.repository.model import HasNeed, Repository
from allotment.repository.select import selected_files

if TYPE_CHECKING:
    from allotment.kubernetes.apply import Refusal, Report
    from allotment.kubernetes.cluster import Snapshot

FORMS: Final = ("text", "json")


@click.command(short_help="Send campaigns, fleets and gangs to a cluster.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@cluster_option
@click.option(
    "--plan",
    "plan",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    default=None,
    metavar="FILE",
    help="Apply what `allot plan --cluster -o json` planned; refuse if files or cluster have moved since.",
)
@click.option("--dry-run", is_flag=True, help="Let the server try everything, and write nothing.")
@click.option("--prune", is_flag=True, help="Delete what is no longer in the repository; never results.")
@click.option("--allow-empty", is_flag=True, help="Let --prune delete everything of an empty repository.")
@click.option(
    "--again", multiple=True, metavar="NAME", help="Run a campaign or gang anew that has ended. Repeatable."
)
@click.option(
    "--gang-objects",
    is_flag=True,
    help="The cluster has gang objects (gate GenericWorkload): use those of its version.",
)
@click.option(
    "--images/--no-images", default=True, help="Ask the registries of new images first (default), or do not."
)
@world_options
@output_option(*FORMS)
@click.option("-v", "--verbose", is_flag=True, help="Show every object.")
def command(
    names: tuple[str, ...],
    cluster: str | None,
    plan: Path | None,
    again: tuple[str, ...],
    repository: Path,
    platform: Path | None,
    team: str | None,
    form: str,
    *,
    dry_run: bool,
    prune: bool,
    allow_empty: bool,
    gang_objects: bool,
    images: bool,
    verbose: bool,
) -> int:
    """Send campaigns, fleets and gangs to the cluster of a kubeconfig's context, for the repository's team.

    Everything is checked first, held against what is live, and tried by the server. What is refused is left
    out with the campaign that it belongs to, and the rest is sent; a repository with errors, or the wrong
    namespace, sends nothing. What is there already is left as it is: a second apply says that there is
    nothing to do. A campaign that has ended stays so after its Job is gone (--again runs it anew).

    With --plan what a saved plan says is applied, and nothing else: where a file, the platform, a node, a
    card, a queue or a workload is no longer as it was planned with, nothing is sent, and it is said what.

    Exits 0 when all is as the repository says, 1 when something was refused or failed, and 3 when the cluster
    did.
    """
    saved = None
    if plan is not None:
        from allotment.cli.plans.saved_plan import saved_plan

        others = [option for option, said in (("--prune", prune), ("--again", again)) if said]
        saved = saved_plan(plan, names, others=others)
        names = saved.saved.names
    found, loaded = _right(repository, names, platform, team)
    owner = found.team_for(repository_identity(repository), team)
    _hold_options(loaded, names, again, prune=prune, allow_empty=allow_empty)

    from allotment.cli.forms.applied import Applied, as_json, as_text
    from allotment.cli.unfit_images import registries, unfit_images
    from allotment.kubernetes.apply import Wish, World, anything, apply, repository_id
    from allotment.kubernetes.render.context import context_for

    client = client_for(cluster)
    mark = repository_id(_address(repository, owner))
    context = context_for(found, owner, gang_objects=gang_objects)

    progress = Progress("reading the cluster")

    def warn(finding: Finding) -> None:
        progress.end()
        click.echo(finding_line(finding), err=True)

    def impossible(live: Snapshot) -> dict[str, tuple[Refusal, ...]]:
        told_of = dict(_impossible(loaded, found, live))
        if images:
            progress("asking the registries of images")
            unfit = unfit_images(loaded, context, live, registries(), warn)
            told_of |= {name: (*told_of.get(name, ()), *told) for name, told in unfit.items()}
        return told_of

    wish = Wish(loaded, mark, again, prune, is_whole=not names)
    world = World(_holder(), time.time, time.sleep, progress)
    hold = anything if saved is None else saved.holds(loaded, found, context, client, progress)
    with progress, ended_by_term():
        if saved is not None and (elsewhere := saved.elsewhere(client.name)):
            _note(elsewhere)
        report = apply(client, context, wish, world, impossible=impossible, hold=hold, dry_run=dry_run)
    applied = Applied(report, client.name, owner.name, context.namespace, verbose)
    write_out({"text": as_text, "json": as_json}[form](applied), None)
    return _ended(report, form)


def _ended(report: Report, form: str) -> int:
    """What there is to say beside the report, and the exit code."""
    if form == "text" and not report.is_nothing:
        for note in report.said:
            _note(note)
    if isinstance(report.cut_short, KeyboardInterrupt):
        raise report.cut_short
    if isinstance(report.cut_short, Exception):
        show_error(report.cut_short)
        return EXIT_WORLD
    return EXIT_FINE if report.is_fine else EXIT_REFUSED


def _note(words: str) -> None:
    click.echo(f"{click.style('note', fg=SEVERITY_COLOURS['note'])}: {safe(words)}", err=True)


def _right(
    root: Path, names: tuple[str, ...], option: Path | None, team: str | None
) -> tuple[Platform, Repository]:
    """The platform and the repository, or what the names mean of it; raises for anything wrong in them."""
    found, origin = find_platform(root, option=option, environ=os.environ)
    hold_cluster(found, origin, "`allot apply` sends to a cluster")
    checked = check(root, names, platform=option, team=team)
    if checked.count(Severity.ERROR):
        raise FindingsError(each for each in checked.findings if each.severity is Severity.ERROR)
    for finding in checked.findings:
        if finding.severity is Severity.WARNING:
            click.echo(finding_line(finding), err=True)
    only = [path for path in selected_files(root, names) if path.name != FILE_NAME] if names else None
    return found, load_repository(root, found, only=only).checked()


def _hold_options(
    loaded: Repository, names: tuple[str, ...], again: tuple[str, ...], *, prune: bool, allow_empty: bool
) -> None:
    """Raise UsageError for options that do not go together, or name nothing."""
    if prune and names:
        raise UsageError("--prune looks at the whole repository", remedy="leave out the names")
    is_empty = not (loaded.campaigns or loaded.fleets or loaded.gangs)
    if prune and is_empty and not allow_empty:
        raise UsageError(
            "the repository has no campaign, fleet or gang, so --prune would delete everything of the team",
            remedy="add --allow-empty if that is what you want",
        )
    known = [*loaded.campaigns, *loaded.gangs]
    for name in again:
        if name not in known:
            raise UsageError(f"there is no campaign or gang `{name}` here", remedy=did_you_mean(name, known))


def _impossible(
    loaded: Repository, platform: Platform, live: Snapshot
) -> Iterator[tuple[str, tuple[Refusal, ...]]]:
    """Needs that no published device of the cluster meets, by what they are of. Without devices, nothing."""
    from allotment.kubernetes.apply import Refusal
    from allotment.kubernetes.cluster.world import world_of
    from allotment.kubernetes.kinds import SLICE
    from allotment.needs.fit_findings import fit_findings
    from allotment.needs.ways.choosing import able

    if not live.of(SLICE):
        return
    reading = world_of(live)
    if any(each.severity is Severity.ERROR for each in reading.findings):
        return
    who = able(platform, reading.world)
    faults: Mapping[str, tuple[Refusal, ...]] = {
        name: tuple(
            Refusal(each.message, each.hint)
            for each in fit_findings(needing, reading.world, platform.cards, where="in the cluster", able=who)
        )
        for name, needing in _needing(loaded)
    }
    campaigns = {name: f"pipelines/{each.pipeline}" for name, each in loaded.campaigns.items()}
    yield from ((f"campaigns/{name}", faults[of]) for name, of in campaigns.items() if faults[of])
    yield from ((name, told) for name, told in faults.items() if told and not name.startswith("pipelines/"))


def _needing(loaded: Repository) -> Iterator[tuple[str, HasNeed]]:
    yield from ((f"pipelines/{name}", each) for name, each in loaded.pipelines.items())
    yield from ((f"fleets/{name}", each) for name, each in loaded.fleets.items())
    yield from ((f"gangs/{name}", each) for name, each in loaded.gangs.items())


def _address(root: Path, team: Team) -> str | None:
    """What the repository is called wherever it is cloned; None for one that has no such name."""
    found = team.repository or Git(root, os.environ).remote()
    return None if found is None else plain_location(found)


def _holder() -> str:
    """Who applies, as others are told; no two applies have one name."""
    try:
        user = getpass.getuser()
    except OSError:
        user = f"user {os.getuid()}"
    return f"{user}@{socket.gethostname()}, process {os.getpid()}, {uuid.uuid4().hex[:6]}"
