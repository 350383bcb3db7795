"""The platform as one frozen value: every key of its file, with what it is when left out.

`Platform()` is the built-in one: one team, this machine, results in ``./results``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from allotment.errors import UsageError, did_you_mean
from allotment.platform.need import NO_RESOURCES, Need, Resources

ENGINES = ("local", "kubernetes")
SCHEDULERS = ("default", "kueue", "kai", "both")
BUILT_IN_TEAM = "local"
REF = "{ref}"
HOSTS_UNSAID = "sources.hosts"


@dataclass(frozen=True, slots=True)
class Queue:
    """A team's part of the cards: guaranteed quota, weight in what is idle, ceiling (None: no limit)."""

    quota: float | None = None
    weight: float = 1
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Team:
    """A team: its repository, its namespace, its queue, and the name of its own bucket credentials."""

    name: str
    repository: str | None = None
    namespace: str | None = None
    queue: Queue = Queue()
    secret: str | None = None


@dataclass(frozen=True, slots=True)
class Lane:
    """A priority lane: higher values go first."""

    value: int = 0
    preemptible: bool = True


@dataclass(frozen=True, slots=True)
class Defaults:
    """What campaigns and pipelines are when they say nothing; all times in seconds."""

    window: int = 20
    max_seconds: int = 21_600
    ttl_seconds_after_finished: int = 604_800
    retries: int = 3
    reclaims: int = 20
    grace_seconds: int = 120
    minimum_runtime: int = 600
    look_ahead: int = 16
    page_seconds: int = 600


@dataclass(frozen=True, slots=True)
class Versions:
    """Which releases of the schedulers the platform runs."""

    kubernetes: str = "1.36"
    kueue: str = "0.19"
    kai: str = "0.17"


@dataclass(frozen=True, slots=True)
class Size:
    """A need that the platform has given a name."""

    gpu: Need | None = None
    resources: Resources = NO_RESOURCES


@dataclass(frozen=True, slots=True)
class Card:
    """A kind of card, and the device class that stands for it."""

    card: str
    device_class: str


@dataclass(frozen=True, slots=True)
class TopologyLevel:
    """A level of the cluster's layout by its node label, such as rack."""

    name: str
    label: str


@dataclass(frozen=True, slots=True)
class Sources:
    """Where pages come from: the template of a bare ``{ref}``, and the hosts that may be asked.

    ``private`` names networks of addresses that no host may otherwise lead to, such as 10.0.0.0/8.
    ``buckets`` names folders of object stores, such as s3://scans/incoming, that volumes may lie below.
    """

    template: str | None = None
    hosts: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PodRunner:
    """How pods get the runner: ``image`` brings it into images that do not have it; None: all have it."""

    image: str | None = None


@dataclass(frozen=True, slots=True)
class Prices:
    """What an hour of each card costs."""

    currency: str = "EUR"
    hour: Mapping[str, float] = field(default_factory=dict, hash=False)


def _built_in_teams() -> Mapping[str, Team]:
    return {BUILT_IN_TEAM: Team(BUILT_IN_TEAM)}


def _built_in_lanes() -> Mapping[str, Lane]:
    return {"bulk": Lane(0), "interactive": Lane(50), "idle": Lane(-10)}


@dataclass(frozen=True, slots=True)
class Platform:
    """All that the platform's file says. Mappings keep its order: the first lane is the default one.

    ``says_local`` tells whether the file itself says ``engine: local``, ``widest`` to how wide a window an
    earlier platform's settings hold every campaign. ``unread`` holds the keys of a broken file that could not
    be read: nothing is held against a team by them.
    """

    engine: str = "local"
    scheduler: str = "default"
    versions: Versions = Versions()
    bucket: str = "./results"
    bucket_options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    teams: Mapping[str, Team] = field(default_factory=_built_in_teams)
    lanes: Mapping[str, Lane] = field(default_factory=_built_in_lanes)
    defaults: Defaults = Defaults()
    sizes: Mapping[str, Size] = field(default_factory=dict)
    default_size: str | None = None
    cards: Mapping[str, Card] = field(default_factory=dict)
    sharing: tuple[str, ...] = ("whole", "mig")
    topology: tuple[TopologyLevel, ...] = ()
    sources: Sources = Sources()
    images: tuple[str, ...] = ()
    runner: PodRunner = PodRunner()
    prices: Prices = Prices()
    says_local: bool = False
    widest: int | None = None
    unread: frozenset[str] = frozenset()

    @property
    def knows_hosts(self) -> bool:
        """Whether the file that was read could say which hosts pages may come from."""
        return self.unread.isdisjoint({"sources", HOSTS_UNSAID})

    @property
    def default_lane(self) -> str:
        """The lane of a campaign that names none: the first."""
        return next(iter(self.lanes))

    def team_for(self, identity: Sequence[str], option: str | None = None) -> Team:
        """The team whose repository this is.

        ``identity`` is what the repository may be called: its folder, its remotes. ``option`` is ``--team``.
        """
        owners = [team for team in self.teams.values() if _is_one_of(team.repository, identity)]
        candidates = owners or list(self.teams.values())
        if option is not None:
            return self._chosen(option, owners)
        if len(candidates) == 1:
            return candidates[0]
        names = ", ".join(f"`{team.name}`" for team in candidates)
        words = f"the platform has several teams ({names}), and none of them names this repository as its own"
        called = " or ".join(f"`{plain_location(each)}`" for each in identity)
        raise UsageError(
            f"{words}, which is {called}" if called else words,
            remedy="say which with --team NAME, or write it as a team's `repository` in the platform's file",
        )

    def _chosen(self, option: str, owners: Sequence[Team]) -> Team:
        """The team that ``--team`` names, if the engine lets one choose."""
        if option not in self.teams:
            raise UsageError(f"the platform has no team `{option}`", remedy=did_you_mean(option, self.teams))
        if self.engine != "local" and owners and option not in {team.name for team in owners}:
            raise UsageError(
                f"this repository belongs to team `{owners[0].name}`, not to `{option}`",
                remedy="leave --team out; for what the other team has go to its repository, or out of any",
            )
        return self.teams[option]


def _is_one_of(repository: str | None, identity: Sequence[str]) -> bool:
    """Whether a team's repository, as the platform writes it, is one of the names of this repository."""
    return repository is not None and plain_location(repository) in {
        plain_location(name) for name in identity
    }


def plain_location(location: str) -> str:
    """A remote or folder without what differs between the ways of writing it.

    ``git@host:team/books.git`` and ``https://host/team/books`` are one repository.
    """
    text = location.strip().rstrip("/").removesuffix(".git")
    scheme, mark, rest = text.partition("://")
    if mark and scheme != "file":
        return rest.rpartition("@")[2].lower()
    if mark:
        return rest
    user, at, address = text.partition("@")
    if at and ":" in address and "/" not in user:
        host, _, path = address.partition(":")
        return f"{host}/{path}".lower()
    return text
