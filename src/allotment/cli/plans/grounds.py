"""What `allot plan` and `allot compare` are asked about: files, platform, team, a world, and what is done.

The repository has to be right as a whole, or what the names mean of it; what is odd is said on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from allotment.buckets.bucket import Bucket
from allotment.cli.cluster import hint_at_cluster
from allotment.cli.opened import Opened, open_repository, show_warnings
from allotment.cli.plans.beside import beside_of
from allotment.cli.world import AskedWorld, ChosenWorld
from allotment.errors import AllotmentError, FindingsError, Severity, in_one_line
from allotment.needs import need_findings
from allotment.planning.scenes.looking import look, look_beside
from allotment.planning.scenes.values import Known, Place
from allotment.platform.model import Platform, Team
from allotment.repository.model import HasNeed, Repository

KUBERNETES = "kubernetes"


@dataclass(frozen=True, slots=True)
class Grounds:
    """All that is planned with: files, platform, team, the world, and what the bucket holds."""

    opened: Opened
    names: tuple[str, ...]
    chosen: ChosenWorld
    asked: AskedWorld
    known: Known
    bucket: str
    beside: tuple[tuple[Repository, Team], ...] = ()
    scheduler: str | None = None

    @property
    def repository(self) -> Repository:
        """The files, or what the names mean of them."""
        return self.opened.repository

    @property
    def platform(self) -> Platform:
        """The platform that holds."""
        return self.opened.platform

    @property
    def team(self) -> Team:
        """Whose files they are."""
        return self.opened.team

    @property
    def on_cluster(self) -> bool:
        """Whether there is a cluster to which it would be applied."""
        return self.chosen.snapshot is not None and self.platform.engine == KUBERNETES

    @property
    def is_run_here(self) -> bool:
        """Whether this machine's engine would run it."""
        return self.chosen.is_here and self.platform.engine != KUBERNETES

    @property
    def place(self) -> Place:
        """The world, as a scene takes it."""
        chosen = self.chosen
        return Place(chosen.without_errors(), chosen.name, chosen.snapshot, chosen.is_here)


def grounds(
    root: Path,
    names: Sequence[str],
    asked: AskedWorld,
    *,
    platform: Path | None,
    team: str | None,
    scheduler: str | None = None,
    beside: Sequence[str] = (),
) -> Grounds:
    """Everything that the options name; AllotmentError for what is wrong with it."""
    opened, chosen_names = open_repository(root, platform=platform, team=team, campaigns=names, programs=True)
    _hold_right(opened)
    show_warnings(each for each in opened.findings if each.severity is Severity.WARNING)
    if scheduler is not None:
        opened = replace(opened, platform=replace(opened.platform, scheduler=scheduler))
    chosen = asked.chosen().decided_by(opened.platform.versions.kubernetes)
    if chosen.is_here:
        hint_at_cluster(opened.platform, "this plans for this machine")
    bucket, note = _bucket(opened)
    known = look(opened.repository, opened.team, bucket, chosen_names if names else ())
    if note:
        known = replace(known, notes=(*known.notes, note))
    others = beside_of(beside, opened.platform, opened.team)
    known = look_beside(known, others)
    words = _bucket_words(opened, note)
    return Grounds(opened, chosen_names if names else (), chosen, asked, known, words, others, scheduler)


def _hold_right(opened: Opened) -> None:
    """Raise FindingsError for anything wrong in the files."""
    repository, platform = opened.repository, opened.platform
    needing: list[HasNeed] = [
        *repository.pipelines.values(),
        *repository.fleets.values(),
        *repository.gangs.values(),
    ]
    version = platform.versions.kubernetes
    found = [
        *opened.findings,
        *(finding for each in needing for finding in need_findings(each, platform.cards, version)),
    ]
    errors = [each for each in found if each.severity is Severity.ERROR]
    if errors:
        raise FindingsError(errors)


def _bucket(opened: Opened) -> tuple[Bucket | None, str]:
    """The bucket, or why nothing of it is known."""
    try:
        return opened.bucket(), ""
    except AllotmentError as error:
        why = in_one_line(error)
        return None, f"the bucket could not be opened, so that nothing of what is done is known: {why}"


def _bucket_words(opened: Opened, note: str) -> str:
    """What is held against, where there is no cluster."""
    if note:
        return "nothing, for the bucket could not be opened"
    return f"what {opened.platform.bucket} holds"
