"""One tree of errors, and the findings that a check collects.

Every message answers four questions: what is wrong, where, why, and what to do. An error is raised once and
shown once, by the command line, which turns it into an exit code (FORMATS: 0 fine, 1 findings or refusals,
2 usage, 3 the world failed, 130 interrupted). A finding is data: checks collect all of them before anybody
is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum

EXIT_FINE = 0
EXIT_REFUSED = 1
EXIT_USAGE = 2
EXIT_WORLD = 3
EXIT_INTERRUPTED = 130


class Severity(StrEnum):
    """How much a finding matters: only an error makes a check fail (a warning too, with ``--strict``)."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a file: the path as the user would type it, line and column from 1, in code points."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found.

    ``rule`` is a stable id in kebab-case, ``message`` says what is wrong and why, ``hint`` what to do.
    ``evidence`` is what was seen, a line each: which device, which value.
    """

    position: Position
    rule: str
    message: str
    hint: str = ""
    severity: Severity = Severity.ERROR
    evidence: tuple[str, ...] = ()

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.position} {self.severity} {self.rule}: {self.message}{hint}"


@dataclass(eq=False)
class AllotmentError(Exception):
    """What went wrong, said to a person: ``what`` happened, ``where``, and the ``remedy``."""

    what: str
    where: str = ""
    remedy: str = ""
    exit_code: int = field(default=EXIT_REFUSED, kw_only=True)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        remedy = f"\n  {self.remedy}" if self.remedy else ""
        return f"{place}{self.what}{remedy}"


def in_one_line(error: BaseException) -> str:
    """What went wrong, and behind a semicolon what to do."""
    text, remedy = str(error), error.remedy if isinstance(error, AllotmentError) else ""
    parts = (text.removesuffix(remedy).rstrip(" .;\n"), remedy) if remedy else (text,)
    return "; ".join(" ".join(part.split()) for part in parts if part.strip())


@dataclass(eq=False)
class UsageError(AllotmentError):
    """The command was called wrongly: a name that does not exist, options that exclude each other."""

    exit_code: int = field(default=EXIT_USAGE, kw_only=True)


@dataclass(eq=False)
class WorldError(AllotmentError):
    """Something outside failed: the bucket, the device ledger, the machine."""

    exit_code: int = field(default=EXIT_WORLD, kw_only=True)


class FindingsError(AllotmentError):
    """Files with findings were needed to be right; carries all of them, sorted by place."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = sorted_findings(findings)
        super().__init__("\n".join(str(finding) for finding in self.findings))


def sorted_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings in the order in which a person meets them: by file, line, column, then rule."""
    return tuple(sorted(findings, key=lambda finding: (finding.position, finding.rule, finding.message)))


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """A hint that names the closest known word, or all of them when they are few, or nothing."""
    words = sorted(known)
    close = get_close_matches(wrong, words, n=1, cutoff=0.6)
    if close:
        return f"did you mean `{close[0]}`?"
    if 0 < len(words) <= 12:
        return "known: " + ", ".join(f"`{word}`" for word in words)
    return ""
