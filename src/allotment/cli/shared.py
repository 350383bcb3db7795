"""What commands share: options that mean the same everywhere, and text made safe for a terminal."""

from __future__ import annotations

import os
import shlex
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from allotment.cli.writing import write_whole
from allotment.errors import Finding, FindingsError, WorldError
from allotment.repository.git import Git

Command = Callable[..., Any]
_STEERING = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
REMOTE_SECONDS = 5.0

SEVERITY_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


def discard_output() -> None:
    """Let what standard output still holds, and all that comes, go nowhere: whoever read it has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def world_options(command: Command) -> Command:
    """The options ``--platform``, ``--team`` and ``-C/--repository``, as every command has them."""
    for option in reversed(
        (
            click.option(
                "-C",
                "--repository",
                type=click.Path(path_type=Path, file_okay=False, exists=True),
                default=Path(),
                help="The repository's folder (default: this folder).",
            ),
            click.option(
                "--platform",
                type=click.Path(path_type=Path, dir_okay=False),
                default=None,
                help="The platform's file (default: $ALLOT_PLATFORM, /etc/allotment, then the repository's).",
            ),
            click.option(
                "--team",
                default=None,
                metavar="NAME",
                help="Which team's repository this is; results lie below its name.",
            ),
        )
    ):
        command = option(command)
    return command


def output_option(*forms: str) -> Callable[[Command], Command]:
    """The option ``-o`` with the forms that a command has; the first is the default."""
    return click.option(
        "-o",
        "--output",
        "form",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        help="The form of the output.",
    )


def safe(text: str, *, keep: str = "") -> str:
    """Text from outside, with everything that could steer a terminal replaced by its code point."""
    return "".join(char if char in keep or is_shown(char) else escaped(char) for char in text)


def is_shown(char: str) -> bool:
    """Whether a terminal shows the character, and does nothing else about it."""
    return unicodedata.category(char) not in _STEERING


def escaped(char: str) -> str:
    """A control character as a reader can see it, such as ``\\x1b``."""
    return f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}"


def finding_line(finding: Finding) -> str:
    """One finding as a line, coloured where the terminal can show it."""
    place = click.style(safe(str(finding.position)), bold=True)
    return f"{place} {finding_words(finding)}"


def finding_words(finding: Finding) -> str:
    """One finding without its place, coloured where the terminal can show it."""
    severity = click.style(str(finding.severity), fg=SEVERITY_COLOURS[finding.severity])
    hint = f" ({safe(finding.hint)})" if finding.hint else ""
    return f"{severity} {finding.rule}: {safe(finding.message)}{hint}"


def finding_data(finding: Finding) -> dict[str, Any]:
    """One finding as programs read it."""
    return {
        "file": finding.position.file,
        "line": finding.position.line,
        "column": finding.position.column,
        "severity": str(finding.severity),
        "rule": finding.rule,
        "message": finding.message,
        "hint": finding.hint,
        "evidence": list(finding.evidence),
    }


def show_error(error: BaseException) -> None:
    """Say an error on standard error: its findings one a line, or its message and the remedy."""
    if isinstance(error, FindingsError):
        for finding in error.findings:
            click.echo(finding_line(finding), err=True)
        return
    label = click.style("error:", fg="red", bold=True)
    click.echo(f"{label} {safe(str(error), keep=chr(10))}", err=True)


def write_out(text: str, out: Path | None) -> None:
    """The text to the terminal, with its colours where it has any, or without them to a file."""
    if out is not None:
        write_whole(out, f"{click.unstyle(text)}\n".encode())
        return
    try:
        click.echo(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WorldError(f"it cannot be written: {error.strerror}", where="standard output") from None


def repository_identity(root: Path) -> tuple[str, ...]:
    """What a platform's file may call this repository: its folder, and its git remote where there is one."""
    remote = Git(root, os.environ, seconds=REMOTE_SECONDS).remote()
    return (str(root.resolve()), *([remote] if remote else []))


def called(command: str, root: Path) -> str:
    """How to call a command from here for a repository that may lie elsewhere: ``allot status -C DIR``.

    ``--platform`` and ``--team`` stand there as this call has them.
    """
    elsewhere = root.resolve() != Path.cwd().resolve()
    context = click.get_current_context(silent=True)
    given = {} if context is None else {key: context.params.get(key) for key in ("platform", "team")}
    options = {"-C": root if elsewhere else None, **{f"--{key}": value for key, value in given.items()}}
    words = [f" {key} {shlex.quote(str(value))}" for key, value in options.items() if value is not None]
    return f"allot {command}{''.join(words)}"
