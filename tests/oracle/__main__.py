"""``python -m tests.oracle``: looks for scenarios on which our allocator and the published one differ.

Each one that is found is made small and written into a folder, with both answers.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from tests.conformance.outcomes import Outcome
from tests.go_programs import NoProgram
from tests.oracle.differing import answered, differences
from tests.oracle.go_oracle import MODULES, Oracle, program
from tests.oracle.scenarios import scenario
from tests.oracle.shrinking import shrunk


@click.command(help="Look for scenarios on which our allocator and the published one differ.")
@click.option("--behaviour", type=click.Choice(list(MODULES)), default="fixed")
@click.option("--first", type=int, default=0, help="The first seed.")
@click.option("--count", type=int, default=1000, help="How many seeds.")
@click.option("--most", type=int, default=10, help="Stop after so many differences.")
@click.option("--into", type=Path, help="The folder for what differs.")
def main(behaviour: str, first: int, count: int, most: int, into: Path | None) -> None:
    """Compares scenario by scenario."""
    try:
        built = program(behaviour, download=True)
    except NoProgram as fault:
        raise click.ClickException(str(fault)) from fault
    kinds: Counter[str] = Counter()
    found = 0
    with Oracle(built) as oracle:
        for seed in range(first, first + count):
            made = scenario(seed)
            kinds.update(_kind(answer) for answer in answered(oracle, behaviour, made)["answers"].values())
            if differences(oracle, behaviour, made):
                found += 1
                _tell(oracle, behaviour, made, into)
            if found >= most:
                break
    click.echo(f"{found} of {count} differ ({', '.join(f'{n} {kind}' for kind, n in kinds.most_common())})")
    sys.exit(1 if found else 0)


def _kind(answer: dict[str, Any]) -> str:
    if answer.get("skipped"):
        return "skipped"
    if answer.get("error"):
        return "error"
    return "given" if answer["results"] else "not given"


def _sorts(found: list[Outcome]) -> set[tuple[str, str, str]]:
    """What sort of difference it is: the words of errors without the names in them."""
    return {(each.feature, _sort(each.expected), _sort(each.found)) for each in found}


def _sort(said: object) -> str:
    return re.sub(r"\S*[/\d]\S*", "", said[0]) if isinstance(said, tuple) else type(said).__name__


def _tell(oracle: Oracle, behaviour: str, made: dict[str, Any], into: Path | None) -> None:
    first = differences(oracle, behaviour, made)
    features = _sorts(first)
    small = shrunk(made, lambda tried: _sorts(differences(oracle, behaviour, tried)) == features)
    click.echo(f"seed {made['id']}:")
    for outcome in differences(oracle, behaviour, small):
        click.echo(
            f"  {outcome.feature}\n    published {outcome.expected!r}\n    ours      {outcome.found!r}"
        )
    if into is not None:
        into.mkdir(parents=True, exist_ok=True)
        path = into / f"{behaviour}-{made['id']}.json"
        path.write_text(json.dumps(answered(oracle, behaviour, small), indent=1))
        click.echo(f"  {path}")


if __name__ == "__main__":
    main(prog_name="python -m tests.oracle")
