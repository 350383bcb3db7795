"""A repository as a command finds it: its files, the platform, the team, and where the bucket is."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from allotment.buckets.bucket import Bucket
from allotment.buckets.opening import bucket_identity, open_interruptible
from allotment.cli.shared import finding_line, repository_identity
from allotment.errors import Finding, FindingsError, Severity, UsageError, did_you_mean
from allotment.platform.find import find_platform
from allotment.platform.model import Platform, Team
from allotment.repository import load_repository
from allotment.repository.model import Repository
from allotment.running.engine.work import Work, work_for

CAMPAIGNS = "campaigns"
PROGRAMS = ("fleets", "gangs")


@dataclass(frozen=True, slots=True)
class Opened:
    """A repository with its platform. ``base`` is the folder that a relative bucket lies in."""

    root: Path
    repository: Repository
    findings: tuple[Finding, ...]
    platform: Platform
    team: Team
    base: Path

    def bucket(self, *, create: bool = False) -> Bucket:
        """The bucket; for reading, one that is not there yet is taken for an empty one."""
        return open_interruptible(
            self.platform.bucket, self.base, create=create, options=self.platform.bucket_options
        )

    @property
    def bucket_identity(self) -> str:
        """What tells the bucket from every other, as engines name it."""
        return bucket_identity(self.platform.bucket, self.base, self.platform.bucket_options)

    def work(self, name: str) -> Work:
        """The named campaign as this machine would run it."""
        campaign = self.repository.campaigns.get(name)
        if campaign is None:
            raise UsageError(
                f"there is no campaign `{name}`",
                where=str(self.root / CAMPAIGNS),
                remedy=did_you_mean(name, self.repository.campaigns),
            )
        pipeline = self.repository.pipelines[campaign.pipeline]
        return work_for(campaign, pipeline, self.platform, self.team, self.root)


def open_repository(
    root: Path,
    *,
    platform: Path | None,
    team: str | None,
    campaigns: Sequence[str] = (),
    programs: bool = False,
) -> tuple[Opened, tuple[str, ...]]:
    """The repository, and the names of the campaigns that were asked for (none asked: all of them).

    A campaign is named by its name or its file; a file tells the repository's folder too. Only what the
    named campaigns need has to be right: raises FindingsError with its findings, and shows its warnings.
    With ``programs``, names and files of fleets and gangs will do too.
    """
    kinds = (CAMPAIGNS, *PROGRAMS) if programs else (CAMPAIGNS,)
    root, names = _located(root, campaigns, kinds)
    if not programs:
        _refuse_programs(root, names)
    found, origin = find_platform(root, option=platform, environ=os.environ)
    owner = found.team_for(repository_identity(root), team)
    only = [_file_of(root, name, kinds) for name in names] or None
    loaded = load_repository(root, found, only=only)
    errors = [finding for finding in loaded.findings if finding.severity is Severity.ERROR]
    if errors and (names or not loaded.repository.campaigns):
        raise FindingsError(loaded.findings)
    base = Path(origin).resolve().parent if Path(origin).is_file() else root.resolve()
    opened = Opened(root, loaded.repository, tuple(loaded.findings), found, owner, base)
    repository = loaded.repository
    others = (*repository.fleets, *repository.gangs) if programs else ()
    return opened, names or (*repository.campaigns, *others)


def show_warnings(findings: Iterable[Finding]) -> None:
    """Findings that stop nothing, on standard error."""
    for finding in findings:
        click.echo(finding_line(finding), err=True)


def _refuse_programs(root: Path, names: Iterable[str]) -> None:
    """Raise UsageError for a fleet or a gang where a campaign is wanted."""
    for name in names:
        if _file_of(root, name, (CAMPAIGNS,)).exists():
            continue
        path = _file_of(root, name, PROGRAMS)
        if path.exists():
            raise UsageError(
                f"`{name}` is a {path.parent.name.removesuffix('s')}, and this is about volumes of campaigns",
                where=str(path),
                remedy=f"allot status {name} and allot logs {name} tell of it; allot run {name} starts it",
            )


def _file_of(root: Path, name: str, kinds: Sequence[str]) -> Path:
    """The file of that name, of the first kind that has one; no two kinds may have one."""
    paths = [root / kind / f"{name}.yaml" for kind in kinds]
    return next((path for path in paths if path.exists()), paths[0])


def _located(root: Path, campaigns: Sequence[str], kinds: Sequence[str]) -> tuple[Path, tuple[str, ...]]:
    """The repository's folder and the campaigns' names, where some may be given as files."""
    names, roots = [], set()
    for given in campaigns:
        if not given.endswith((".yaml", ".yml")) and "/" not in given:
            names.append(given)
            continue
        path = root / given
        if path.parent.name not in kinds:
            folders = ", ".join(f"`{kind}/`" for kind in kinds)
            raise UsageError(
                f"{given} is no campaign's file" + (", nor a fleet's or gang's" if len(kinds) > 1 else ""),
                remedy=f"they lie in {folders} of a repository",
            )
        names.append(path.stem)
        roots.add(path.parent.parent)
    if len(roots) > 1:
        raise UsageError("the campaigns' files are of several repositories", remedy="run them one by one")
    located = roots.pop() if roots else root
    if not any((located / kind).is_dir() for kind in kinds):
        raise UsageError(
            "this folder is no repository of campaigns: it has no folder `campaigns/`",
            where=str(located.resolve()),
            remedy=_nearby(located.resolve()),
        )
    return located, tuple(dict.fromkeys(names))


def _nearby(folder: Path) -> str:
    """What to do in a folder that is no repository: one above it may be."""
    for above in folder.parents:
        if (above / CAMPAIGNS).is_dir() and (above / "pipelines").is_dir():
            return f"the repository is {above}: go there, or add -C {shlex.quote(os.path.relpath(above))}"
    return "go to one, name one with -C, or write one with `allot init DIR`"
