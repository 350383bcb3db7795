"""Which files a repository has: by kind and stem, and those that look like ours and are not read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from allotment.errors import Finding, Position, Severity, WorldError
from allotment.platform.paths import is_within

PIPELINES: Final = "pipelines"
CAMPAIGNS: Final = "campaigns"
FLEETS: Final = "fleets"
GANGS: Final = "gangs"
KINDS: Final = (CAMPAIGNS, PIPELINES, FLEETS, GANGS)
SUFFIX: Final = ".yaml"
LIKE_OURS: Final = frozenset({".yaml", ".yml", ".json"})


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one kind by their stems, and the stems of files that only have the wrong name."""

    by_stem: dict[str, Path]
    misnamed: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = field(default=())


def files_of(root: Path, kind: str) -> Files:
    """The files of a kind: ``<kind>/<stem>.yaml`` and nothing else."""
    by_stem: dict[str, Path] = {}
    misnamed: set[str] = set()
    findings: list[Finding] = []
    inside = os.path.realpath(root)
    if not is_within(os.path.realpath(root / kind), inside):
        message = "this folder is a link that leads out of the repository, so it is not read"
        hint = "put the folder itself here"
        return Files({}, findings=(_error(root / kind, "file-escapes", message, hint),))
    for path in _listed(root / kind):
        if path.name.startswith("."):
            continue
        if path.suffix not in LIKE_OURS and path.suffix.lower() not in LIKE_OURS:
            findings.extend(_nested(path))
        elif path.suffix != SUFFIX:
            misnamed.add(path.stem)
            message = f"files here end in `{SUFFIX}`, and this one in `{path.suffix}`, so it is not read"
            findings.append(_error(path, "wrong-extension", message, f"rename it to {path.stem}{SUFFIX}"))
        elif path.is_symlink() and not is_within(os.path.realpath(path), inside):
            misnamed.add(path.stem)
            message = "this is a link that leads out of the repository"
            findings.append(_error(path, "file-escapes", message, "put the file itself here"))
        else:
            by_stem[path.stem] = path
    return Files(by_stem, frozenset(misnamed), tuple(findings))


def _listed(folder: Path) -> list[Path]:
    """What is in a folder, sorted by name; a folder that is not there is empty."""
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise WorldError(f"the folder cannot be read: {reason}", where=str(folder)) from None


def _nested(path: Path) -> Iterator[Finding]:
    """Warnings for files that look like ours and lie one folder too deep."""
    if path.is_dir() and not path.is_symlink():
        for below in _listed(path):
            if below.suffix in LIKE_OURS:
                message = f"files are read from `{path.parent.name}/` itself, and this one lies deeper"
                hint = f"move it to {path.parent / below.name}"
                yield Finding(Position(str(below)), "file-not-read", message, hint, Severity.WARNING)


def _error(path: Path, rule: str, message: str, hint: str) -> Finding:
    return Finding(Position(str(path)), rule, message, hint)
