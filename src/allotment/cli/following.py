"""`allot status` of a cluster or a snapshot: once, or again and again with few calls."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from allotment.cli import cluster as clusters
from allotment.cli.followed import Team, followed, pages_of, team_of
from allotment.cli.forms.followed import as_data, status_lines
from allotment.errors import EXIT_FINE, UsageError

if TYPE_CHECKING:
    from allotment.kubernetes.cluster import Snapshot

EVERY_SECONDS: Final = 5.0
WHOLE_EVERY: Final = 24
"""Every so many looks everything is read anew, nodes and queues too."""


def follow_cluster(
    names: tuple[str, ...],
    *,
    cluster: str | None,
    snapshot: Path | None,
    root: Path,
    platform: Path | None,
    team: str | None,
    form: str,
    watch: bool,
    all_indexes: bool,
) -> int:
    """Say how things stand there; with ``watch`` again and again until Ctrl-C."""
    if watch and snapshot is not None:
        raise UsageError("a snapshot does not change", remedy="leave -w out, or look at the --cluster itself")
    seen = _seen(cluster, snapshot)
    whom = team_of(seen, root, names, platform=platform, team=team)
    looks = 0
    while True:
        _show(seen, whom, form=form, watch=watch, all_indexes=all_indexes, live=cluster is not None)
        if not watch:
            return EXIT_FINE
        time.sleep(EVERY_SECONDS)
        looks += 1
        seen = _seen(cluster, None) if looks % WHOLE_EVERY == 0 else _again(cluster, seen)


def _seen(cluster: str | None, snapshot: Path | None) -> Snapshot:
    found = clusters.snapshot_for(cluster, snapshot)
    if found is None:
        raise UsageError("no cluster is named", remedy="--cluster [CONTEXT], or --snapshot FILE")
    return found


def _again(cluster: str | None, before: Snapshot) -> Snapshot:
    from allotment.kubernetes.client.kubeconfig import access
    from allotment.kubernetes.follow.again import again

    home = access(cluster or None, os.environ, Path.home()).namespace
    return again(clusters.client_for(cluster), before, time.time(), home=home)


def _show(seen: Snapshot, team: Team, *, form: str, watch: bool, all_indexes: bool, live: bool) -> None:
    found = followed(seen, team)
    pages = {each.name: pages_of(team.opened, each.name, seen.time) if live else None for each in found}
    if form == "json":
        data = as_data(found, seen.time, seen.name, pages)
        click.echo(json.dumps(data, ensure_ascii=False, indent=None if watch else 2))
        return
    lines = [
        line
        for each in found
        for line in status_lines(each, seen.time, pages[each.name], all_indexes=all_indexes)
    ]
    if watch:
        click.clear()
    for line in lines or [f"nothing of ours is on {seen.name}"]:
        click.echo(line)
