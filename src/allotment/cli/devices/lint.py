"""`allot devices lint`: whether what drivers publish is right, and what of it misleads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from allotment.cli.json_text import json_text
from allotment.cli.shared import finding_data, finding_line, output_option, safe, write_out
from allotment.errors import EXIT_FINE, EXIT_REFUSED, Finding, Position, Severity, UsageError
from allotment.pictures.counts import counted

if TYPE_CHECKING:
    from allotment.devices.lint import Linted

FORMAT_VERSION: Final = 1
_PIPE: Final = "-"


def as_text(linted: Linted) -> str:
    """A line for each finding with what was seen below it, and one that counts them."""
    return "\n".join([*_lines(linted.findings), _closing(linted)])


def as_json(linted: Linted) -> str:
    """The findings as data, with the meaning of every rule that they name."""
    from allotment.cli.rules import RULES

    value = {
        "format_version": FORMAT_VERSION,
        "summary": {
            **{f"{severity}s": linted.count(severity) for severity in Severity},
            "files": linted.files,
            "slices": linted.slices,
            "devices": linted.devices,
        },
        "findings": [finding_data(finding) for finding in linted.findings],
        "rules": {rule: RULES[rule] for rule in sorted({each.rule for each in linted.findings})},
    }
    return json_text(value)


FORMS: Final[Mapping[str, Callable[[Linted], str]]] = {"text": as_text, "json": as_json}


@click.command(name="lint", short_help="Check what drivers publish: slices out of files, or a pipe.")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, allow_dash=True), metavar="[FILE|-]...")
@click.option(
    "--devices",
    "more_files",
    multiple=True,
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="A file, as other commands take it; may be given again.",
)
@click.option("--describe", metavar="TEXT", default=None, help="A fleet in words instead of files.")
@click.option(
    "--kubernetes",
    metavar="VERSION",
    default=None,
    help="Hold them to what this version takes with its gates as they come, such as 1.36; otherwise to what "
    "any version takes.",
)
@output_option(*FORMS)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file instead.")
@click.option("--strict", is_flag=True, help="Exit 1 for warnings too.")
def command(
    files: tuple[Path, ...],
    more_files: tuple[Path, ...],
    describe: str | None,
    kubernetes: str | None,
    form: str,
    *,
    out: Path | None,
    strict: bool,
) -> int:
    """Check what drivers publish: names, types, units, memory, counters, identities, pools.

    `kubectl get resourceslices -o yaml | allot devices lint -` looks at a cluster; without a file the devices
    of this machine are looked at, as Allotment publishes them. Each finding has its rule, its place, what was
    seen, and what to do; `allot explain RULE` says more.

    Exits 0 when nothing is wrong (warnings are allowed, unless --strict), and 1 otherwise.
    """
    linted = _linted((*files, *more_files), describe, kubernetes)
    write_out(FORMS[form](linted), out)
    failed = linted.count(Severity.ERROR) or (strict and linted.count(Severity.WARNING))
    return EXIT_REFUSED if failed else EXIT_FINE


def _linted(files: tuple[Path, ...], describe: str | None, kubernetes: str | None) -> Linted:
    from allotment.cli.world import chosen_world
    from allotment.devices.lint import lint_files, lint_slices
    from allotment.devices.server import ANY_SERVER, Server, is_version, outside_words

    if kubernetes is not None and not is_version(kubernetes):
        raise UsageError(f"{kubernetes} is no version of Kubernetes", remedy="write it as 1.36")
    if files and describe is not None:
        raise UsageError("a file and --describe name two worlds", remedy="leave one of them out")
    if not files:
        chosen = chosen_world((), describe)
        return lint_slices(chosen.world.slices, chosen.name)
    for path in files:
        if str(path) != _PIPE and not path.exists():
            raise UsageError(
                f"there is no file {path}",
                remedy=f"kubectl get resourceslices,deviceclasses,nodes -o yaml > {path}",
            )
    if kubernetes is None:
        return lint_files(files, server=ANY_SERVER)
    linted = lint_files(files, server=Server.of(kubernetes))
    words = outside_words(kubernetes)
    if words is None:
        return linted
    hint = "rules that changed in between are not looked at"
    told = Finding(Position("--kubernetes"), "unknown-kubernetes", words, hint, Severity.WARNING)
    return replace(linted, findings=(told, *linted.findings))


def _lines(findings: tuple[Finding, ...]) -> Iterator[str]:
    for finding in findings:
        yield finding_line(finding)
        yield from (click.style(f"    {safe(line)}", dim=True) for line in finding.evidence)


def _closing(linted: Linted) -> str:
    looked_at = f"{counted(linted.slices, 'slice')} with {counted(linted.devices, 'device')}"
    by_severity = Counter(finding.severity for finding in linted.findings)
    if not by_severity:
        return f"nothing odd: {looked_at}"
    counts = ", ".join(counted(by_severity[each], each) for each in Severity if by_severity[each])
    first = linted.findings[0].rule
    return f"{counts} in {looked_at}; `allot explain RULE` says more, such as `allot explain {first}`"
