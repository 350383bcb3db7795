"""``--with key=value``: what else may differ between columns, as changes to what files say.

A change is made to the values that files are read into, and everything after that is as it would be with
files that say so: the same rendering, the same claims, the same queues.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from allotment.devices.describe import parse_description
from allotment.devices.server import NEWEST, OLDEST, is_version, outside_words
from allotment.documents.shapes import Choice, Integer, ListOf
from allotment.errors import UsageError, did_you_mean
from allotment.needs.ways.config_faults import WAY_OF_CONFIG
from allotment.planning.compare.values import plain, read
from allotment.planning.scenes.values import Place
from allotment.platform.durations import Duration
from allotment.platform.file_shapes import QUEUE, VERSIONS
from allotment.platform.model import Defaults, Platform, Queue, Team, Versions
from allotment.platform.need import SHARING, Need
from allotment.platform.need_shapes import SHARED_BY_PART, Share
from allotment.repository.campaign_file import MIN_MAX, MOST_PACKED, WIDTH
from allotment.repository.model import Campaign, Fleet, Gang, Pipeline, Repository, Window


@dataclass(frozen=True, slots=True)
class Files:
    """What a column is made of: a team's files, those of others beside it, the platform's, and the world.

    ``controller`` says whether the window controller runs, where a scheduler leaves windows to it.
    """

    repository: Repository
    platform: Platform
    place: Place
    beside: tuple[tuple[Repository, Team], ...] = ()
    controller: bool = True

    def all_repositories(self) -> tuple[Repository, ...]:
        """The team's own, and those beside it."""
        return (self.repository, *(each for each, _ in self.beside))

    def repositories(self, change: Callable[[Repository], Repository]) -> Files:
        """The files with every team's repository changed so."""
        beside = tuple((change(each), team) for each, team in self.beside)
        return replace(self, repository=change(self.repository), beside=beside)


T = TypeVar("T", Pipeline, Fleet, Gang)
Change = Callable[[Files, str, str], Files]


def changes_of(text: str) -> tuple[str, ...]:
    """The changes of one variant: several are joined by ``;``."""
    return tuple(each.strip() for each in text.split(";") if each.strip())


def changed(files: Files, change: str) -> Files:
    """The files as one change, ``key=value`` or ``key.NAME=value``, has them."""
    key, mark, value = (each.strip() for each in change.partition("="))
    name, dot, of = key.partition(".")
    if not mark or name not in CHANGES:
        raise UsageError(
            f"`--with {change}` is no change that is known here",
            remedy=did_you_mean(name, CHANGES)
            or f"write KEY=VALUE; the keys are {', '.join(sorted(CHANGES))}",
        )
    try:
        if dot and (not of or name in _OF_NOTHING):
            raise ValueError(f"`{name}` is {'followed by a name' if not of else 'of no one in particular'}")
        return CHANGES[name](files, of, value)
    except ValueError as error:
        raise UsageError(f"`--with {change}`: {error}", remedy=_EXAMPLES[name]) from None


def _queue(field: str) -> Change:
    def change(files: Files, of: str, value: str) -> Files:
        teams = files.platform.teams
        if of not in teams:
            raise UsageError(
                f"the platform has no team `{of}`, whose {field} could be changed"
                if of
                else f"`--with {field}={value}` does not say of which team",
                remedy=did_you_mean(of, teams) or f"write --with {field}.TEAM={value}",
            )
        said = None if value in _NONE and field != "weight" else plain(value)
        read(QUEUE, {field: said})
        queue: Queue = replace(teams[of].queue, **{field: said})  # type: ignore[arg-type]
        changed_teams = {**teams, of: replace(teams[of], queue=queue)}
        beside = tuple((each, changed_teams[team.name]) for each, team in files.beside)
        return replace(files, platform=replace(files.platform, teams=changed_teams), beside=beside)

    return change


def _sharing(files: Files, of: str, value: str) -> Files:
    ways = read(WAYS, [each.strip() for each in value.split(",")], "sharing")
    allowed = tuple(dict.fromkeys((*files.platform.sharing, *ways)))
    files = replace(files, platform=replace(files.platform, sharing=allowed))
    return _needs(files, of, lambda need: _shared_so(need, ways))


def _shared_so(need: Need, ways: tuple[str, ...]) -> Need:
    """The need by other ways; a share and a configuration go with the way that took them."""
    by_part = not SHARED_BY_PART.isdisjoint(ways)
    kept = {None, *ways}
    config = {key: told for key, told in (need.config or {}).items() if WAY_OF_CONFIG.get(key) in kept}
    return replace(need, sharing=ways, share=need.share if by_part else None, config=config or None)


def _share(files: Files, of: str, value: str) -> Files:
    share = read(Share(), plain(value), "share")
    return _needs(files, of, lambda need: replace(need, share=share))


