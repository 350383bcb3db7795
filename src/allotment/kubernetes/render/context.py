"""What every part of a rendering looks at: the platform, the team, and what its schedulers can do."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from allotment.needs.ways.choosing import Able, able
from allotment.platform.model import Platform, Team

KUBERNETES: Final = "kubernetes"
_MINOR: Final = re.compile(r"v?1\.(\d+)")


@dataclass(frozen=True, slots=True)
class Context:
    """Whose objects these are. ``gang_objects``: the cluster has the gang objects switched on."""

    platform: Platform
    team: Team
    gang_objects: bool = False

    @property
    def scheduler(self) -> str:
        """Who places the pods."""
        return self.platform.scheduler

    @property
    def with_kueue(self) -> bool:
        """Whether Kueue admits them."""
        return self.scheduler in {"kueue", "both"}

    @property
    def with_kai(self) -> bool:
        """Whether KAI places them."""
        return self.scheduler in {"kai", "both"}

    @property
    def namespace(self) -> str:
        """Where the team's objects are."""
        return namespace_of(self.team)

    @property
    def queue(self) -> str:
        """The team's queue, by which both schedulers know it."""
        return self.team.name

    @property
    def able(self) -> Able:
        """What those who place pods can do."""
        return able(self.platform)

    @property
    def minor(self) -> int:
        """The minor version of Kubernetes."""
        return minor_of(self.platform)


def context_for(
    platform: Platform, team: Team, scheduler: str | None = None, *, gang_objects: bool = False
) -> Context:
    """The context of a team on a cluster, whatever engine the platform has otherwise."""
    chosen = replace(platform, engine=KUBERNETES, scheduler=scheduler or platform.scheduler)
    return Context(chosen, team, gang_objects)


def namespace_of(team: Team) -> str:
    """A team's namespace, which is called after the team where the platform does not say."""
    return team.namespace or team.name


def minor_of(platform: Platform) -> int:
    """The minor version of the platform's Kubernetes."""
    found = _MINOR.match(platform.versions.kubernetes)
    return int(found[1]) if found else 0


def release_of(version: str) -> tuple[int, ...]:
    """The numbers of a release."""
    return tuple(map(int, re.findall(r"\d+", version)[:3]))
