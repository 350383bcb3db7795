"""A repository against what was used before: an earlier commit, and the record of an earlier platform.

Whoever proposes a change may propose anything; the commit that it will go into says what was used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from allotment.errors import Finding, Position, Severity, UsageError
from allotment.platform.model import Platform
from allotment.repository.before import Before, change_findings, removal_findings
from allotment.repository.files import CAMPAIGNS, SUFFIX, files_of
from allotment.repository.git import Git, NotComparedError
from allotment.repository.model import Repository
from allotment.repository.read_before import FOLDERS, before_of
from allotment.repository.rendered import Rendered


@dataclass(frozen=True, slots=True)
class Compared:
    """What differs from before, and what that is: a commit, or nothing."""

    findings: tuple[Finding, ...]
    base: str = ""


def compared(
    now: Repository,
    platform: Platform,
    rendered: Rendered,
    *,
    base: str | None,
    whole: bool,
    environ: Mapping[str, str],
) -> Compared:
    """Findings about what differs from before; ``whole`` tells that files that are gone are looked for too.

    Raises `UsageError` for a ``base`` that is asked for and cannot be had.
    """
    findings: list[Finding] = []
    name = ""
    try:
        earlier = Git(now.root, environ).earlier(FOLDERS, base)
    except NotComparedError as error:
        if base is not None:
            raise UsageError(error.reason, where="--base", remedy=error.hint) from None
        findings.append(_not_compared(now.root, error))
    else:
        name = earlier.name
        before = before_of(earlier, now, platform)
        findings += _against(before, now, whole=whole)
        findings += (_not_read(now.root, path, name) for path in before.unread)
        if earlier.doubt:
            findings.append(_not_compared(now.root, NotComparedError(earlier.doubt)))
    told = {(finding.position, finding.rule) for finding in findings}
    recorded = _against(rendered.before, now, whole=whole)
    findings += (each for each in recorded if (each.position, each.rule) not in told)
    return Compared((*findings, *rendered.findings), name)


def _against(before: Before, now: Repository, *, whole: bool) -> Iterator[Finding]:
    yield from change_findings(before, now)
    if whole:
        files = files_of(now.root, CAMPAIGNS)
        there = files.by_stem.keys() | files.misnamed
        yield from removal_findings(
            before, now, there, lambda name: str(now.root / CAMPAIGNS / f"{name}{SUFFIX}")
        )


def _not_read(root: Path, path: str, origin: str) -> Finding:
    message = f"what changed in it was not checked: as it was in {origin}, it could not be read"
    hint = "look at the change yourself: `git diff` shows it"
    return Finding(Position(str(root / path)), "before-not-checked", message, hint, Severity.WARNING)


def _not_compared(root: Path, error: NotComparedError) -> Finding:
    message = f"whether used campaigns and pipelines changed was not checked: {error.reason}"
    severity = Severity.NOTE if error.expected else Severity.WARNING
    return Finding(Position(str(root)), "before-not-checked", message, error.hint, severity)
