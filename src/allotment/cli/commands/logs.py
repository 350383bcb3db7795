"""`allot logs`: what the workers of a volume wrote."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from allotment.buckets.keys import RecipeKeys
from allotment.cli.opened import Opened, open_repository
from allotment.cli.shared import safe, world_options
from allotment.errors import AllotmentError, UsageError, did_you_mean
from allotment.running.attempts import Attempt, read_attempts
from allotment.running.engine.work import Work

FOLLOW_SECONDS = 0.3


@click.command(name="logs")
@click.argument("volume")
@click.option(
    "--campaign", default=None, metavar="NAME", help="Which campaign, when several have the volume."
)
@click.option("--attempt", type=int, default=None, metavar="N", help="Which attempt (default: the latest).")
@click.option("-f", "--follow", is_flag=True, help="Go on showing what is written, until Ctrl-C.")
@world_options
def command(
    volume: str,
    campaign: str | None,
    attempt: int | None,
    follow: bool,
    repository: Path,
    platform: Path | None,
    team: str | None,
) -> int:
    """Show what the worker of a volume wrote in its latest attempt, on this machine.

    A worker that takes several volumes has one log for all of them.
    """
    opened, names = open_repository(
        repository, platform=platform, team=team, campaigns=[campaign] if campaign else []
    )
    work = _work_of(opened, names, volume)
    attempts = read_attempts(
        opened.bucket(), RecipeKeys(work.team, work.pipeline, work.recipe).volume(volume)
    )
    chosen = _chosen(attempts, attempt, volume)
    path = Path(chosen.log) if chosen.log else None
    if path is None or not path.exists():
        where = f" on {chosen.host}" if chosen.host else ""
        raise AllotmentError(
            f"the log of attempt {chosen.number} of `{volume}` is not on this machine",
            remedy=f"it was written{where}{f' to {path}' if path else ''}; only the newest runs are kept",
        )
    click.echo(f"{path}", err=True)
    for line in _lines(path, follow=follow):
        sys.stdout.write(safe(line, keep="\n\t"))
        sys.stdout.flush()
    return 0


def _work_of(opened: Opened, names: tuple[str, ...], volume: str) -> Work:
    campaigns = [opened.repository.campaigns[name] for name in names]
    having = [campaign.name for campaign in campaigns if any(item.id == volume for item in campaign.volumes)]
    if len(having) == 1:
        return opened.work(having[0])
    if having:
        raise UsageError(
            f"several campaigns have a volume `{volume}`: {', '.join(having)}",
            remedy="say which with --campaign",
        )
    ids = [item.id for campaign in campaigns for item in campaign.volumes[:10_000]]
    raise UsageError(f"no campaign has a volume `{volume}`", remedy=did_you_mean(volume, ids))


def _chosen(attempts: tuple[Attempt, ...], number: int | None, volume: str) -> Attempt:
    if not attempts:
        raise AllotmentError(f"`{volume}` has not been started yet", remedy="allot run starts it")
    if number is None:
        return attempts[-1]
    for attempt in attempts:
        if attempt.number == number:
            return attempt
    numbers = ", ".join(str(attempt.number) for attempt in attempts)
    raise UsageError(f"`{volume}` has no attempt {number}", remedy=f"there are: {numbers}")


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
