"""What `allot compare` is asked: files and a world into variants, each with its scene, or why it has none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from allotment.cli.plans.beside import beside_of
from allotment.cli.plans.grounds import Grounds
from allotment.errors import AllotmentError, UsageError, did_you_mean, in_one_line
from allotment.planning.compare.changing import Files, changes_of
from allotment.planning.compare.column_files import column_files
from allotment.planning.compare.comparing import Variant
from allotment.planning.scenes.looking import look_beside
from allotment.planning.scenes.scene import scene_for
from allotment.planning.scenes.values import Choices, Known, Scene
from allotment.platform.model import SCHEDULERS, Platform, Team
from allotment.quantities import QuantityError
from allotment.quantities.duration import parse_duration
from allotment.simulation.setting import Chances, Pace
from allotment.simulation.work import Work

PART = "-part"


class NothingLeftError(UsageError):
    """All that is named is complete, held, or over, in every column alike."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is compared: the files, the team whose they are, which of its works, and when which is sent."""

    files: Files
    team: Team
    names: tuple[str, ...]
    known: Known
    arrivals: Mapping[str, float]
    inputs: tuple[Pace, Chances]

    def variants(self, schedulers: Sequence[str], changes: Sequence[str]) -> Iterator[Variant]:
        """Each scheduler as it is, and with each group of changes."""
        groups = dict.fromkeys(map(changes_of, changes))
        if () in groups:
            raise UsageError("`--with` changes nothing", remedy="write --with KEY=VALUE, such as window=8")
        for scheduler in schedulers:
            for group in ((), *groups):
                yield self._variant(scheduler, group)

    def _variant(self, scheduler: str, changes: tuple[str, ...]) -> Variant:
        name = f"{scheduler} with {'; '.join(changes)}" if changes else scheduler
        files = column_files(self.files, changes)
        try:
            scene = self._scene(files, scheduler)
        except NothingLeftError:
            raise
        except AllotmentError as error:
            return Variant(name, scheduler, changes, refused=in_one_line(error))
        return Variant(name, scheduler, changes, scene)

    def _scene(self, files: Files, scheduler: str) -> Scene:
        scene = scene_for(
            files.repository,
            files.platform,
            files.platform.teams.get(self.team.name, self.team),
            files.place,
            scheduler=scheduler,
            names=self.names,
            known=self.known,
            choices=Choices(*self.inputs, window=files.controller),
            beside=files.beside,
        )
        if not scene.works:
            what = " and ".join(self.names) or "the repository"
            raise NothingLeftError(
                f"there is nothing to compare: nothing of {what} is left to do",
                remedy="name what is not complete yet (`allot plan` tells), or give a volume a new id",
            )
        return replace(scene, works=tuple(_arriving(scene.works, self.arrivals)))


def question(
    found: Grounds,
    beside: Sequence[str],
    at: Sequence[str],
    inputs: tuple[Pace, Chances],
) -> Question:
    """The question that the options ask of what was found."""
    others = beside_of(beside, found.platform, found.team)
    files = Files(found.repository, found.platform, found.place, others)
    known = look_beside(found.known, others)
    return Question(files, found.team, found.names, known, _arrivals(at, files), inputs)


def schedulers_of(asked: Sequence[str], changes: Sequence[str], platform: Platform) -> tuple[str, ...]:
    """Those that were asked for; without any all four, or with changes that of the platform."""
    if asked:
        return tuple(dict.fromkeys(asked))
    return (platform.scheduler,) if changes else SCHEDULERS


def _arrivals(texts: Sequence[str], files: Files) -> Mapping[str, float]:
    """When which work is sent, in seconds from the beginning."""
    known = [
        name
        for each in (files.repository, *(one for one, _ in files.beside))
        for name in (*each.campaigns, *each.fleets, *each.gangs)
    ]
    found = {}
    for text in texts:
        name, mark, moment = text.partition("=")
        if name not in known:
            raise UsageError(
                f"`--at {text}` names no campaign, fleet or gang",
                remedy=did_you_mean(name, known) or "write --at NAME=2h",
            )
        if name in found:
            raise UsageError(f"`--at {text}`: `{name}` is sent at another time already", remedy="keep one")
        if not mark:
            raise UsageError(f"`--at {text}` does not say when", remedy=f"write --at {name}=2h")
        try:
            found[name] = float(parse_duration(moment))
        except QuantityError as error:
            raise UsageError(f"`--at {text}`: {error}", remedy=f"write --at {name}=2h") from None
    return found


def _arriving(works: Sequence[Work], arrivals: Mapping[str, float]) -> Iterator[Work]:
    for work in works:
        later = arrivals.get(work.name.partition(PART)[0], 0.0) if work.running == () else 0.0
        yield replace(work, arrival=max(work.arrival, 0.0) + later) if later else work
