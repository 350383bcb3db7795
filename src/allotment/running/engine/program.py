"""A fleet or a gang as work for this machine: its program, its claim, how many, as one frozen value."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from allotment.devices.claims import ClaimSpec
from allotment.errors import Finding, FindingsError, Severity, UsageError, did_you_mean
from allotment.needs import claim_for, need_findings
from allotment.needs.ways.here import findings_here
from allotment.platform.model import Platform, Team
from allotment.repository.model import Fleet, Gang, Repository


class Kind(StrEnum):
    """What a program is run as."""

    FLEET = "fleet"
    GANG = "gang"


@dataclass(frozen=True, slots=True)
class Program:
    """A fleet or a gang, ready to be run here: at least ``least`` processes of it and at most ``most``.

    ``lends`` says that replicas above the least number are given back when a higher lane waits.
    """

    kind: Kind
    team: str
    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    claim: ClaimSpec
    cores: float | None
    memory_bytes: int
    lane: str
    lane_value: int
    least: int
    most: int
    lends: bool
    grace_seconds: float
    root: Path
    path: Path

    @property
    def threads(self) -> int:
        """How many threads a process should use that has no processors of its own."""
        return max(1, math.floor(self.cores or 1))


def programs_for(
    repository: Repository, platform: Platform, team: Team, names: Iterable[str]
) -> tuple[Program, ...]:
    """The named fleets and gangs as work for this machine.

    Raises UsageError for a name that is neither, FindingsError for what cannot be run here.
    """
    programs, findings = [], []
    for name in dict.fromkeys(names):
        file = repository.fleets.get(name) or repository.gangs.get(name)
        if file is None:
            hint = did_you_mean(name, [*repository.fleets, *repository.gangs])
            raise UsageError(f"there is no fleet or gang `{name}`", str(repository.root), hint)
        about = [
            *need_findings(file, platform.cards),
            *findings_here(file),
            *_not_here(file, repository.root.resolve()),
        ]
        refused = [finding for finding in about if finding.severity is Severity.ERROR]
        findings += refused
        if not refused:
            programs.append(program_for(file, platform, team, repository.root.resolve()))
    if findings:
        raise FindingsError(findings)
    return tuple(programs)


def program_for(file: Fleet | Gang, platform: Platform, team: Team, root: Path) -> Program:
    """One fleet or gang as work for this machine."""
    lane, fleet = platform.lanes[file.priority], isinstance(file, Fleet)
    return Program(
        kind=Kind.FLEET if fleet else Kind.GANG,
        team=team.name,
        name=file.name,
        command=file.command,
        environment={each.name: each.value for each in file.env if each.value is not None},
        claim=claim_for(file.gpu, file.resources, platform.cards),
        cores=file.resources.cpu,
        memory_bytes=file.resources.memory or 0,
        lane=file.priority,
        lane_value=lane.value,
        least=file.replicas.min if isinstance(file, Fleet) else file.min,
        most=file.replicas.max if isinstance(file, Fleet) else file.workers,
        lends=fleet and file.preemptible and lane.preemptible,
        grace_seconds=platform.defaults.grace_seconds,
        root=root,
        path=file.path,
    )


def _not_here(file: Fleet | Gang, root: Path) -> list[Finding]:
    """What of a right file this machine cannot run, each with its place."""
    if not file.command:
        message, hint = "it runs what its image brings, and this machine has no images", "write a `command`"
        return [Finding(file.position("image"), "not-on-this-machine", message, hint)]
    program = file.command[0]
    at = os.path.join(root, program) if "/" in program else program  # noqa: PTH118 - a word of theirs
    if shutil.which(at) is None:
        message = f"the program `{program}` is not found here, or may not be run"
        hint = "give its path from the repository's folder, or install it where PATH finds it"
        return [Finding(file.position("command", 0), "program-missing", message, hint)]
    return []
