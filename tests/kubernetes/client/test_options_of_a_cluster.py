"""The option ``--cluster``: given with a context, bare, or not at all."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from allotment.cli.cluster import cluster_options


@click.command
@cluster_options
def _told(cluster: str | None, snapshot: object) -> None:
    print(repr(cluster))


@pytest.mark.parametrize(
    ("words", "got"),
    [
        ([], "None"),
        (["--cluster"], "''"),
        (["--cluster="], "''"),
        (["--cluster", "blue"], "'blue'"),
        (["--cluster=blue"], "'blue'"),
    ],
)
def test_a_context_is_given_is_current_or_is_not_asked_for(words: list[str], got: str) -> None:
    assert CliRunner().invoke(_told, words).output.strip() == got
