"""Very much work is played less often, and it is said; whoever names a number has it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.planning.compare.comparing import Play, Variant, compare
from allotment.planning.compare.drawing import draws_for, why_fewer
from tests.planning.plan_scenes import campaign, scene

REFUSED = Variant("kai", "kai", refused="it has no queue")


@pytest.mark.parametrize(
    ("volumes", "asked", "draws"),
    [(3, None, 10), (2_000, None, 10), (2_001, None, 6), (2_001, 10, 10), (2_001, 1, 1), (3, 2, 2)],
)
def test_very_much_work_is_compared_over_fewer_draws(volumes: int, asked: int | None, draws: int) -> None:
    variants = [REFUSED, Variant("default", "default", scene=scene(campaign(volumes=volumes)))]
    assert draws_for(variants, asked) == draws
    assert bool(why_fewer(variants, asked)) == (draws == 6)


def test_what_cannot_be_played_is_drawn_as_usual() -> None:
    assert (draws_for([REFUSED], None), why_fewer([REFUSED], None)) == (10, "")


def test_it_is_said_in_the_notes() -> None:
    variants = [Variant("default", "default", scene=scene(campaign(volumes=2)))]
    play = Play(draws=2, until=1e6, said="drawn twice")
    assert "drawn twice" in compare(variants, play).notes
    assert "" not in compare(variants, replace(play, said="")).notes
