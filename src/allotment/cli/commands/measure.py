"""`allot measure`: what pipelines used of a card, what they should ask for, and `measured.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from allotment.buckets.bucket import Bucket
from allotment.buckets.keys import RecipeKeys
from allotment.cli.forms.measured import Told, as_json, lines
from allotment.cli.json_text import json_text
from allotment.cli.opened import Opened, open_repository
from allotment.cli.shared import output_option, world_options
from allotment.cli.writing import write_whole
from allotment.errors import FindingsError, UsageError, did_you_mean
from allotment.planning.advice import advice_for
from allotment.planning.figures import read_figures, recipes_of
from allotment.planning.measure import measures_of
from allotment.repository.measured import FILE, Measured, merged, scan_measured_file, written
from allotment.repository.recipe import recipe_of


@click.command(name="measure")
@click.argument("names", nargs=-1, metavar="[PIPELINE|CAMPAIGN]...")
@click.option(
    "--write",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help=f"Put the figures into this file; `check` reads {FILE} of the repository.",
)
@output_option("text", "json")
@world_options
def command(
    names: tuple[str, ...],
    write: Path | None,
    form: str,
    repository: Path,
    platform: Path | None,
    team: str | None,
) -> int:
    """Say what pipelines used of a card, from the bucket's records, and what they should ask for."""
    opened, _ = open_repository(repository, platform=platform, team=team)
    wanted = _wanted(opened, names)
    bucket = opened.bucket()
    told = [_told(opened, bucket, pipeline, volumes) for pipeline, volumes in wanted.items()]
    if form == "json":
        click.echo(json_text(as_json(told)))
    else:
        click.echo("\n".join(line for each in told for line in lines(each)))
    if write is not None:
        entries = [measure.entry for each in told for measure, _ in each.measures if measure.entry]
        _write(write, entries, opened.root)
    return 0


def _wanted(opened: Opened, names: Sequence[str]) -> dict[str, set[str] | None]:
    """The pipelines to look at, each with the volumes that count (None: all that the bucket has)."""
    pipelines, campaigns = opened.repository.pipelines, opened.repository.campaigns
    if not names:
        return dict.fromkeys(sorted(pipelines))
    wanted: dict[str, set[str] | None] = {}
    for name in names:
        if name in pipelines:
            wanted[name] = None
        elif name in campaigns:
            campaign = campaigns[name]
            known = wanted.setdefault(campaign.pipeline, set())
            if known is not None:
                known.update(volume.id for volume in campaign.volumes)
        else:
            raise UsageError(
                f"there is no pipeline or campaign `{name}`",
                where=str(opened.root),
                remedy=did_you_mean(name, [*pipelines, *campaigns]),
            )
    return wanted


def _told(opened: Opened, bucket: Bucket, name: str, volumes: set[str] | None) -> Told:
    pipeline, team = opened.repository.pipelines[name], opened.team.name
    recipe = recipe_of(pipeline)
    figures = read_figures(bucket, RecipeKeys(team, name, recipe), volumes)
    measures = measures_of(name, recipe, figures)
    others = sum(each != recipe for each in recipes_of(bucket, team, name))
    with_advice = tuple((each, advice_for(each, pipeline.gpu, opened.platform)) for each in measures)
    return Told(name, recipe, with_advice, others, figures.unread)


def _write(path: Path, entries: Sequence[Measured], root: Path) -> None:
    """Put the entries into the file, in the place of those of the same recipe and card."""
    if not entries:
        click.echo(f"nothing is written to {path}: no use of device memory was measured", err=True)
        return
    found, findings = scan_measured_file(path)
    if findings:
        raise FindingsError(findings)
    write_whole(path, written(merged(found.entries, entries)).encode())
    count = "1 entry" if len(entries) == 1 else f"{len(entries)} entries"
    click.echo(f"{count} written to {path}", err=True)
    if path.resolve() != (root / FILE).resolve():
        click.echo(f"`check` reads {root / FILE}", err=True)
