"""Findings as GitHub's workflow commands, which show them at their lines in a pull request.

Facts (the workflow commands of GitHub Actions): a command is ``::error name=value,name=value::message`` on a
line of its own. In the message ``%``, CR and LF are written ``%25``, ``%0D`` and ``%0A``; in a property's
value ``:`` and ``,`` too, as ``%3A`` and ``%2C``. Files are named as they lie in the checked-out repository.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from allotment.cli.forms.checked import Checked, closing_line
from allotment.cli.forms.files import Named, named
from allotment.cli.shared import safe
from allotment.errors import Finding, Severity

COMMANDS: Final[Mapping[Severity, str]] = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "notice",
}
IN_MESSAGE: Final = {ord("%"): "%25", ord("\r"): "%0D", ord("\n"): "%0A"}
IN_PROPERTY: Final = {**IN_MESSAGE, ord(":"): "%3A", ord(","): "%2C"}


def as_github(checked: Checked, folder: Path) -> str:
    """A command for each finding, files named from ``folder``, and a plain line that counts them."""
    return "\n".join([*(_command(finding, folder) for finding in checked.findings), closing_line(checked)])


def _command(finding: Finding, folder: Path) -> str:
    hint = f" ({finding.hint})" if finding.hint else ""
    message = safe(finding.message + hint, keep="\r\n").translate(IN_MESSAGE)
    values = ",".join(
        f"{name}={safe(value, keep=chr(13) + chr(10)).translate(IN_PROPERTY)}"
        for name, value in _properties(finding, named(finding.position.file, folder))
    )
    return f"::{COMMANDS[finding.severity]} {values}::{message}"


def _properties(finding: Finding, file: Named) -> Iterator[tuple[str, str]]:
    """Where the finding is shown; one about the whole repository has no file to stand at."""
    if file.is_file:
        yield "file", file.path
        yield "line", str(finding.position.line)
        yield "col", str(finding.position.column)
    yield "title", finding.rule
