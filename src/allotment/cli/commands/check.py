"""`allot check`: every finding about the files of a repository, at once, without running anything of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from allotment.cli.checking import check
from allotment.cli.forms.checked import Checked, as_json, as_text
from allotment.cli.forms.github import as_github
from allotment.cli.forms.sarif import as_sarif
from allotment.cli.shared import output_option, world_options, write_out
from allotment.cli.world import AskedWorld, any_world
from allotment.errors import (
    EXIT_FINE,
    EXIT_REFUSED,
    Severity,
)

FORMS: Mapping[str, Callable[[Checked], str]] = {
    "text": as_text,
    "json": as_json,
    "github": lambda checked: as_github(checked, Path()),
    "sarif": lambda checked: as_sarif(checked, Path()),
}


@click.command(short_help="Check pipelines, campaigns and the platform's file, offline.")
@click.argument("names", nargs=-1, metavar="[NAME|FILE]...")
@world_options
@any_world
@click.option(
    "--base",
    metavar="REF",
    default=None,
    help="The commit or branch to compare with (default: where this branch left the main branch).",
)
@output_option(*FORMS)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file instead.")
@click.option("--images", is_flag=True, help="Ask the registries of images whether workers can run in them.")
@click.option("--strict", is_flag=True, help="Exit 1 for warnings too.")
def command(
    names: tuple[str, ...],
    repository: Path,
    platform: Path | None,
    team: str | None,
    asked: AskedWorld,
    base: str | None,
    form: str,
    out: Path | None,
    *,
    images: bool,
    strict: bool,
) -> int:
    """Check pipelines, campaigns and the platform's file: every finding at once, with its place.

    Without names the whole repository is checked. A campaign's pipeline is checked with it. Nothing is run,
    nothing is fetched, and no step is imported. With --devices, --describe, --cluster or --snapshot a need
    that nothing in that world can meet is an error, with the nearest device and the value that would fit.
    With --images the registry of each image is asked whether it is there, for which platforms, and with a
    runner in it.

    Used campaigns and pipelines are compared with an earlier commit: volumes are only ever added at the end,
    and a pipeline that campaigns use keeps its image and steps. Without git a note says that this was left.

    Exits 0 when nothing is wrong (warnings are allowed, unless --strict), and 1 otherwise.
    """
    world = asked.chosen() if asked.is_said else None
    fetch = None
    if images:
        from allotment.kubernetes.images.registry import Registries

        fetch = Registries(os.environ)
    checked = check(repository, names, platform=platform, team=team, world=world, base=base, images=fetch)
    write_out(FORMS[form](checked), out)
    failed = checked.count(Severity.ERROR) or (strict and checked.count(Severity.WARNING))
    return EXIT_REFUSED if failed else EXIT_FINE
