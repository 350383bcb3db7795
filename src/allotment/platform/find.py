"""Whose platform it is: the file that holds, by the order in which it is looked for.

``--platform``, then ``ALLOT_PLATFORM``, then ``/etc/allotment/platform.yaml``, then the repository's own
``platform.yaml`` if and only if it says ``engine: local``, then what the settings of an earlier platform
mean that lie in the repository (`allotment.platform.converter`), then the built-in one. A team's repository
cannot change what a cluster allows: that is why its own file counts for this machine alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from allotment.errors import Finding, FindingsError, Position, Severity, UsageError
from allotment.platform.converter import Converter, platform_of, with_defaults
from allotment.platform.converter_file import CONVERTER_FILE, scan_converter
from allotment.platform.file import scan_platform
from allotment.platform.file_shapes import platform_record
from allotment.platform.model import Platform
from allotment.platform.paths import is_within

BUILT_IN: Final = "built in"
VARIABLE: Final = "ALLOT_PLATFORM"
SYSTEM_FILE: Final = Path("/etc/allotment/platform.yaml")
FILE_NAME: Final = "platform.yaml"
A_FILE: Final = "name a file that exists; examples/cluster/cluster.yaml is one of a cluster to begin with"


@dataclass(frozen=True, slots=True)
class FoundPlatform:
    """The platform that holds, the file it came from (or "built in"), and what was found in that file.

    ``converter`` holds the settings of an earlier platform, where the repository has them.
    """

    platform: Platform
    origin: str
    findings: tuple[Finding, ...] = ()
    converter: Converter | None = None


def find_platform(
    root: Path, *, option: Path | None, environ: Mapping[str, str], system_file: Path = SYSTEM_FILE
) -> tuple[Platform, str]:
    """The platform that holds for a repository and where it came from; raises when its file is broken."""
    found = look_for_platform(root, option=option, environ=environ, system_file=system_file)
    if has_errors(found.findings):
        raise FindingsError(found.findings)
    return found.platform, found.origin


def has_errors(findings: Iterable[Finding]) -> bool:
    """Whether any of them makes the file wrong."""
    return any(finding.severity is Severity.ERROR for finding in findings)


def look_for_platform(
    root: Path, *, option: Path | None, environ: Mapping[str, str], system_file: Path = SYSTEM_FILE
) -> FoundPlatform:
    """The platform that holds for a repository, with the findings about its file."""
    found = _ours(root, option=option, environ=environ, system_file=system_file)
    settings = root / CONVERTER_FILE
    if not os.path.lexists(settings):
        return found
    if refused := _no_settings(settings, root):
        return replace(found, findings=(*found.findings, refused))
    return _with_converter(found, settings)


def _no_settings(path: Path, root: Path) -> Finding | None:
    """Why an earlier platform's settings are not read, when they are no file of the repository."""
    at = Position(str(path))
    if path.is_symlink() and not is_within(os.path.realpath(path), os.path.realpath(root)):
        message = "this is a link that leads out of the repository, so it is not read"
        return Finding(at, "file-escapes", message, "put the file itself here")
    if not path.is_file():
        message = "this is a folder, a pipe, a device or a link to nothing, and no settings"
        return Finding(at, "not-a-file", message, "put the file itself here, or take it away")
    return None


def _ours(root: Path, *, option: Path | None, environ: Mapping[str, str], system_file: Path) -> FoundPlatform:
    if option is not None:
        return _named(option, "--platform")
    if named := environ.get(VARIABLE):
        return _named(Path(named), VARIABLE)
    if system_file.exists():
        return _read(system_file)
    own = root / FILE_NAME
    if own.exists() or own.is_symlink():
        return _own(own)
    return FoundPlatform(Platform(), BUILT_IN)


def _with_converter(found: FoundPlatform, path: Path) -> FoundPlatform:
    """The platform that an earlier one's settings mean; another that holds takes its defaults from them."""
    converter, findings = scan_converter(path, str(path))
    all_findings = (*found.findings, *findings)
    if converter is None:
        unread = frozenset(platform_record().keys) if found.origin == BUILT_IN else found.platform.unread
        return replace(found, platform=replace(found.platform, unread=unread), findings=all_findings)
    if found.origin == BUILT_IN:
        return FoundPlatform(platform_of(converter), str(path), all_findings, converter)
    return FoundPlatform(with_defaults(found.platform, converter), found.origin, all_findings, converter)


def _named(path: Path, by: str) -> FoundPlatform:
    if not path.exists():
        raise UsageError(f"there is no platform file at {path}", where=by, remedy=A_FILE)
    return _read(path)


def _read(path: Path) -> FoundPlatform:
    platform, findings = scan_platform(path, str(path))
    return FoundPlatform(platform, str(path), tuple(findings))


def _own(path: Path) -> FoundPlatform:
    """The repository's own file, if it is one for this machine."""
    found = _read(path)
    if has_errors(found.findings) or found.platform.says_local:
        return found
    note = Finding(
        Position(str(path)),
        "platform-not-used",
        "a repository's own platform file counts only when it says `engine: local`, so it is not used here",
        "add `engine: local`, or name the file with --platform",
        Severity.NOTE,
    )
    return FoundPlatform(Platform(), BUILT_IN, (note,))
