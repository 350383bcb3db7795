"""`allot status` of a cluster or a snapshot: once, or again and again with few calls."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from allotment.cli import cluster as clusters
from allotment.cli.cluster import CURRENT
from allotment.cli.columns import folded, terminal_width
from allotment.cli.followed import Team, Unread, followed, has_file, pages_of, team_of
from allotment.cli.forms.followed import as_data, status_lines
from allotment.cli.json_text import json_text
from allotment.cli.shared import safe
from allotment.cli.words import clock
from allotment.errors import EXIT_FINE, AllotmentError, UsageError, WorldError
from allotment.events.model import CampaignView
from allotment.kubernetes.client import ApiError
from allotment.kubernetes.client.kubeconfig import access
from allotment.kubernetes.follow.again import again
from allotment.planning.why.on_cluster import with_devices

if TYPE_CHECKING:
    from allotment.kubernetes.client import Client
    from allotment.kubernetes.cluster import Snapshot

EVERY_SECONDS: Final = 5.0
WHOLE_EVERY: Final = 24
"""Every so many looks everything is read anew, nodes and queues too."""
MOST_IN_VAIN: Final = 60
"""After so many looks without an answer, which is five minutes at least, a watch ends."""


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
    _hold_name(cluster, root, names)
    seen = _seen(cluster, snapshot)
    whom = team_of(seen, root, names, platform=platform, team=team)
    live, looks, note, in_vain = _Live(cluster or CURRENT), 0, "", 0
    while True:
        _show(seen, whom, form=form, watch=watch, all_indexes=all_indexes, live=cluster is not None)
        if note:
            click.echo(f"note: {safe(note)}; this is how it stood {clock(seen.time, time.time())}", err=True)
        if not watch:
            return EXIT_FINE
        time.sleep(EVERY_SECONDS)
        looks += 1
        try:
            seen = _seen(cluster, None) if looks % WHOLE_EVERY == 0 else live.again(seen)
            note, in_vain = "", 0
        except (ApiError, WorldError) as error:
            note, in_vain = f"{error.what}; it is asked again every {EVERY_SECONDS:.0f} s", in_vain + 1
            if in_vain >= MOST_IN_VAIN:
                raise WorldError(error.what, error.where, error.remedy) from None


def _hold_name(cluster: str | None, root: Path, names: tuple[str, ...]) -> None:
    """A name behind ``--cluster`` is taken for its context: say so where it is a campaign's."""
    if cluster and not names and has_file(root, cluster):
        try:
            access(cluster, os.environ, Path.home())
        except AllotmentError:
            raise UsageError(
                f"`{cluster}` behind --cluster is the name of a context, and no context is called so",
                remedy=f"put names first: allot status {cluster} --cluster",
            ) from None
        words = f"`{cluster}` is taken for the context of that name; of the campaign alone it is"
        click.echo(f"note: {safe(words)} `allot status {safe(cluster)} --cluster`", err=True)


class _Live:
    """A cluster that is looked at again, over one connection."""

    def __init__(self, context: str) -> None:
        self.context = context
        self._client: Client | None = None

    def again(self, before: Snapshot) -> Snapshot:
        """What moves, read anew."""
        self._client = self._client or clusters.client_for(self.context)
        home = access(self.context or None, os.environ, Path.home()).namespace
        return again(self._client, before, time.time(), home=home)


def _seen(cluster: str | None, snapshot: Path | None) -> Snapshot:
    found = clusters.snapshot_for(cluster, snapshot)
    if found is None:
        raise UsageError("no cluster is named", remedy="--cluster [CONTEXT], or --snapshot FILE")
    return found


def _show(seen: Snapshot, team: Team, *, form: str, watch: bool, all_indexes: bool, live: bool) -> None:
    found = followed(seen, team)
    if not watch:  # a look at all devices takes longer than a look at what runs
        found = with_devices(seen, found)
    pages: dict[str, CampaignView | None] = {}
    unread: Unread | None = None
    for each in found:  # a bucket that did not answer once is not asked again in this look
        asked = live and each.kind == "campaign" and unread is None
        told = pages_of(team.opened, each.name, seen.time) if asked else None
        unread = told if isinstance(told, Unread) else unread
        pages[each.name] = None if isinstance(told, Unread) else told
    if form == "json":
        data = as_data(found, seen.time, seen.name, pages, "" if unread is None else unread.words)
        click.echo(json_text(data, indent=None if watch else 2))
        return
    lines = [
        line
        for each in found
        for line in status_lines(
            each, seen.time, pages[each.name], all_indexes=all_indexes, with_place=len(team.namespaces) > 1
        )
    ]
    if watch:
        click.clear()
    lines = lines or [f"nothing of ours is on {safe(seen.name)}"]
    if unread is not None:
        lines.append(click.style(f"note: {safe(unread.words)}", dim=True))
        lines += [f"  to do: {safe(unread.remedy)}"] if unread.remedy else []
    width = terminal_width()
    for line in lines:
        for piece in folded(line, width):
            click.echo(piece)
