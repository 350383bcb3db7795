"""What `allot doctor` asks of a cluster: by which platform, for which teams, of a live one or of a file."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Final

from allotment.answers import Answer, Check
from allotment.cli.cluster import client_for, hold_cluster, snapshot_for
from allotment.cli.shared import repository_identity
from allotment.errors import UsageError
from allotment.platform.find import find_platform
from allotment.platform.model import Platform, Team

if TYPE_CHECKING:
    from allotment.kubernetes.ready import Seen

PRINTED: Final = "allot render --platform-objects"


def cluster_checks(
    cluster: str | None, snapshot: Path | None, root: Path, option: Path | None, team: str | None
) -> Iterator[tuple[str, Check]]:
    """The checks of a cluster, or of a file of one, ready to be asked."""
    from allotment.kubernetes.ready import checks
    from allotment.kubernetes.ready.filed import of_snapshot

    read = None if snapshot is None else snapshot_for(cluster, snapshot)
    platform = _platform(root, option)
    teams = _teams(platform, root, team)
    seen = _asked(cluster, platform, teams) if read is None else of_snapshot(read, platform, teams)
    for name, check in checks(seen):
        yield name, partial(_as_called, check, option)


def _as_called(check: Check, option: Path | None) -> Iterator[Answer]:
    """The answers of a check, whose remedies name the platform's file as this call did."""
    for answer in check():
        named = "" if option is None else f" --platform {shlex.quote(str(option))}"
        yield replace(answer, remedy=answer.remedy.replace(PRINTED, f"{PRINTED}{named}"))


def _asked(cluster: str | None, platform: Platform, teams: tuple[Team, ...]) -> Seen:
    from allotment.kubernetes.ready.asking import look

    return look(client_for(cluster), platform, teams, now=time)


def _platform(root: Path, option: Path | None) -> Platform:
    """The platform's file, which must be one of a cluster's."""
    platform, where = find_platform(root, option=option, environ=os.environ)
    hold_cluster(platform, where, "no cluster can be held against it")
    return platform


def _teams(platform: Platform, root: Path, team: str | None) -> tuple[Team, ...]:
    """The team that is asked for, or whose repository this is; otherwise all of them."""
    if team is not None:
        return (platform.team_for((), team),)
    try:
        return (platform.team_for(repository_identity(root)),)
    except UsageError:
        return tuple(platform.teams.values())
