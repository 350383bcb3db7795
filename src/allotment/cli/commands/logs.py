"""`allot logs`: what the workers of a volume wrote, or what prepared a campaign's recipe."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from allotment.buckets.keys import RecipeKeys
from allotment.cli.cluster import cluster_option, hint_at_cluster
from allotment.cli.opened import Opened, open_repository
from allotment.cli.shared import safe, world_options
from allotment.errors import AllotmentError, UsageError, did_you_mean
from allotment.running.attempts import read_attempts
from allotment.running.engine.control import newest_log, state_folder
from allotment.running.engine.work import Work

FOLLOW_SECONDS = 0.3


@click.command(name="logs")
@click.argument("volume", metavar="NAME")
@click.option(
    "--campaign", default=None, metavar="NAME", help="Which campaign, when several have the volume."
)
@click.option("--rank", type=int, default=0, metavar="N", help="Which process of a fleet or gang.")
@click.option("--attempt", type=int, default=None, metavar="N", help="Which attempt (default: the latest).")
@click.option("-f", "--follow", is_flag=True, help="Go on showing what is written, until Ctrl-C.")
@world_options
@cluster_option
def command(
    volume: str,
    campaign: str | None,
    rank: int,
    attempt: int | None,
    follow: bool,
    repository: Path,
    platform: Path | None,
    team: str | None,
    cluster: str | None,
) -> int:
    """Show what the worker of a volume wrote in its latest attempt; or, by name, a process of a fleet or a
    gang, or what prepared the recipe of a campaign.

    It is what was written on this machine; with --cluster, what its pod wrote there. A worker that takes
    several volumes has one log for all of them. On a cluster --attempt counts the pods that are still there.
    """
    if cluster is not None:
        from allotment.cli.pod_logs import Asked, show_pod_log

        asked = Asked(volume, campaign, rank, attempt)
        return show_pod_log(asked, cluster, repository, platform=platform, team=team, follow=follow)
    opened, names = open_repository(
        repository, platform=platform, team=team, campaigns=[campaign] if campaign else [], programs=True
    )
    hint_at_cluster(opened.platform, "these are logs of this machine")
    if volume in {*opened.repository.fleets, *opened.repository.gangs}:
        path = _log_of_program(opened, volume, rank)
    elif (prepared := _log_of_prepare(opened, volume)) is not None:
        path = prepared
    else:
        path = _log(opened, _work_of(opened, names, volume), volume, attempt)
    click.echo(f"{path}", err=True)
    for line in _lines(path, follow=follow):
        sys.stdout.write(safe(line, keep="\n\t"))
        sys.stdout.flush()
    return 0


def _work_of(opened: Opened, names: tuple[str, ...], volume: str) -> Work:
    campaigns = [opened.repository.campaigns[name] for name in names if name in opened.repository.campaigns]
    having = [campaign.name for campaign in campaigns if any(item.id == volume for item in campaign.volumes)]
    if len(having) == 1:
        return opened.work(having[0])
    if having:
        raise UsageError(
            f"several campaigns have a volume `{volume}`: {', '.join(having)}",
            remedy="say which with --campaign",
        )
    if volume in opened.repository.campaigns:
        ids = ", ".join(item.id for item in opened.repository.campaigns[volume].volumes[:5])
        raise UsageError(f"`{volume}` is a campaign", remedy=f"name one of its volumes, such as {ids}")
    known = {item.id for campaign in campaigns for item in campaign.volumes[:10_000]}
    raise UsageError(f"no campaign has a volume `{volume}`", remedy=did_you_mean(volume, known))


def _log(opened: Opened, work: Work, volume: str, number: int | None) -> Path:
    """The log of an attempt; without a number the newest, of a worker that never began one too."""
    newest = _newest_log(opened, work, volume)
    if number is None and newest is not None:
        return newest
    attempts = read_attempts(
        opened.bucket(), RecipeKeys(work.team, work.pipeline, work.recipe).volume(volume)
    )
    if not attempts:
        raise AllotmentError(f"`{volume}` has not been started yet", remedy="allot run starts it")
    chosen = attempts[-1:] if number is None else [one for one in attempts if one.number == number]
    if not chosen:
        numbers = ", ".join(str(attempt.number) for attempt in attempts)
        raise UsageError(f"`{volume}` has no attempt {number}", remedy=f"there are: {numbers}")
    path = Path(chosen[0].log)
    if not chosen[0].log or not path.exists():
        raise AllotmentError(
            f"the log of attempt {chosen[0].number} of `{volume}` is not on this machine",
            remedy=f"it was written on {chosen[0].host or 'another machine'}; only the newest runs are kept",
        )
    return path


def _newest_log(opened: Opened, work: Work, volume: str) -> Path | None:
    place = next(place for place, item in enumerate(work.volumes) if item.id == volume)
    bucket = opened.bucket_identity
    return newest_log(
        state_folder(os.environ), bucket, work.team, f"{work.campaign}-{place // work.pack}.log"
    )


def _log_of_prepare(opened: Opened, name: str) -> Path | None:
    """The newest log of what prepared a campaign's recipe, for it or for another campaign of that recipe."""
    campaigns = opened.repository.campaigns
    if name not in campaigns or any(volume.id == name for volume in campaigns[name].volumes):
        return None
    bucket, state = opened.bucket_identity, state_folder(os.environ)
    pipeline = campaigns[name].pipeline
    alike = [name, *(other for other, campaign in campaigns.items() if campaign.pipeline == pipeline)]
    logs = (newest_log(state, bucket, opened.team.name, f"{each}-prepare.log") for each in alike)
    return next((log for log in logs if log is not None), None)


def _log_of_program(opened: Opened, name: str, rank: int) -> Path:
    bucket = opened.bucket_identity
    path = newest_log(state_folder(os.environ), bucket, opened.team.name, f"{name}-{rank}.log")
    if path is None:
        raise AllotmentError(
            f"no process {rank} of `{name}` was started on this machine", remedy="allot run starts it"
        )
    return path


def _lines(path: Path, *, follow: bool) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="replace") as file:
        while True:
            line = file.readline()
            if line:
                yield line
            elif follow:
                time.sleep(FOLLOW_SECONDS)
            else:
                return
