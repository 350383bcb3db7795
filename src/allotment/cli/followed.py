"""What a command tells of a team on a cluster: which namespace, which names, and what its repository says.

Inside a repository it is the repository's team, and its files give windows and names of what is not on
the cluster. Anywhere else it is everything of ours that the snapshot holds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from allotment.cli.cluster import hold_cluster
from allotment.cli.opened import CAMPAIGNS, PROGRAMS, Opened, open_repository
from allotment.errors import AllotmentError, FindingsError, UsageError, did_you_mean
from allotment.events.model import CampaignView
from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.follow import Expected, Followed, follow, names_in
from allotment.kubernetes.kinds import DEPLOYMENT, JOB
from allotment.kubernetes.render.context import namespace_of
from allotment.kubernetes.render.names import PREFIX
from allotment.platform.find import find_platform
from allotment.repository.model import Repository
from allotment.running.engine.overview import overview

NEVER_SENT: Final = frozenset({"absent", "not-sent"})


@dataclass(frozen=True, slots=True)
class Team:
    """Whom a command is about: namespaces, and the repository where there is one."""

    namespaces: tuple[str, ...]
    opened: Opened | None = None
    names: tuple[str, ...] = ()

    @property
    def expected(self) -> Mapping[str, Expected]:
        """What the repository says of each name."""
        return {} if self.opened is None else expected_of(self.opened.repository)


def is_repository(root: Path) -> bool:
    """Whether the folder has files of campaigns, fleets or gangs."""
    return any((root / kind).is_dir() for kind in (CAMPAIGNS, *PROGRAMS))


def team_of(
    snapshot: Snapshot | None,
    root: Path,
    names: Sequence[str],
    *,
    platform: Path | None = None,
    team: str | None = None,
) -> Team:
    """The team of a repository, or of the options, or else all that have something in the snapshot."""
    plain = tuple(Path(name).stem if name.endswith((".yaml", ".yml")) else name for name in names)
    files = [name for name in names if name.endswith((".yaml", ".yml"))]
    if is_repository(root) or files:
        written = [name for name in names if name in files or has_file(root, name)]
        try:
            opened, known = open_repository(
                root, platform=platform, team=team, campaigns=written, programs=True
            )
        except FindingsError:
            found, origin = find_platform(root, option=platform, environ=os.environ)
            hold_cluster(found, origin, "the files are not right by it")
            raise
        others = tuple(name for name in plain if name not in known)
        chosen = (*(known if written else ()), *others) if names else ()
        return Team((namespace_of(opened.team),), opened, chosen)
    if team is not None:
        found, _ = find_platform(root, option=platform, environ=os.environ)
        return Team((namespace_of(found.team_for((), team)),), None, plain)
    if snapshot is None:
        raise UsageError(
            "this folder is no repository of campaigns, so the team is not known",
            where=str(root.resolve()),
            remedy="go to one, name one with -C, or say which --team",
        )
    return Team(tuple(sorted(namespaces_in(snapshot))), None, plain)


def namespaces_in(snapshot: Snapshot) -> Iterator[str]:
    """The namespaces that have something of ours, once each."""
    keys = [f"{PREFIX}{kind}" for kind in ("campaign", "fleet", "gang")]
    found = {
        str(each["metadata"].get("namespace") or "")
        for kind in (JOB, DEPLOYMENT)
        for each in snapshot.of(kind)
        if any(key in (each["metadata"].get("labels") or {}) for key in keys)
    }
    yield from found


def followed(snapshot: Snapshot, team: Team) -> tuple[Followed, ...]:
    """How everything that was asked for stands; UsageError for a name that nobody knows."""
    expected = team.expected
    wanted = {name: each for name, each in expected.items() if not team.names or name in team.names}
    found = [
        each
        for place in team.namespaces
        for each in follow(snapshot, place, _names(snapshot, place, team), expected=wanted)
    ]
    unknown = [
        name for name in team.names if name not in expected and not any(each.name == name for each in found)
    ]
    if unknown:
        elsewhere = [place for place in namespaces_in(snapshot) if unknown[0] in names_in(snapshot, place)]
        if elsewhere:
            raise UsageError(
                f"`{unknown[0]}` is another team's, in namespace {' and '.join(sorted(elsewhere))}",
                remedy="ask outside of this repository for what all teams have",
            )
        known = {*expected, *(each for place in team.namespaces for each in names_in(snapshot, place))}
        raise UsageError(
            f"there is no campaign, fleet or gang `{unknown[0]}`, neither in files nor on {snapshot.name}",
            remedy=did_you_mean(unknown[0], known) or "allot status --cluster shows what there is",
        )
    if team.opened is not None and team.opened.platform.engine == "local":
        return tuple(map(_of_this_machine, found))
    return tuple(found)


def _of_this_machine(found: Followed) -> Followed:
    """What was never sent, of a repository whose platform sends nothing."""
    root = found.root
    if root is None or root.kind not in NEVER_SENT:
        return found
    remedy = (
        f"`allot run {found.name}` does it on this machine, where the platform says `engine: local`; to "
        "send it, name the file of the cluster's platform with --platform"
    )
    return replace(found, causes=(replace(root, remedy=remedy), *found.causes[1:]))


def _names(snapshot: Snapshot, namespace: str, team: Team) -> tuple[str, ...]:
    """The names that were asked for, as far as this namespace has them or files know them."""
    if not team.names:
        return ()
    there = names_in(snapshot, namespace)
    return tuple(name for name in team.names if name in there or name in team.expected)


def expected_of(repository: Repository) -> Mapping[str, Expected]:
    """What the files say of each name."""
    found: dict[str, Expected] = {}
    for campaign in repository.campaigns.values():
        indexes = -(-len(campaign.volumes) // campaign.pack)
        window = campaign.window
        found[campaign.name] = Expected("campaign", window.min, window.max, indexes, campaign.suspend)
    for fleet in repository.fleets.values():
        found[fleet.name] = Expected("fleet", fleet.replicas.min, fleet.replicas.max)
    for gang in repository.gangs.values():
        found[gang.name] = Expected("gang", gang.min, gang.workers, gang.workers)
    return found


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a bucket tells nothing, and what to do."""

    words: str
    remedy: str = ""


def pages_of(opened: Opened | None, name: str, now: float) -> CampaignView | Unread | None:
    """How far its pages are, as the bucket says, or why that cannot be told; None for what has none."""
    if opened is None or name not in opened.repository.campaigns:
        return None
    try:
        return overview(opened.bucket(), opened.work(name), now, engine_lives=False)
    except (AllotmentError, OSError) as error:
        what, remedy = (error.what, error.remedy) if isinstance(error, AllotmentError) else (str(error), "")
        words = f"the bucket {opened.platform.bucket} cannot be read ({what}), so pages are not told"
        return Unread(words, remedy)


def has_file(root: Path, name: str) -> bool:
    """Whether the repository has a campaign, a fleet or a gang of the name."""
    return any((root / kind / f"{name}.yaml").is_file() for kind in (CAMPAIGNS, *PROGRAMS))
