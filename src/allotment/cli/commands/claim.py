"""`allot claim`: what a pipeline's need is as a claim, which devices would do, and why not the others."""

from __future__ import annotations

from pathlib import Path

import click

from allotment.cli.claimed import claimed
from allotment.cli.forms.claim import as_json, as_text, as_yaml
from allotment.cli.shared import output_option, world_options
from allotment.cli.world import AskedWorld, any_world
from allotment.errors import EXIT_FINE


@click.command(short_help="Print a pipeline's claim, and say which devices would do.")
@click.argument("pipeline", metavar="PIPELINE")
@world_options
@any_world
@output_option("yaml", "text", "json")
def command(
    pipeline: str,
    repository: Path,
    platform: Path | None,
    team: str | None,
    asked: AskedWorld,
    form: str,
) -> int:
    """Print the ResourceClaimTemplate of a pipeline, and say which devices would do.

    The devices are those of this machine, of files (--devices), of a fleet in words (--describe), or of a
    cluster (--cluster, --snapshot). What stands in the way of the others is said clause by clause, and where
    nothing would do, the nearest device and the value that would fit. The answer's YAML is valid as a whole:
    what is said stands in comments.
    """
    answer = claimed(pipeline, repository, asked, platform=platform, team=team)
    for line in {"yaml": as_yaml, "text": as_text, "json": as_json}[form](answer):
        click.echo(line)
    return EXIT_FINE
