"""`allot render`: what campaigns, fleets and gangs become on a cluster, as one YAML stream."""

from __future__ import annotations

import os
from pathlib import Path

import click

from allotment.cli.cluster import hold_cluster
from allotment.cli.shared import (
    SEVERITY_COLOURS,
    finding_line,
    repository_identity,
    safe,
    world_options,
    write_out,
)
from allotment.errors import EXIT_FINE, FindingsError, Severity, UsageError
from allotment.kubernetes.render import Rendered, render, to_stream
from allotment.kubernetes.render.platform import render_platform
from allotment.needs import need_findings
from allotment.platform.find import FILE_NAME, find_platform
from allotment.platform.model import SCHEDULERS, Platform
from allotment.repository import load_repository
from allotment.repository.model import HasNeed, Repository
from allotment.repository.select import selected_files


@click.command(short_help="Print what a cluster is to be given, as YAML.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@world_options
@click.option(
    "--scheduler",
    type=click.Choice(SCHEDULERS),
    default=None,
    help="Who places the pods (default: what the platform says).",
)
@click.option(
    "--gang-objects",
    is_flag=True,
    help="The cluster has gang objects (gate GenericWorkload): use those of its version.",
)
@click.option(
    "--platform-objects",
    is_flag=True,
    help="Print what the cluster needs before a team can use it, of the platform's file alone.",
)
@click.option(
    "--operate",
    default=None,
    metavar="IMAGE",
    help="With --platform-objects: the window controller too, out of this image (by digest).",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=None, help="Write to a file.")
def command(
    names: tuple[str, ...],
    repository: Path,
    platform: Path | None,
    team: str | None,
    scheduler: str | None,
    operate: str | None,
    out: Path | None,
    *,
    gang_objects: bool,
    platform_objects: bool,
) -> int:
    """Print what campaigns, fleets and gangs become on a cluster: one YAML stream, always the same bytes.

    Without names the whole repository is rendered; a pipeline comes with its campaigns. What is printed is
    the form in which objects are created. What a scheduler cannot express is said on standard error, and in
    comments of the stream.

    With --platform-objects it is what whoever runs the cluster applies: namespaces and who may write in them,
    device classes, queues, priority classes, an admission policy; with --operate IMAGE the window controller
    too, in a namespace of its own. What belongs into somebody's configuration
    stands in comments and is applied by nobody.
    """
    found, origin = find_platform(repository, option=platform, environ=os.environ)
    if platform_objects:
        if names or gang_objects:
            raise UsageError(
                "--platform-objects is made of the platform's file alone",
                remedy="leave out names and --gang-objects",
            )
        hold_cluster(found, origin, "no cluster needs anything for it")
        show(render_platform(found, scheduler, controller=operate), out)
        return EXIT_FINE
    if operate is not None:
        raise UsageError("--operate belongs to --platform-objects", remedy="add it, or leave out --operate")
    chosen = found.team_for(repository_identity(repository), team)
    loaded = _right(repository, names, found)
    rendered = render(loaded, found, chosen, scheduler=scheduler, gang_objects=gang_objects)
    show(rendered, out)
    return EXIT_FINE


def show(rendered: Rendered, out: Path | None) -> None:
    """The stream to its place, and the notes to whoever called."""
    write_out(to_stream(rendered).rstrip("\n"), out)
    for note in rendered.notes:
        label = click.style(note.kind, fg=SEVERITY_COLOURS[note.kind])
        click.echo(f"{label}: {safe(str(note))}", err=True)


def _right(root: Path, names: tuple[str, ...], platform: Platform) -> Repository:
    """The repository, or what the names mean of it; FindingsError when anything in it is wrong."""
    only = [path for path in selected_files(root, names) if path.name != FILE_NAME] if names else None
    loaded = load_repository(root, platform, only=only)
    repository = loaded.repository
    needing: list[HasNeed] = [
        *repository.pipelines.values(),
        *repository.fleets.values(),
        *repository.gangs.values(),
    ]
    version = platform.versions.kubernetes
    found = [finding for each in needing for finding in need_findings(each, platform.cards, version)]
    errors = [*loaded.errors, *(each for each in found if each.severity is Severity.ERROR)]
    if errors:
        raise FindingsError(errors)
    if not (repository.pipelines or needing):
        raise UsageError(
            "there is nothing here to render",
            where=str(root.resolve()),
            remedy="go to a repository, name one with -C, or write one with `allot init DIR`",
        )
    for finding in loaded.findings:
        click.echo(finding_line(finding), err=True)
    return repository
