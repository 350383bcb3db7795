"""``--with key=value``: what else may differ between columns, as changes to what files say.

A change is made to the values that files are read into, and everything after that is as it would be with
files that say so: the same rendering, the same claims, the same queues.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from allotment.devices.describe import parse_description
from allotment.errors import UsageError, did_you_mean
from allotment.planning.scenes.values import Place
from allotment.platform.model import Defaults, Platform, Queue, Team, Versions
from allotment.platform.need import SHARING, Need
from allotment.quantities.duration import parse_duration
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
    name, _, of = key.partition(".")
    if not mark or name not in CHANGES:
        raise UsageError(
            f"`--with {change}` is no change that is known here",
            remedy=did_you_mean(name, CHANGES)
            or f"write KEY=VALUE; the keys are {', '.join(sorted(CHANGES))}",
        )
    try:
        return CHANGES[name](files, of, value)
    except ValueError as error:
        raise UsageError(f"`--with {change}`: {error}", remedy=_EXAMPLES[name]) from None


def _queue(field: str) -> Change:
    def change(files: Files, of: str, value: str) -> Files:
        teams = files.platform.teams
        if of not in teams:
            raise UsageError(
                f"the platform has no team `{of}`, whose {field} could be changed",
                remedy=did_you_mean(of, teams) or f"write --with {field}.TEAM={value}",
            )
        number = None if value in {"none", "null", ""} and field != "weight" else float(value)
        queue: Queue = replace(teams[of].queue, **{field: number})  # type: ignore[arg-type]
        changed_teams = {**teams, of: replace(teams[of], queue=queue)}
        beside = tuple((each, changed_teams[team.name]) for each, team in files.beside)
        return replace(files, platform=replace(files.platform, teams=changed_teams), beside=beside)

    return change


def _sharing(files: Files, of: str, value: str) -> Files:
    ways = tuple(each.strip() for each in value.split(","))
    unknown = [way for way in ways if way not in SHARING]
    if unknown:
        raise ValueError(f"`{unknown[0]}` is no way to share a card")
    allowed = tuple(dict.fromkeys((*files.platform.sharing, *ways)))
    files = replace(files, platform=replace(files.platform, sharing=allowed))
    return _needs(files, of, lambda need: replace(need, sharing=ways))


def _share(files: Files, of: str, value: str) -> Files:
    share = value if value[-1:].isalpha() else float(value)
    return _needs(files, of, lambda need: replace(need, share=share))


def _needs(files: Files, of: str, change: Callable[[Need], Need]) -> Files:
    """Every need, or that of the pipeline, fleet or gang that is named, changed so."""

    def needs(repository: Repository) -> Repository:
        return replace(
            repository,
            pipelines=_with_needs(repository.pipelines, of, change),
            fleets=_with_needs(repository.fleets, of, change) if of else repository.fleets,
            gangs=_with_needs(repository.gangs, of, change) if of else repository.gangs,
        )

    return files.repositories(needs)


def _with_needs(named: Mapping[str, T], of: str, change: Callable[[Need], Need]) -> dict[str, T]:
    return {
        name: replace(each, gpu=change(each.gpu)) if each.gpu is not None and of in {"", name} else each
        for name, each in named.items()
    }


def _campaigns(files: Files, of: str, change: Callable[[Campaign], Campaign]) -> Files:
    known = [
        name for each in (files.repository, *(one for one, _ in files.beside)) for name in each.campaigns
    ]
    if of and of not in known:
        raise UsageError(f"there is no campaign `{of}`", remedy=did_you_mean(of, known))

    def campaigns(repository: Repository) -> Repository:
        changed_ones = {
            name: change(each) if of in {"", name} else each for name, each in repository.campaigns.items()
        }
        return replace(repository, campaigns=changed_ones)

    return files.repositories(campaigns)


def _window(files: Files, of: str, value: str) -> Files:
    low, mark, high = value.partition("..")
    window = Window(int(low), int(high)) if mark else Window(1, int(low))
    if not 1 <= window.min <= window.max:
        raise ValueError("a window is at least one, and its most is no less than its least")
    return _campaigns(files, of, lambda each: replace(each, window=window))


def _pack(files: Files, of: str, value: str) -> Files:
    if int(value) < 1:
        raise ValueError("a pod takes at least one volume")
    return _campaigns(files, of, lambda each: replace(each, pack=int(value)))


def _describe(files: Files, _of: str, value: str) -> Files:
    return replace(files, place=Place(parse_description(value), f"the fleet {value}"))


def _versions(files: Files, of: str, value: str) -> Files:
    versions = files.platform.versions
    if of not in Versions.__dataclass_fields__:
        raise ValueError("it is kubernetes, kueue or kai that has a version")
    return replace(files, platform=replace(files.platform, versions=replace(versions, **{of: value})))


def _minimum_runtime(files: Files, _of: str, value: str) -> Files:
    defaults: Defaults = replace(files.platform.defaults, minimum_runtime=parse_duration(value))
    return replace(files, platform=replace(files.platform, defaults=defaults))


def _controller(files: Files, _of: str, value: str) -> Files:
    if value not in {"on", "off"}:
        raise ValueError("the window controller is on or off")
    return replace(files, controller=value == "on")


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
    "quota": "write --with quota.TEAM=4",
    "weight": "write --with weight.TEAM=2",
    "limit": "write --with limit.TEAM=12, or limit.TEAM=none",
    "sharing": f"write --with sharing=WAY,WAY or sharing.PIPELINE=WAY; the ways are {', '.join(SHARING)}",
    "share": "write --with share=0.25, or share=8Gi",
    "window": "write --with window=8, window=2..8 or window.CAMPAIGN=8",
    "pack": "write --with pack=4 or pack.CAMPAIGN=4",
    "describe": 'write --with "describe=2 nodes of 8 x H100-SXM"',
    "versions": "write --with versions.kueue=0.20",
    "controller": "write --with controller=off",
    "minimum_runtime": "write --with minimum_runtime=10m",
}
