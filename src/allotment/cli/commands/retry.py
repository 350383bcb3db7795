"""`allot retry`: let failed volumes be tried again by the next run."""

from __future__ import annotations

import getpass
import time
from pathlib import Path

import click

from allotment.buckets.keys import RecipeKeys
from allotment.buckets.opening import open_bucket
from allotment.cli.opened import open_repository
from allotment.cli.shared import world_options
from allotment.cli.words import counted
from allotment.errors import UsageError, did_you_mean
from allotment.running.attempts import mark_retry
from allotment.running.engine.looking import MarkedLook
from allotment.running.engine.standing import Standing


@click.command(name="retry")
@click.argument("campaign")
@click.argument("volumes", nargs=-1, metavar="[VOLUME]...")
@world_options
def command(
    campaign: str, volumes: tuple[str, ...], repository: Path, platform: Path | None, team: str | None
) -> int:
    """Let failed volumes of a campaign be tried again by the next run; without names, all that failed.

    Pages that are done stay done. A volume that has not failed is left alone.
    """
    opened, (name,) = open_repository(repository, platform=platform, team=team, campaigns=[campaign])
    work = opened.work(name)
    ids = [volume.id for volume in work.volumes]
    if unknown := [volume for volume in volumes if volume not in set(ids)]:
        raise UsageError(
            f"campaign `{name}` has no volume `{unknown[0]}`", remedy=did_you_mean(unknown[0], ids[:10_000])
        )
    bucket = open_bucket(opened.platform.bucket, opened.base, options=opened.platform.bucket_options)
    keys = RecipeKeys(work.team, work.pipeline, work.recipe)
    now = time.time()
    look, begun = MarkedLook(bucket, lambda: now), set(bucket.list_folders(keys.prefix))
    retried = 0
    for volume in volumes or ids:
        if volume not in begun or look(work, volume).standing is not Standing.FAILED:
            if volumes:
                click.echo(f"{volume} has not failed; left alone")
            continue
        mark_retry(bucket, keys.volume(volume), by=getpass.getuser(), now=now, sleep=time.sleep)
        retried += 1
    click.echo(
        f"{counted(retried, 'volume')} will be tried again: allot run {name}"
        if retried
        else "nothing has failed"
    )
    return 0
