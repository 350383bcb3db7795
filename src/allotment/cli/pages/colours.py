"""The colours of a page: a work or a team has the same one in every picture, and no other thing has it too.

There are eight. Teams need them where their shares are drawn, works where cards are, both on one page; so
works have the first and teams those that follow. What is named stands first, then what runs longest; the rest
is painted as the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from allotment.pictures.palette import MANY, REST
from allotment.simulation.outcome import Outcome

NOBODY = "others"
"""Whose that is which no team owns."""
ALL_OF_A_TEAM = "team "
"""What begins the name of all works of a team, where works are too many to be told apart."""


@dataclass(frozen=True, slots=True)
class Colours:
    """The paint of each work, and that of each team, by its place in the palette."""

    works: Mapping[str, int] = field(default_factory=dict)
    teams: Mapping[str, int] = field(default_factory=dict)

    def of_work(self, work: str) -> int:
        """The paint of a work."""
        return self.works.get(work, REST)

    @property
    def on_cards(self) -> Mapping[str, int]:
        """What a picture of cards paints with: works, or all of a team as one."""
        return {**self.works, **{f"{ALL_OF_A_TEAM}{team}": place for team, place in self.teams.items()}}


def colours_of(named: Sequence[str], courses: Iterable[Outcome], teams: Iterable[str]) -> Colours:
    """The colours of a page that shows these courses, with the works that are named first."""
    lengths = defaultdict[str, float](float)
    owners: dict[str, None] = dict.fromkeys(teams)
    for course in courses:
        for span in course.spans:
            lengths[span.work] += span.ended - span.bound
            owners.setdefault(span.team or NOBODY)
    others = sorted((work for work in lengths if work not in set(named)), key=lambda w: (-lengths[w], w))
    works = [*dict.fromkeys(named), *others][: MANY - min(len(owners), MANY // 2)]
    return Colours(
        {work: place for place, work in enumerate(works)},
        {team: min(REST, len(works) + place) for place, team in enumerate(owners)},
    )
