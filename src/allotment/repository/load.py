"""A repository's files into values, with every finding at once.

A campaign is there only when it and the pipeline that it names are right. What a broken file would have said
is not held against the others: a campaign whose pipeline is broken gets no finding of its own for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from allotment.documents import scan_document
from allotment.documents.checking import Check, shown
from allotment.errors import (
    Finding,
    FindingsError,
    Position,
    Severity,
    UsageError,
    did_you_mean,
    sorted_findings,
)
from allotment.platform.model import Platform
from allotment.repository.campaign_file import read_campaign
from allotment.repository.files import CAMPAIGNS, FLEETS, GANGS, KINDS, PIPELINES, SUFFIX, Files, files_of
from allotment.repository.model import Campaign, Fleet, Gang, Pipeline, Repository
from allotment.repository.names import Fault, campaign_fault, pipeline_fault, taken_fault
from allotment.repository.pipeline_file import read_pipeline
from allotment.repository.standing_files import read_fleet, read_gang
from allotment.repository.steps import StepNames, installed_steps

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A repository, and what was found in its files, sorted by place."""

    repository: Repository
    findings: tuple[Finding, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make a file wrong."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    def checked(self) -> Repository:
        """The repository; raises `FindingsError` when anything in it is wrong."""
        if self.errors:
            raise FindingsError(self.findings)
        return self.repository


def load_repository(
    root: Path,
    platform: Platform,
    *,
    only: Sequence[Path] | None = None,
    steps: StepNames = installed_steps,
) -> Loaded:
    """The repository in a folder, or of it the files named by ``only`` and the pipelines that they name."""
    files = {kind: files_of(root, kind) for kind in KINDS}
    wanted = _wanted(root, files, only)
    loading = _Loading(root, platform, steps, files)
    for stem in wanted[CAMPAIGNS]:
        loading.campaign(stem)
    for stem in wanted[PIPELINES]:
        loading.pipeline(stem)
    for stem in wanted[FLEETS]:
        loading.fleet(stem)
    for stem in wanted[GANGS]:
        loading.gang(stem)
    findings = [*loading.findings, *_about_files(root, files, only)]
    return Loaded(loading.repository(), sorted_findings(findings))


@dataclass(slots=True)
class _Loading:
    """What was read so far."""

    root: Path
    platform: Platform
    steps: StepNames
    files: dict[str, Files]
    findings: list[Finding] = field(default_factory=list)
    pipelines: dict[str, Pipeline | None] = field(default_factory=dict)
    campaigns: dict[str, Campaign] = field(default_factory=dict)
    fleets: dict[str, Fleet] = field(default_factory=dict)
    gangs: dict[str, Gang] = field(default_factory=dict)
    broken: set[Path] = field(default_factory=set)

    def pipeline(self, stem: str) -> Pipeline | None:
        """The pipeline of that id, read once; nothing when its file is broken."""
        if stem not in self.pipelines:
            path = self.files[PIPELINES].by_stem[stem]
            self.pipelines[stem] = self._read(
                path,
                pipeline_fault(stem),
                lambda check: read_pipeline(check, stem, path, platform=self.platform, steps=self.steps),
            )
        return self.pipelines[stem]

    def campaign(self, stem: str) -> None:
        """Read the campaign of that name, and the pipeline that it names."""
        path = self.files[CAMPAIGNS].by_stem[stem]
        campaign = self._read(path, campaign_fault(stem), lambda check: self._campaign_in(check, stem, path))
        if campaign is not None:
            self.campaigns[stem] = campaign

    def fleet(self, stem: str) -> None:
        """Read the fleet of that name."""
        path = self.files[FLEETS].by_stem[stem]
        fault = self._standing_fault(FLEETS, stem)
        fleet = self._read(path, fault, lambda check: read_fleet(check, stem, path, self.platform))
        if fleet is not None:
            self.fleets[stem] = fleet

    def gang(self, stem: str) -> None:
        """Read the gang of that name."""
        path = self.files[GANGS].by_stem[stem]
        fault = self._standing_fault(GANGS, stem)
        gang = self._read(path, fault, lambda check: read_gang(check, stem, path, self.platform))
        if gang is not None:
            self.gangs[stem] = gang

    def _standing_fault(self, kind: str, stem: str) -> Fault | None:
        """What is wrong with the name of a fleet or gang: its letters, or that another file has it."""
        earlier = (CAMPAIGNS, FLEETS)[: 1 if kind == FLEETS else 2]
        taken = next((other for other in earlier if stem in self.files[other].by_stem), None)
        return campaign_fault(stem, kind[:-1]) or (taken_fault(stem, taken) if taken else None)

    def repository(self) -> Repository:
        """What is right, by name."""
        pipelines = {stem: pipeline for stem, pipeline in self.pipelines.items() if pipeline is not None}
        return Repository(
            self.root,
            dict(sorted(pipelines.items())),
            dict(sorted(self.campaigns.items())),
            dict(sorted(self.fleets.items())),
            dict(sorted(self.gangs.items())),
            frozenset(self.broken),
        )

    def _campaign_in(self, check: Check, stem: str, path: Path) -> Campaign | None:
        campaign, named = read_campaign(check, stem, path, platform=self.platform, root=self.root)
        if named is None:
            return None
        known = self.files[PIPELINES]
        if named in known.by_stem:
            return campaign if self.pipeline(named) is not None else None
        if named not in known.misnamed:
            hint = did_you_mean(named, known.by_stem) or f"write {PIPELINES}/NAME{SUFFIX}, and name it here"
            message = f"there is no pipeline `{shown(named)}`"
            (check.root / "pipeline").found("unknown-pipeline", message, hint)
        return None

    def _read(self, path: Path, fault: Fault | None, read: Callable[[Check], T | None]) -> T | None:
        """What a file holds, or nothing when there is an error about it; its findings are kept."""
        document, findings = scan_document(path, name=str(path))
        if fault is not None:
            findings.append(Finding(Position(str(path)), "bad-name", *fault))
        result = None
        if document is not None:
            check = Check(document, findings)
            result = read(check)
            result = None if check.failed else result
        if result is None:
            self.broken.add(path)
        self.findings.extend(findings)
        return result


def _wanted(root: Path, files: dict[str, Files], only: Sequence[Path] | None) -> dict[str, list[str]]:
    """The stems to read, by kind."""
    if only is None:
        return {kind: list(files[kind].by_stem) for kind in KINDS}
    wanted: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for path in only:
        kind = path.parent.name
        if kind not in KINDS or path.parent.parent.resolve() != root.resolve():
            hint = f"files lie in {', '.join(f'`{kind}/`' for kind in KINDS)} of {root}"
            raise UsageError("this is no file of the repository", where=str(path), remedy=hint)
        if path.suffix == SUFFIX and path.stem in files[kind].by_stem:
            wanted[kind].append(path.stem)
        elif path.stem not in files[kind].misnamed:
            hint = did_you_mean(path.stem, files[kind].by_stem)
            raise UsageError(f"there is no such file in {kind}/", where=str(path), remedy=hint)
    return wanted


def _about_files(root: Path, files: dict[str, Files], only: Sequence[Path] | None) -> list[Finding]:
    """Findings about files that are not read: all of them, or those of the files that were asked for."""
    found = [finding for kind in KINDS for finding in files[kind].findings]
    if only is None:
        return found
    asked = {str(root / path.parent.name / path.stem) for path in only}
    return [finding for finding in found if str(Path(finding.position.file).with_suffix("")) in asked]
