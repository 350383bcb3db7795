"""`allot convert`: manifests that count GPUs become claims, with a reason for each line that changes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

import click

from allotment.cli.columns import folded, terminal_width
from allotment.cli.json_text import json_text
from allotment.cli.shared import output_option, safe
from allotment.cli.writing import write_whole
from allotment.documents.source import Limits, read_source, source_of
from allotment.errors import EXIT_FINE, EXIT_REFUSED, AllotmentError, UsageError
from allotment.kubernetes.convert import Asked, Converted, Outcome, Verdict, convert, hunks
from allotment.platform.find import find_platform
from allotment.platform.model import Platform

FORMAT_VERSION: Final = 1
STANDARD_INPUT: Final = "-"
VERSION: Final = "1.36"
CLAIM, EXTENDED_RESOURCE = "claim", "extended-resource"
_VERSION: Final = re.compile(r"v?1\.(\d{1,3})(?:\.\d+)?")
_COLOURS: Final = {"-": "red", "+": "green"}
_BESIDE: Final = "  # "
_REASONS_FROM: Final = 64  # the column where reasons begin, beside lines that are not longer


@click.command(short_help="Turn manifests that count GPUs into claims, with reasons.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--as",
    "form_of_count",
    type=click.Choice((CLAIM, EXTENDED_RESOURCE)),
    default=CLAIM,
    show_default=True,
    help="Claims of each pod's own, or counts as they are through device classes.",
)
@click.option(
    "--kubernetes",
    "version",
    default=VERSION,
    show_default=True,
    metavar="VERSION",
    help="The cluster's version, on which depends what it honours.",
)
@click.option(
    "--platform",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="The platform's file, by which notes tell what its teams' namespaces ask for besides.",
)
@output_option("text", "yaml", "json")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=None, help="Write to a file.")
def command(
    files: tuple[str, ...],
    form_of_count: str,
    version: str,
    platform: Path | None,
    form: str,
    out: Path | None,
) -> int:
    """Turn Jobs, Deployments, Pods and the like that count GPUs into such as claim them.

    FILE may be `-` for standard input. By default a diff is shown with a reason beside each changed line;
    `-o yaml` prints the whole stream, in which everything that is not about GPUs is as it was, byte for byte.
    What cannot be converted is left alone and said, and the exit code is 1 then. Of what is for the namespace
    of a team of the platform is also said which labels it lacks there.
    """
    asked = Asked(_version(version), as_claims=form_of_count == CLAIM, platform=_platform(platform))
    done = tuple(convert(text, name, asked) for name, text in map(_read, files))
    if form == "yaml":
        _write(_stream(done), out)
        for line in (line for each in done for line in _words(each)):
            click.echo(line, err=True)
    else:
        lines = _as_text(done) if form == "text" else [json_text(_as_data(done))]
        _write("".join(f"{line}\n" for line in lines), out)
    return EXIT_FINE if all(each.is_whole for each in done) else EXIT_REFUSED


def _platform(option: Path | None) -> Platform | None:
    """The platform of a cluster, where there is one to be found: nothing needs it but some notes."""
    try:
        found, _ = find_platform(Path(), option=option, environ=os.environ)
    except AllotmentError:
        if option is not None:
            raise
        return None
    return found if found.engine == "kubernetes" else None


def _version(text: str) -> tuple[int, int]:
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"`{text}` is no version of Kubernetes", remedy="write one such as 1.36")
    return 1, int(found[1])


def _read(name: str) -> tuple[str, str]:
    """The name and the text of a file, or of standard input."""
    limits = Limits()
    if name == STANDARD_INPUT:
        data = sys.stdin.buffer.read(limits.bytes + 1)
        return "stdin", source_of(data, "stdin", limits).text
    return name, read_source(Path(name), name, limits).text


def _write(text: str, out: Path | None) -> None:
    """The text as it is, to the terminal or to a file (there without colours)."""
    if out is None:
        click.echo(text, nl=False)
        return
    write_whole(out, (click.unstyle(text) if "\x1b" in text else text).encode())


def _stream(done: tuple[Converted, ...]) -> str:
    """The files as one stream; a file alone is its own text."""
    text = ""
    for each in done:
        if text and not each.text.startswith("---"):
            text += "" if text.endswith("\n") else "\n"
            text += "---\n"
        text += each.text
    return text


def _as_text(done: tuple[Converted, ...]) -> Iterator[str]:
    for number, each in enumerate(done):
        if number:
            yield ""
        if each.is_changed:
            yield from _diff(each)
            yield ""
        yield from _words(each)


def _diff(each: Converted) -> Iterator[str]:
    """A unified diff, with the reason beside the first of the lines that share it, or above it."""
    width = terminal_width()
    yield click.style(safe(f"--- {each.name}"), bold=True)
    yield click.style(safe(f"+++ {each.name} (converted)"), bold=True)
    for hunk in hunks(each.changes):
        yield click.style(hunk.header, fg="cyan")
        before: tuple[str, ...] = ()
        for change in hunk.changes:
            line = safe(change.text.rstrip("\r\n"), keep="\t")
            if change.sign == " ":
                before = ()
                yield f" {line}"
                continue
            reason = "" if change.reasons == before else safe("; ".join(change.reasons))
            before = change.reasons
            yield from _reasoned(f"{change.sign}{line}", reason, _COLOURS[change.sign], width)


def _reasoned(line: str, reason: str, colour: str, width: int | None) -> Iterator[str]:
    """A changed line with its reason beside it; where a terminal has not the room, above it."""
    if not reason:
        yield click.style(line, fg=colour)
        return
    padded = line.ljust(_REASONS_FROM)
    if width is None or len(padded) + len(_BESIDE) + len(reason) <= width:
        yield click.style(padded, fg=colour) + click.style(f"{_BESIDE}{reason}", dim=True)
        return
    yield from (click.style(piece, dim=True) for piece in _comment(reason, width))
    yield click.style(line, fg=colour)


def _comment(reason: str, width: int) -> Iterator[str]:
    yield from (f"# {piece}" for piece in wrap(reason, width - len("# ")))


def _words(each: Converted) -> Iterator[str]:
    """What became of each object, and what there is to know."""
    if not each.outcomes:
        yield safe(f"{each.name}: nothing counts GPUs")
    for outcome in each.outcomes:
        yield safe(f"{outcome.position} {outcome.title}: {outcome.verdict}")
        said = [
            *(f"  left alone: {each}" for each in outcome.kept),
            *(f"  note: {each}" for each in outcome.notes),
        ]
        yield from (piece for words in said for piece in folded(safe(words), terminal_width()))
    if each.classes:
        import yaml

        yield "the administrator makes:"
        for one in each.classes:
            yield "---"
            yield yaml.safe_dump(one.to_dict(), sort_keys=False, width=10_000).rstrip()


def _as_data(done: tuple[Converted, ...]) -> dict[str, Any]:
    return {"format_version": FORMAT_VERSION, "files": [_file_data(each) for each in done]}


def _file_data(each: Converted) -> dict[str, Any]:
    old = new = 0
    changes = []
    for change in each.changes:
        old += change.sign != "+"
        new += change.sign != "-"
        if change.sign != " ":
            line = old if change.sign == "-" else new
            text = change.text.rstrip("\r\n")
            changes.append({"sign": change.sign, "line": line, "text": text, "reasons": list(change.reasons)})
    return {
        "file": each.name,
        "objects": [_object_data(outcome) for outcome in each.outcomes],
        "changes": changes,
        "device_classes": [one.to_dict() for one in each.classes],
        "text": each.text,
    }


def _object_data(outcome: Outcome) -> dict[str, Any]:
    return {
        "kind": outcome.kind,
        "name": outcome.name,
        "line": outcome.position.line,
        "verdict": _VERDICTS[outcome.verdict],
        "left_alone": list(outcome.kept),
        "notes": list(outcome.notes),
    }


_VERDICTS: Final = {
    Verdict.CONVERTED: "converted",
    Verdict.HONOURED: "honoured",
    Verdict.KEPT: "left-alone",
    Verdict.NOTED: "unchanged",
}
