"""`allot retry`: let failed volumes be tried again by the next run."""

from __future__ import annotations

import getpass
import time
from pathlib import Path

import click

from allotment.buckets.keys import RecipeKeys
from allotment.cli.opened import open_repository
from allotment.cli.shared import world_options
from allotment.errors import UsageError, did_you_mean
from allotment.pictures.counts import counted
from allotment.running.attempts import mark_retry
from allotment.running.engine.looking import MarkedLook
from allotment.running.engine.standing import Standing, VolumeStanding

MOST_SHOWN = 20
HOLES = "once they can be read, give them to a volume with a new id"


@click.command(name="retry")
@click.argument("campaign")
@click.argument("volumes", nargs=-1, metavar="[VOLUME]...")
@world_options
def command(
    campaign: str, volumes: tuple[str, ...], repository: Path, platform: Path | None, team: str | None
) -> int:
    """Let failed volumes of a campaign be tried again by the next run; without names, all that failed.

    Pages that are done stay done. A volume that has not failed is left alone: one that is complete is never
    read again, not even for pages of it that could not be read. Once they can be, give them to a volume with
    a new id. On a cluster the next run is that of `allot apply --again CAMPAIGN`. Fleets and gangs are run
    again by `allot run`, or by the same.
    """
    opened, (name,) = open_repository(repository, platform=platform, team=team, campaigns=[campaign])
    work = opened.work(name)
    ids = [volume.id for volume in work.volumes]
    if unknown := [volume for volume in volumes if volume not in set(ids)]:
        raise UsageError(
            f"campaign `{name}` has no volume `{unknown[0]}`", remedy=did_you_mean(unknown[0], ids[:10_000])
        )
    bucket = opened.bucket(create=True)
    keys = RecipeKeys(work.team, work.pipeline, work.recipe)
    now = time.time()
    look, begun = MarkedLook(bucket, lambda: now), set(bucket.list_folders(keys.prefix))
    retried, holes = 0, {}
    for volume in volumes or ids:
        found = look(work, volume) if volume in begun else VolumeStanding(volume, Standing.OPEN)
        if found.pages_failed and found.standing is Standing.COMPLETE:
            holes[volume] = found.pages_failed
        elif found.standing is not Standing.FAILED and volumes:
            click.echo(f"{volume} has not failed; left alone")
        if found.standing is not Standing.FAILED:
            continue
        mark_retry(bucket, keys.volume(volume), by=getpass.getuser(), now=now, sleep=time.sleep)
        retried += 1
    for volume, pages in list(holes.items())[:MOST_SHOWN]:
        click.echo(f"{volume} is complete, but for {counted(pages, 'page')}; it is not read again")
    if holes:
        click.echo(f"which pages, and why: allot results {name}; {HOLES}")
    if retried:
        there = opened.platform.engine == "kubernetes"
        how = f"allot apply --again {name}" if there else f"allot run {name}"
        click.echo(f"{counted(retried, 'volume')} will be tried again: {how}")
    elif not holes:
        click.echo("nothing has failed")
    return 0
