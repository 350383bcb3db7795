"""Which cluster a command looks at: ``--cluster [CONTEXT]`` in earnest, ``--snapshot FILE`` as it once stood.

What talks to a cluster is loaded when one is asked, and not before.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from allotment.cli.shared import Command

if TYPE_CHECKING:
    from allotment.kubernetes.client import Client

CURRENT: Final = ""


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
    """The option ``--snapshot``: a file that `allot snapshot` wrote."""
    return click.option(
        "--snapshot",
        type=click.Path(path_type=Path, dir_okay=False, exists=True),
        default=None,
        metavar="FILE",
        help="A cluster as `allot snapshot` wrote it down.",
    )(command)


def cluster_options(command: Command) -> Command:
    """Both options, as commands that only read have them."""
    return cluster_option(snapshot_option(command))


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
