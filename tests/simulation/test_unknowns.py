"""What nobody knows is one number a course: pages of a volume, and how far figures are off."""

from __future__ import annotations

from allotment.simulation.distributions import Constant, through
from allotment.simulation.draws import Draws
from allotment.simulation.run_times import Basis, RunTimes, Times
from allotment.simulation.unknowns import settled
from allotment.simulation.work import Ask, Kind, Unit, Work

TIMES = RunTimes(pages={"r": through(200.0, 0.95, 600.0)})


def work(name: str, *units: Unit) -> Work:
    return Work(name, "archive", Kind.CAMPAIGN, Ask(), units, recipe="r")


def test_pages_are_drawn_where_nobody_counted_them() -> None:
    told = work("a", Unit("one", 7), Unit("two", 0), Unit("three", 0, done=100_000))
    (found,), _ = settled((told,), TIMES, Draws(1))
    assert [unit.name for unit in found.units] == ["one", "two", "three"]
    assert found.units[0].pages == 7
    assert found.units[1].pages > 1
    assert found.units[2].pages == 100_001


def test_a_volume_has_the_same_pages_in_every_order_and_other_ones_under_another_seed() -> None:
    first, second = work("a", Unit("x", 0), Unit("y", 0)), work("a", Unit("y", 0), Unit("x", 0))

    def pages(of: Work, seed: int) -> dict[str, int]:
        return {unit.name: unit.pages for unit in settled((of,), TIMES, Draws(seed))[0][0].units}

    assert pages(first, 1) == pages(second, 1)
    assert pages(first, 1) != pages(first, 2)


def test_works_that_are_counted_are_left_as_they_are() -> None:
    told = work("a", Unit("one", 7))
    assert settled((told,), TIMES, Draws(1))[0][0] is told


def test_a_doubtful_figure_is_off_by_one_factor_for_all_pages_of_a_course() -> None:
    doubtful = Times(Constant(2.0), None, Basis.GUESS, doubt=0.5, rests_on="guess")
    told = RunTimes(
        {("r", "A"): doubtful, ("r", "B"): doubtful}, guess=Times(Constant(2.0), None, Basis.GUESS)
    )
    first, second = (settled((), told, Draws(seed))[1] for seed in (1, 2))
    stream = Draws(0).stream("x")
    assert first.of("r", "A").page.total(stream, 50) == first.of("r", "B").page.total(stream, 50)
    assert first.of("r", "A").page.draw(stream) != second.of("r", "A").page.draw(stream)
    assert first.of("other", "A").page.draw(stream) == 2.0
