"""``make conformance DATA=folder``: how far Allotment agrees with the systems that it stands in for.

The folder holds cases with the answers of the real thing; files that are not there are left out. A table of
suites and features, then what differs. Exit 1 where a suite agrees less than its floor (``conformance.toml``)
or the folder has no file that is known; 2 for a wrong call or a file that cannot be used.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from allotment.cli.columns import terminal_width
from tests.conformance import report
from tests.conformance.comparing import compare
from tests.conformance.floors import FILE, read_floors
from tests.conformance.outcomes import BrokenFile
from tests.conformance.progress import Progress
from tests.conformance.results import unread_files, weigh
from tests.conformance.suites import SUITES

NAMES = tuple(dict.fromkeys(name for suite in SUITES for name in (suite.group, suite.name)))


class _Unusable(click.ClickException):
    exit_code = 2


@click.command(help="Compare Allotment's decisions with recorded ones.")
@click.option("--data", type=Path, envvar="ALLOT_CONFORMANCE", help="The folder of cases.")
@click.option("--only", type=click.Choice(NAMES), multiple=True, help="This suite or group of suites.")
@click.option("--failures", type=click.IntRange(min=0), default=0, help="Show so many differences in full.")
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table", help="How to show it.")
@click.option("--floors", type=Path, default=FILE, help="What is asked of each suite; conformance.toml.")
def main(data: Path | None, only: tuple[str, ...], failures: int, output: str, floors: Path) -> None:
    """Runs the suites whose data are there."""
    if data is None or not data.is_dir():
        fault = "no folder is named" if data is None else f"{data} is not a folder"
        raise _Unusable(f"{fault}; name the folder of cases: make conformance DATA=folder")
    wanted = [suite for suite in SUITES if not only or {suite.name, suite.group} & set(only)]
    there = [suite for suite in wanted if (data / suite.path).exists()]
    absent = list(dict.fromkeys(suite.path for suite in wanted if suite not in there))
    try:
        asked = read_floors(floors, (suite.name for suite in SUITES))
        with Progress() as progress:
            compared = compare(data, there, progress.told)
        for suite in (each for each, found in compared.items() if not found):
            raise BrokenFile(f"{data / suite.path} holds no case of {suite.name}")
        unread = [] if only else unread_files(data, SUITES)
    except (BrokenFile, OSError) as fault:
        raise _Unusable(str(fault)) from fault
    results = weigh(compared, asked, absent, unread)
    if not there:
        click.echo(f"{data} has none of the files that are read: {', '.join(absent)}", err=True)
    if output == "json":
        click.echo(json.dumps(report.as_json(results), indent=2))
    else:
        for line in report.lines(results, failures, terminal_width()):
            click.echo(line)
        click.echo(report.last_line(results))
    sys.exit(results.exit_code)


if __name__ == "__main__":
    main(prog_name="python -m tests.conformance")
