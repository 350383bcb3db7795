"""Which cluster a command looks at: ``--cluster [CONTEXT]`` in earnest, ``--snapshot FILE`` as it once stood.

What talks to a cluster is loaded when one is asked, and not before.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from allotment.cli.shared import Command, safe
from allotment.errors import UsageError

if TYPE_CHECKING:
    from allotment.kubernetes.client import Client
    from allotment.kubernetes.cluster.snapshot import Snapshot
    from allotment.kubernetes.kinds import Kind
    from allotment.platform.model import Platform

CURRENT: Final = ""
PIPE: Final = "-"


def cluster_option(command: Command) -> Command:
    """The option ``--cluster``: None where it is not given, empty for the current context."""
    return click.option(
        "--cluster",
        is_flag=False,
        flag_value=CURRENT,
        default=None,
        metavar="[CONTEXT]",
        help="The cluster of a kubeconfig's context, or of the current one.",
    )(command)


def snapshot_option(command: Command) -> Command:
    """The option ``--snapshot``: a cluster in a file, with its queues and work as far as they are there."""
    return click.option(
        "--snapshot",
        type=click.Path(path_type=Path, dir_okay=False, exists=True, allow_dash=True),
        default=None,
        metavar="FILE",
        help="A cluster as it once stood, with its queues and what runs there: what `allot snapshot` wrote "
        "or `kubectl get … -o yaml` prints. - reads a pipe.",
    )(command)


def cluster_options(command: Command) -> Command:
    """Both options, as commands that only read have them."""
    return cluster_option(snapshot_option(command))


def hint_at_cluster(platform: Platform, what: str) -> None:
    """Say on standard error that the platform's engine is elsewhere, where it is."""
    if platform.engine == "kubernetes":
        click.echo(f"note: {what}; with --cluster it is what the platform's cluster says", err=True)


def hold_cluster(platform: Platform, origin: str, so: str) -> None:
    """Raise UsageError where a platform is no cluster's; ``so`` says what cannot be done with it."""
    if platform.engine == "kubernetes":
        return
    raise UsageError(
        f"the platform ({origin}) says `engine: {platform.engine}`, which is this machine alone, and {so}",
        remedy="name the file of the cluster's platform, which says `engine: kubernetes`, with --platform or "
        "$ALLOT_PLATFORM (examples/cluster/cluster.yaml is one to begin with)",
    )


def client_for(context: str | None) -> Client:
    """The API of a context's cluster; without a name, of the current context's. Nothing is asked yet.

    Its connections are given up when the command ends.
    """
    from allotment.kubernetes.client import Client
    from allotment.kubernetes.client.connecting import connect

    transport = connect(context or None, os.environ, Path.home())
    command = click.get_current_context(silent=True)
    if command is not None:
        command.call_on_close(transport.close)
    return Client(transport)


def snapshot_for(
    cluster: str | None, snapshot: Path | None, *, namespaces: Sequence[str] = ()
) -> Snapshot | None:
    """The cluster that the options name, read now or from its file; None where they name none.

    Where the identity may not look at the cluster as a whole, its context's namespace is read.
    """
    if cluster is not None and snapshot is not None:
        raise UsageError("--cluster and --snapshot name two clusters", remedy="leave one of them out")
    if snapshot is not None:
        from allotment.kubernetes.cluster.file_reading import read_file, read_pipe

        if str(snapshot) == PIPE:
            return read_pipe(sys.stdin.buffer, now=time.time())
        return read_file(snapshot)
    return None if cluster is None else _read(cluster, namespaces)


def _read(context: str, namespaces: Sequence[str]) -> Snapshot:
    from allotment.kubernetes.client.kubeconfig import access
    from allotment.kubernetes.cluster.reading import read_snapshot

    client = client_for(context)
    home = access(context or None, os.environ, Path.home()).namespace
    try:
        return read_snapshot(
            client, now=time.time(), namespaces=namespaces, home=home, told=_progress(client.name)
        )
    finally:
        if sys.stderr.isatty():
            click.echo("\r\x1b[K", nl=False, err=True)


def _progress(name: str) -> Callable[[Kind, int], None]:
    """A line on a terminal that says how far the reading is."""
    counts: list[int] = []

    def told(kind: Kind, count: int) -> None:
        counts.append(count)
        if sys.stderr.isatty():
            line = f"reading {safe(name)}: {sum(counts):,} objects, {kind.plural}"
            click.echo(f"\r\x1b[K{line}", nl=False, err=True)

    return told
