"""What a check looked at and found, as text for a person and as JSON for a program."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from allotment.cli.rules import RULES
from allotment.cli.shared import finding_data, finding_line, finding_words, safe
from allotment.errors import Finding, Severity
from allotment.pictures.counts import counted

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Checked:
    """What was looked at, and what was found.

    ``base`` is the commit that it was compared with, ``world`` what needs were held against. Of the findings
    ``about_all`` are notes on the repository as a whole.
    """

    findings: tuple[Finding, ...]
    pipelines: int
    campaigns: int
    volumes: int
    fleets: int
    gangs: int
    files: int
    origin: str
    base: str = ""
    world: str = ""
    about_all: tuple[Finding, ...] = ()

    def count(self, severity: Severity) -> int:
        """How many findings are of this severity."""
        return sum(finding.severity is severity for finding in self.findings)


def as_text(checked: Checked) -> str:
    """A line for each finding in a file, one that counts them, and notes on the repository as a whole."""
    lines = [finding_line(each) for each in checked.findings if each not in checked.about_all]
    return "\n".join([*lines, closing_line(checked), *map(finding_words, checked.about_all)])


def closing_line(checked: Checked) -> str:
    """What was found and how much was looked at, in one line without any text from a file."""
    read = (
        f"{counted(checked.pipelines, 'pipeline')} and {counted(checked.campaigns, 'campaign')} are right "
        f"({counted(checked.volumes, 'volume')})"
    )
    others = [counted(n, word) for n, word in ((checked.fleets, "fleet"), (checked.gangs, "gang")) if n]
    if others:
        read += f", and {' and '.join(others)}"
    if checked.base:
        read += f"; compared with {safe(checked.base)}"
    if checked.world:
        read += f"; needs held against {safe(checked.world)}"
    by_severity = Counter(finding.severity for finding in checked.findings)
    if not by_severity.keys() - {Severity.NOTE}:
        return f"nothing wrong in {counted(checked.files, 'file')}: {read}"
    counts = ", ".join(
        counted(by_severity[severity], severity) for severity in Severity if by_severity[severity]
    )
    return f"{counts} in {counted(checked.files, 'file')}; {read}"


def as_json(checked: Checked) -> str:
    """The findings as data, with the meaning of every rule that they name."""
    named = sorted({finding.rule for finding in checked.findings})
    summary = {f"{severity}s": checked.count(severity) for severity in Severity}
    value = {
        "format_version": FORMAT_VERSION,
        "platform": checked.origin,
        "compared_with": checked.base,
        "held_against": checked.world,
        "summary": {
            **summary,
            "files": checked.files,
            "pipelines": checked.pipelines,
            "campaigns": checked.campaigns,
            "volumes": checked.volumes,
            "fleets": checked.fleets,
            "gangs": checked.gangs,
        },
        "findings": [finding_data(finding) for finding in checked.findings],
        "rules": {rule: RULES[rule] for rule in named},
    }
    return json.dumps(value, indent=2)
