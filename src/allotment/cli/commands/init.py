"""`allot init DIR`: a repository that runs as it stands."""

from __future__ import annotations

import importlib.util
import shlex
from pathlib import Path

import click

from allotment import install_command


@click.command("init")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Write a repository into DIR (new or empty) that runs as it stands.

    It has two pipelines, two campaigns over three volumes of scanned pages, a platform's file for this
    machine, and a check for pull requests. Nothing that is there is ever overwritten.
    """
    from allotment.starter.write import write_starter

    written = write_starter(folder)
    pages = sum(1 for name in written if name.parts[0] == "scans")
    click.echo(
        f"wrote {len(written)} files to {click.format_filename(folder)}, {pages} of them scanned pages"
    )
    click.echo("\nnext:")
    if importlib.util.find_spec("rapidocr") is None:
        click.echo(f"  {install_command('ocr')}   # what the step `ocr` needs")
    if folder.resolve() != Path.cwd():
        click.echo(f"  cd {shlex.quote(click.format_filename(folder))}")
    click.echo("  allot check")
    click.echo("  allot run campaigns/*.yaml")
