"""A work or a team has one colour on a page, in every picture, and no two of them have the same."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from allotment.cli.pages.colours import colours_of
from allotment.cli.pages.compare import compare_page
from allotment.cli.pages.plan import plan_page
from allotment.pictures.palette import MANY, REST
from allotment.simulation.outcome import Outcome
from tests.cli.page_values import comparison, outcome, plan

LEGEND = re.compile(r"<li>(?:(?!</li>).)*?url\(#[^)]*-p(\d+)\)(?:(?!</li>).)*?</svg>([^<]+)</li>", re.DOTALL)


def painted(page: str) -> dict[str, set[int]]:
    """The paints that each name has in the legends of a page."""
    found: dict[str, set[int]] = {}
    for paint, name in LEGEND.findall(page):
        if not name.startswith("paler"):
            found.setdefault(name.removesuffix(" (planned)"), set()).add(int(paint))
    return found


def test_each_has_one_colour_in_all_pictures_of_a_comparison() -> None:
    found = painted(compare_page(comparison(40)))
    assert set(found) == {"kyrkobocker-2", "speech-batch", "served-llm", "archive", "speech"}
    assert all(len(paints) == 1 for paints in found.values())
    assert len(set.union(*found.values())) == 5


def test_each_has_one_colour_in_all_pictures_of_a_plan() -> None:
    found = painted(plan_page(plan(40)))
    assert set(found) >= {"kyrkobocker-2", "archive", "speech"}
    assert all(len(paints) == 1 for paints in found.values())
    assert len(set.union(*found.values())) == len(found)


def test_the_end_of_what_is_planned_is_marked_as_that() -> None:
    assert ">kyrkobocker-2 is over<" in plan_page(plan())
    assert ">all over<" not in plan_page(plan())


def named(count: int, teams: int) -> Outcome:
    course = outcome(1, 1)
    spans = tuple(
        replace(course.spans[0], work=f"w{number}", team=f"t{number % teams}") for number in range(count)
    )
    return replace(course, spans=spans)


@given(works=st.integers(0, 30), teams=st.integers(1, 12), shown=st.integers(0, 10))
def test_no_colour_is_of_two_things(works: int, teams: int, shown: int) -> None:
    course = named(works, teams)
    found = colours_of([f"w{number}" for number in range(shown)], [course], [])
    paints = [*found.works.values(), *(each for each in found.teams.values() if each != REST)]
    assert len(paints) == len(set(paints))
    assert all(0 <= paint < MANY for paint in paints)
    assert min(works, MANY - min(teams, works, MANY // 2)) <= len(found.works)


def test_works_that_are_not_named_have_the_same_colour_in_each_column() -> None:
    first, second = named(6, 2), named(6, 2)
    one, other = colours_of([], [first, second], []), colours_of([], [second, first], [])
    assert one == other