def _needs(files: Files, of: str, change: Callable[[Need], Need]) -> Files:
    """Every need of a pipeline, or that of the pipeline, fleet or gang that is named, changed so."""
    known = {
        name: each.gpu
        for repository in files.all_repositories()
        for named in (repository.pipelines, repository.fleets, repository.gangs)
        for name, each in named.items()
    }
    if of and of not in known:
        raise UsageError(f"there is no pipeline, fleet or gang `{of}`", remedy=did_you_mean(of, known))
    if of and not _has_cards(known[of]):
        raise ValueError(f"`{of}` asks for no card")
    return files.repositories(lambda each: with_needs(each, change, of))


def with_needs(repository: Repository, change: Callable[[Need], Need], of: str = "") -> Repository:
    """The repository with every pipeline's need of cards changed so, or with that of what is named."""
    return replace(
        repository,
        pipelines=_with_needs(repository.pipelines, of, change),
        fleets=_with_needs(repository.fleets, of, change) if of else repository.fleets,
        gangs=_with_needs(repository.gangs, of, change) if of else repository.gangs,
    )


def _with_needs(named: Mapping[str, T], of: str, change: Callable[[Need], Need]) -> dict[str, T]:
    return {
        name: replace(each, gpu=change(each.gpu))
        if each.gpu is not None and _has_cards(each.gpu) and of in {"", name}
        else each
        for name, each in named.items()
    }


def _has_cards(need: Need | None) -> bool:
    return need is not None and need.cpu is None


def _campaigns(files: Files, of: str, change: Callable[[Campaign], Campaign]) -> Files:
    known = [name for each in files.all_repositories() for name in each.campaigns]
    if of and of not in known:
        raise UsageError(f"there is no campaign `{of}`", remedy=did_you_mean(of, known))

    def campaigns(repository: Repository) -> Repository:
        changed_ones = {
            name: change(each) if of in {"", name} else each for name, each in repository.campaigns.items()
        }
        return replace(repository, campaigns=changed_ones)

    return files.repositories(campaigns)


def _window(files: Files, of: str, value: str) -> Files:
    low, mark, high = (each.strip() for each in value.partition(".."))
    window = (
        read(MIN_MAX, {"min": plain(low), "max": plain(high)}, "window")
        if mark
        else Window(1, read(WIDTH, plain(low), "window"))
    )
    return _campaigns(files, of, lambda each: replace(each, window=window))


def _pack(files: Files, of: str, value: str) -> Files:
    pack = read(PACK, plain(value), "pack")
    return _campaigns(files, of, lambda each: replace(each, pack=pack))


def _describe(files: Files, _of: str, value: str) -> Files:
    return replace(files, place=Place(parse_description(value), f"the fleet {value}"))


def _versions(files: Files, of: str, value: str) -> Files:
    versions = files.platform.versions
    if of not in Versions.__dataclass_fields__:
        raise ValueError("it is kubernetes, kueue or kai that has a version")
    if of == "kubernetes" and is_version(value) and outside_words(value):
        known = " to ".join(f"{major}.{minor}" for major, minor in (OLDEST, NEWEST))
        raise ValueError(f"what Kubernetes {value} does is not known here; that of {known} is")
    read(VERSIONS, {of: value}, "versions")
    return replace(files, platform=replace(files.platform, versions=replace(versions, **{of: value})))


def _minimum_runtime(files: Files, _of: str, value: str) -> Files:
    seconds = read(Duration(), plain(value), "minimum_runtime")
    defaults: Defaults = replace(files.platform.defaults, minimum_runtime=seconds)
    return replace(files, platform=replace(files.platform, defaults=defaults))


def _controller(files: Files, _of: str, value: str) -> Files:
    if value not in {"on", "off"}:
        raise ValueError("the window controller is on or off")
    return replace(files, controller=value == "on")


WAYS: Final = ListOf(Choice(SHARING, "way to share a card"))
PACK: Final = Integer(1, MOST_PACKED)
_NONE: Final = frozenset({"none", "null"})
_OF_NOTHING: Final = frozenset({"describe", "minimum_runtime", "controller"})
CHANGES: Final[Mapping[str, Change]] = {
    "quota": _queue("quota"),
    "weight": _queue("weight"),
    "limit": _queue("limit"),
    "sharing": _sharing,
    "share": _share,
    "window": _window,
    "pack": _pack,
    "describe": _describe,
    "versions": _versions,
    "minimum_runtime": _minimum_runtime,
    "controller": _controller,
}
_EXAMPLES: Final = {
    "quota": "write --with quota.TEAM=4, or quota.TEAM=none",
    "weight": "write --with weight.TEAM=2",
    "limit": "write --with limit.TEAM=12, or limit.TEAM=none",
    "sharing": f"write --with sharing=WAY,WAY or sharing.PIPELINE=WAY; the ways are {', '.join(SHARING)}",
    "share": 'write --with "sharing=fraction; share=0.25", or share=8Gi',
    "window": "write --with window=8, window=2..8 or window.CAMPAIGN=8",
    "pack": "write --with pack=4 or pack.CAMPAIGN=4",
    "describe": 'write --with "describe=2 nodes of 8 x H100-SXM"',
    "versions": "write --with versions.kueue=0.20",
    "controller": "write --with controller=off",
    "minimum_runtime": "write --with minimum_runtime=10m",
}
