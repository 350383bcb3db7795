"""`allot schema`: the JSON Schema of a kind of file, for editors and other checkers."""

from __future__ import annotations

import json
from pathlib import Path

import click

from allotment.cli.shared import write_out

KINDS = ("pipeline", "campaign", "fleet", "gang", "platform")


@click.command(short_help="Print the JSON Schema of a kind of file, for editors.")
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file instead.")
def command(kind: str, out: Path | None) -> int:
    """Print the JSON Schema (draft 2020-12) of a kind of file.

    An editor that is told of it completes keys and shows what they mean:

    \b
        allot schema campaign --out .schemas/campaign.json
        # yaml-language-server: $schema=../.schemas/campaign.json   (in the campaign's first line)

    A schema knows less than `allot check`: no platform, no other file, and not what was before.
    """
    from allotment.repository.schemas import schema_of

    write_out(json.dumps(schema_of(kind), indent=2, ensure_ascii=False), out)
    return 0
