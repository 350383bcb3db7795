"""What `allot doctor` asks of a cluster: by which platform, for which teams, of a live one or of a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from allotment.answers import Check
from allotment.cli.cluster import client_for, snapshot_for
from allotment.cli.shared import repository_identity
from allotment.errors import UsageError
from allotment.platform.find import find_platform
from allotment.platform.model import ENGINES, Platform, Team

if TYPE_CHECKING:
    from allotment.kubernetes.ready import Seen

KUBERNETES = ENGINES[1]


def cluster_checks(
    cluster: str | None, snapshot: Path | None, root: Path, option: Path | None, team: str | None
) -> Iterator[tuple[str, Check]]:
    """The checks of a cluster, or of a file of one, ready to be asked."""
    from allotment.kubernetes.ready import checks
    from allotment.kubernetes.ready.filed import of_snapshot

    read = None if snapshot is None else snapshot_for(cluster, snapshot)
    platform = _platform(root, option)
    teams = _teams(platform, root, team)
    return checks(_asked(cluster, platform, teams) if read is None else of_snapshot(read, platform, teams))


def _asked(cluster: str | None, platform: Platform, teams: tuple[Team, ...]) -> Seen:
    from allotment.kubernetes.ready.asking import look

    return look(client_for(cluster), platform, teams, now=time)


def _platform(root: Path, option: Path | None) -> Platform:
    """The platform's file, which must be one of a cluster's."""
    platform, where = find_platform(root, option=option, environ=os.environ)
    if platform.engine != KUBERNETES:
        raise UsageError(
            f"the platform ({where}) says `engine: {platform.engine}`, and no cluster can be held against it",
            remedy="name the cluster's own file with --platform, which says `engine: kubernetes`",
        )
    return platform


def _teams(platform: Platform, root: Path, team: str | None) -> tuple[Team, ...]:
    """The team that is asked for, or whose repository this is; otherwise all of them."""
    if team is not None:
        return (platform.team_for((), team),)
    try:
        return (platform.team_for(repository_identity(root)),)
    except UsageError:
        return tuple(platform.teams.values())
