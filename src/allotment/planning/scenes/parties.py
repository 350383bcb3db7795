"""The teams whose files are played: whose plan it is first, then those that send at the same time.

Run times are kept by recipe. Two pipelines may do the same and yet be estimated otherwise, in one repository
or in two: the first has the recipe's own key, and each further one a key of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from allotment.kubernetes import kinds
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.render import Rendered, render
from allotment.kubernetes.render.context import namespace_of
from allotment.planning.scenes.stage import Stage
from allotment.planning.scenes.times import Party as Played
from allotment.planning.scenes.values import NOTHING_KNOWN, Known
from allotment.platform.model import Team
from allotment.repository.model import Campaign, Repository
from allotment.repository.recipe import recipe_of
from allotment.simulation.work import Work

Files = tuple[Repository, Team]


@dataclass(frozen=True, slots=True)
class Party:
    """A team with its repository, what that becomes, what is known of it, and the keys of its run times."""

    repository: Repository
    team: Team
    rendered: Rendered
    known: Known
    keys: Mapping[str, str]
    is_beside: bool = False

    def played(self, works: Sequence[Work]) -> Played:
        """What its run times are told of: its campaigns that have work to do."""
        of = self.team.name if self.is_beside else ""
        return Played(self.repository, tuple(self._campaigns(works)), self.known, self.keys, of)

    @property
    def owners(self) -> Iterator[Object]:
        """Its Jobs and Deployments."""
        for each in self.rendered.objects:
            if each["kind"] in {kinds.JOB.name, kinds.DEPLOYMENT.name}:
                yield each

    def _campaigns(self, works: Sequence[Work]) -> Iterator[Campaign]:
        keys = {work.recipe for work in works}
        for each in self.repository.campaigns.values():
            if not each.suspend and self.keys[each.pipeline] in keys:
                yield each


def parties_of(stage: Stage, mine: Files, known: Known, beside: Iterable[Files]) -> tuple[Party, ...]:
    """All of them, rendered for the stage."""
    taken: set[str] = set()
    first = _party(stage, mine, known, taken, is_beside=False)
    others = (
        _party(stage, each, known.beside.get(each[0].root, NOTHING_KNOWN), taken, is_beside=True)
        for each in beside
    )
    return (first, *others)


def _party(stage: Stage, files: Files, known: Known, taken: set[str], *, is_beside: bool) -> Party:
    repository, team = files
    live = _sent(stage.real, team)
    rendered = render(repository, stage.platform, team, there=live)
    return Party(repository, team, rendered, known, dict(_keys(files, taken)), is_beside)


def _keys(files: Files, taken: set[str]) -> Iterator[tuple[str, str]]:
    """The key of each pipeline that is used; ``taken`` are those of others, to which they are added."""
    repository, team = files
    for name in sorted({each.pipeline for each in repository.campaigns.values()}):
        recipe = recipe_of(repository.pipelines[name])
        key = recipe if recipe not in taken else f"{recipe} as {name} of {team.name}"
        taken.add(key)
        yield name, key


def _sent(snapshot: Snapshot | None, team: Team) -> frozenset[str]:
    """The campaigns that have a Job there, which are rendered though their files suspend them."""
    jobs = snapshot.of(kinds.JOB, namespace_of(team)) if snapshot is not None else ()
    labels = [each["metadata"].get("labels") or {} for each in jobs]
    return frozenset(str(each["allotment/campaign"]) for each in labels if "allotment/campaign" in each)
