"""`allot queues`: each team's share, what is in use of it, and what waits."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from allotment.cli.columns import folded, terminal_width
from allotment.cli.forms.queues import as_text
from allotment.cli.forms.queues_data import as_data
from allotment.cli.json_text import json_text
from allotment.cli.shared import output_option, write_out
from allotment.cli.world import AskedWorld, ChosenWorld, any_world
from allotment.errors import EXIT_FINE, UsageError, did_you_mean
from allotment.planning.queues import Shares

if TYPE_CHECKING:
    from allotment.kubernetes.cluster.snapshot import Snapshot


@click.command(short_help="Say what each team's share is, and what is in use of it.")
@click.argument("names", nargs=-1, metavar="[QUEUE]...")
@any_world
@click.option(
    "--platform",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="The platform's file (default: $ALLOT_PLATFORM, /etc/allotment, then this folder's).",
)
@click.option("--pretend", is_flag=True, help="Of runs here that pretend to have the world that is named.")
@click.option(
    "--over-time",
    "over_time",
    metavar="SPAN",
    default=None,
    help="How the teams of this machine stood over the last SPAN, such as 2h: text, json, or a page.",
)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=None, help="Write to a file.")
@output_option("text", "json", "html")
def command(
    names: tuple[str, ...],
    asked: AskedWorld,
    platform: Path | None,
    pretend: bool,
    over_time: str | None,
    out: Path | None,
    form: str,
) -> int:
    """Say what is guaranteed to each team, what it uses, borrows and lends, and what waits.

    Of a cluster (--cluster), of one as it was written down (--snapshot), or, with neither, of this machine by
    the platform's file. A quota is guaranteed; what of it is idle others may borrow, up to their limits, and
    it comes back by taking it from them; weights share out what nobody has a right to. A queue that is named
    is explained: how its numbers come about. Of a cluster with Kueue or KAI, the order of what waits follows,
    and what becomes of it by a model of those.

    Of a fleet in words (--describe) or in files (--devices) it is what the platform's file becomes there;
    with --pretend, how teams stand whose runs pretend to be on it.
    """
    if over_time is not None:
        if asked.is_said and not pretend:
            raise UsageError("--over-time is of this machine alone", remedy="leave the other world out")
        from allotment.cli.queues.teams_over_time import shares_text

        write_out(shares_text(platform, over_time, names, form), out)
        return EXIT_FINE
    if form == "html":
        raise UsageError("a page shows a course of time", remedy="add --over-time SPAN, such as 2h")
    pretended = asked.chosen() if pretend else None
    found = None if pretend else _cluster(asked, platform)
    shares = _named(_shares(found, platform, pretended), names)
    data, lines = as_data(shares), [*as_text(shares, terminal_width(), in_words=bool(names))]
    if found is not None:
        from allotment.cli.forms.outlook import queues_data, queues_lines
        from allotment.planning.outlook.asked import next_of_queues

        said = next_of_queues(found)
        data["next"] = queues_data(said, names)
        for model in said:
            told = [line for each in queues_lines(model, names) for line in folded(each, terminal_width())]
            lines += ["", *told] if told else []
    write_out(json_text(data) if form == "json" else "\n".join(lines), out)
    return EXIT_FINE


def _cluster(asked: AskedWorld, platform: Path | None) -> Snapshot | None:
    """The cluster that the options name or describe; None where they do neither."""
    if not asked.is_said:
        return None
    from allotment.cli.described import queues_asked

    return queues_asked(asked, platform)


def _shares(found: Snapshot | None, platform: Path | None, pretended: ChosenWorld | None) -> Shares:
    if found is not None:
        from allotment.planning.queues_of_cluster import shares_of_cluster

        return shares_of_cluster(found)
    return _of_file(platform, pretended)


def _of_file(option: Path | None, pretended: ChosenWorld | None) -> Shares:
    """The platform's teams, and how they stand on this machine if that is where they run."""
    from allotment.cli.queues.teams_here import standing_here
    from allotment.planning.queues_here import shares_here, shares_of_file
    from allotment.platform.find import find_platform

    platform, origin = find_platform(Path(), option=option, environ=os.environ)
    if platform.engine != "local":
        if pretended is not None:
            raise UsageError(
                f"--pretend is of runs on this machine, and the platform ({origin}) is a cluster's",
                remedy=f"leave --pretend out: `allot queues` tells of {pretended.name} by itself",
            )
        return shares_of_file(platform, origin)
    return shares_here(platform, origin, standing_here(pretended))


def _named(shares: Shares, names: Sequence[str]) -> Shares:
    known = {each.queue for each in shares.shares}
    for name in names:
        if name not in known:
            raise UsageError(
                f"there is no queue `{name}`", where=shares.name, remedy=did_you_mean(name, known)
            )
    kept = tuple(each for each in shares.shares if not names or each.queue in names)
    return replace(shares, shares=kept, quotas=() if names else shares.quotas)
