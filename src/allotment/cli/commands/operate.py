"""`allot operate`: the window controller, which widens and narrows campaigns that run on a cluster."""

from __future__ import annotations

import os
import signal
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

import click

from allotment.cli.cluster import CURRENT, client_for, cluster_option
from allotment.cli.ranges import NumberRange
from allotment.cli.shared import SEVERITY_COLOURS
from allotment.errors import EXIT_FINE, UsageError
from allotment.platform.find import find_platform
from allotment.platform.model import Platform, Team

if TYPE_CHECKING:
    from allotment.kubernetes.operate.loop import Operator

INTERVAL: Final = 10.0


class _EndedError(BaseException):
    """Somebody told this process to end; nothing on the way takes it for a failure."""


class _Clock:
    """The time, until somebody tells this process to end.

    What a signal raises is lost where Python clears something away just then, so it is raised again by the
    next look at the time.
    """

    def __init__(self) -> None:
        self._is_over = False

    def end(self, _number: int, _frame: FrameType | None) -> None:
        """The handler of the signal; one more changes nothing."""
        if self._is_over:
            return
        self._is_over = True
        raise _EndedError

    def now(self) -> float:
        """The time."""
        if self._is_over:
            raise _EndedError
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait, a little at a time."""
        ends = self.now() + seconds
        while (left := ends - self.now()) > 0:
            time.sleep(min(left, 1.0))


@click.command(short_help="Widen and narrow campaigns that run on a cluster.")
@cluster_option
@click.option("--platform", type=click.Path(path_type=Path, dir_okay=False), default=None, metavar="FILE")
@click.option("--team", default=None, metavar="TEAM", help="Only the campaigns of this team.")
@click.option("--once", is_flag=True, help="Look once, do what follows, say why of every Job, and end.")
@click.option("--dry-run", is_flag=True, help="Write nothing, and say what would be done.")
@click.option(
    "--interval", type=NumberRange(1, 600), default=INTERVAL, show_default=True, metavar="SECONDS",
    help="Look at least so often; what happens in between is looked at when it does.",
)  # fmt: skip
@click.option(
    "--settle", type=NumberRange(0, 86_400), default=20.0, show_default=True, metavar="SECONDS",
    help="Between two steps of one Job.",
)  # fmt: skip
@click.option(
    "--patience", type=NumberRange(1, 3600), default=10.0, show_default=True, metavar="SECONDS",
    help="Take a growth back that is not admitted for so long.",
)  # fmt: skip
@click.option(
    "--minimum-runtime", type=NumberRange(0, 1_000_000), default=None, metavar="SECONDS",
    help="Give nothing to peers for so long after a step (default: what the platform says).",
)  # fmt: skip
@click.option(
    "--grow/--no-grow", default=None,
    help="Ask for more (default: if the platform's Kueue starts such Jobs again after an eviction, as those "
    "since 0.19 do).",
)  # fmt: skip
@click.option(
    "--lease-namespace", default=None, metavar="NAMESPACE",
    help="Where the Lease is by which only one controller is at work (default: the team's, or the "
    "context's).",
)  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Say of every look why Jobs stay as they are.")
def command(
    cluster: str | None,
    platform: Path | None,
    team: str | None,
    interval: float,
    settle: float,
    patience: float,
    minimum_runtime: float | None,
    lease_namespace: str | None,
    *,
    once: bool,
    dry_run: bool,
    grow: bool | None,
    verbose: bool,
) -> int:
    """Widen campaigns while there is room without a victim, and narrow them for a peer whose quota they hold.

    It moves the width of Jobs that `allot apply` has sent, within the windows of their files, and nothing
    else; it keeps its hands off Jobs that somebody else moves. Every campaign finishes without it. A growth
    that is refused is taken back, and after an eviction a Job is lowered to what fits, to come back at once.
    To hold a Job by hand: `kubectl annotate job NAME allotment/at-most=2`.

    It goes on until it is told to end (SIGTERM: exit code 0). With ALLOT_LOG=json every line is an object.
    """
    from allotment.cli.forms.operating import Lines
    from allotment.kubernetes.apply.lease import Lease, Right
    from allotment.kubernetes.client.kubeconfig import access
    from allotment.kubernetes.operate import Pace
    from allotment.kubernetes.operate.loop import RIGHT, Operator
    from allotment.kubernetes.operate.reading import Scope
    from allotment.kubernetes.render.platform.controller import starts_again

    found, _ = find_platform(Path(), option=platform, environ=os.environ)
    owner = _owner(found, team)
    home = access(cluster or None, os.environ, Path.home()).namespace
    namespaces = () if owner is None else (owner.namespace or owner.name,)
    grows = starts_again(found.versions.kueue) if grow is None else grow
    runtime = found.defaults.minimum_runtime if minimum_runtime is None else minimum_runtime
    client = client_for(CURRENT if cluster is None else cluster)
    right = Right(RIGHT.name, RIGHT.to, RIGHT.doing, max(RIGHT.seconds, round(3 * interval)))
    place = lease_namespace or (namespaces[0] if namespaces else home)
    clock = _Clock()
    operator = Operator(
        client,
        Scope(namespaces, team, home),
        Lease(client, place, team, _holder(), time.time, right=right),
        Lines(os.environ, is_whole=once or dry_run or verbose),
        clock.now,
        clock.sleep,
        Pace(settle, patience, runtime, grows),
        dry_run=dry_run,
    )
    if not grows:
        _warn(found)
    return _run(operator, clock, interval, once=once or dry_run)


def _run(operator: Operator, clock: _Clock, interval: float, *, once: bool) -> int:
    with _ended_by_signal(clock):
        try:
            if once:
                operator.once()
            else:
                operator.forever(interval)
        except _EndedError:
            return EXIT_FINE
        finally:
            operator.end()
    return EXIT_FINE


def _owner(platform: Platform, team: str | None) -> Team | None:
    if team is None:
        return None
    if platform.engine == "kubernetes" and team not in platform.teams:
        known = ", ".join(platform.teams)
        raise UsageError(f"the platform has no team `{team}`", remedy=f"its teams: {known}")
    return platform.teams.get(team) or Team(team)


def _warn(platform: Platform) -> None:
    label = click.style("warning", fg=SEVERITY_COLOURS["warning"])
    words = (
        f"Kueue {platform.versions.kueue} does not start a Job again that has grown and is evicted, so "
        "nothing grows; --grow lets it"
    )
    click.echo(f"{label}: {words}", err=True)


def _holder() -> str:
    """Who operates, as others are told."""
    return (
        f"{os.environ.get('HOSTNAME') or socket.gethostname()}, process {os.getpid()}, {uuid.uuid4().hex[:6]}"
    )


@contextmanager
def _ended_by_signal(clock: _Clock) -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, clock.end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
