"""Whose platform holds and why, and whether the repository's files are right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from allotment.answers import Answer, fine, note, problem
from allotment.errors import Finding, Severity
from allotment.platform.find import BUILT_IN, FILE_NAME, SYSTEM_FILE, VARIABLE, FoundPlatform
from allotment.repository.load import Loaded

MOST_SHOWN = 5


def platform(
    found: FoundPlatform, root: Path, *, option: Path | None, environ: Mapping[str, str]
) -> Iterator[Answer]:
    """Which platform holds, where it was found, and by which rule."""
    if found.origin == BUILT_IN:
        words = f"the built-in platform holds: no --platform, no {VARIABLE}, no {SYSTEM_FILE}, and "
        words += f"no {FILE_NAME} here that says `engine: local`"
    else:
        words = f"{found.origin} holds, {_why(found.origin, root, option, environ)}"
    yield fine("platform", words)
    yield from _findings("platform", found.findings)
    if found.platform.engine != "local":
        yield note("platform", f"its engine is `{found.platform.engine}`, so `allot run` refuses it here")


def _why(origin: str, root: Path, option: Path | None, environ: Mapping[str, str]) -> str:
    if option is not None:
        return "named by --platform"
    if environ.get(VARIABLE):
        return f"named by {VARIABLE}"
    if Path(origin) == SYSTEM_FILE:
        return "for everybody on this machine"
    return "since it says `engine: local`" if Path(origin) == root / FILE_NAME else "of an earlier platform"


def repository(root: Path, loaded: Loaded | None) -> Iterator[Answer]:
    """Whether the files of the repository here are right."""
    if loaded is None:
        words = f"{root.resolve()} is no repository of campaigns"
        yield note("repository", words, "name one with -C, or write one with `allot init DIR`")
        return
    yield from _findings("repository", loaded.findings)
    files, numbers = loaded.repository, []
    for number, word in (
        (len(files.pipelines), "pipeline"),
        (len(files.campaigns), "campaign"),
        (len(files.fleets), "fleet"),
        (len(files.gangs), "gang"),
    ):
        numbers += [f"{number} {word}{'s' if number != 1 else ''}"] if number else []
    if not loaded.errors:
        yield fine(
            "repository", f"{', '.join(numbers) or 'nothing yet'} in {root.resolve()}, without an error"
        )


def _findings(check: str, findings: Sequence[Finding]) -> Iterator[Answer]:
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    for finding in errors[:MOST_SHOWN]:
        yield problem(check, f"{finding.position} {finding.message}", finding.hint)
    if len(errors) > MOST_SHOWN:
        yield problem(check, f"and {len(errors) - MOST_SHOWN} errors more", "`allot check` lists them")
    others = len(findings) - len(errors)
    if others:
        yield note(check, f"{others} warning{'s' if others > 1 else ''} or notes", "`allot check` lists them")
