"""Who pays under each scheduler: a team that has borrowed what another team has a right to, and asks for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from allotment.planning.plan.plan import Becomes, Change, Changes, Payer, Plan
from allotment.planning.plan.planning import plan_for
from allotment.planning.plan.question import Question
from allotment.planning.scenes.scene import scene_for
from allotment.planning.scenes.values import Scene
from allotment.platform.model import Queue, Team
from allotment.simulation.distributions import Constant
from allotment.simulation.run_times import Basis, RunTimes, Times
from tests.planning.scene_files import described, platform, repository

HOUR = 3600.0
ARCHIVE, MUSEUM = Team("archive", queue=Queue(2)), Team("museum", queue=Queue(2))
CHANGES = Changes("nothing", (Change("campaigns/letters", Becomes.NEW),))


def volumes(letter: str, count: int) -> str:
    pages = ", ".join(f"'https://x.org/{number}.jpg'" for number in range(4))
    listed = ", ".join(f"{{id: {letter}{number}, images: [{pages}]}}" for number in range(count))
    return f"pipeline: read\nwindow: 4\nvolumes: [{listed}]\n"


def scene(tmp_path: Path, scheduler: str) -> Scene:
    """Four cards; the museum has them all, and two hours later the archive wants two of them."""
    of = platform(teams={"archive": ARCHIVE, "museum": MUSEUM}, scheduler=scheduler)
    own = repository(tmp_path / "own", of, campaigns_letters=volumes("a", 2))
    other = repository(
        tmp_path / "other", of, campaigns_maps=volumes("m", 8), campaigns_letters=volumes("z", 1)
    )
    other = replace(other, campaigns={"maps": other.campaigns["maps"]})
    found = scene_for(
        own, of, ARCHIVE, described("1 nodes of 4 x A100-80"), scheduler=scheduler, beside=[(other, MUSEUM)]
    )
    works = tuple(
        replace(work, arrival=2.5 * HOUR if work.planned else 0.0, max_seconds=1e9) for work in found.works
    )
    times = Times(Constant(HOUR), None, Basis.MEASURED, "an hour a page")
    return replace(found, works=works, run_times=RunTimes(guess=times))


def plan(tmp_path: Path, scheduler: str) -> Plan:
    question = Question(draws=2, until=30 * 24 * HOUR, risks=False)
    return plan_for(scene(tmp_path, scheduler), CHANGES, question, team="archive", processes=1)


def maps(found: Plan) -> Payer:
    (payer,) = found.payers
    assert (payer.name, payer.team, payer.draws) == ("maps", "museum", 1.0)
    return payer


def test_kai_takes_back_what_was_lent_and_no_more(tmp_path: Path) -> None:
    found = plan(tmp_path, "kai")
    payer, (letters,) = maps(found), found.works
    assert payer.reclaimed.p50 == 2
    assert payer.pages_lost.p90 == 2
    assert letters.start.p90 is not None
    assert letters.start.p90 == pytest.approx(2.5 * HOUR, abs=600)


def test_kueue_evicts_the_whole_window(tmp_path: Path) -> None:
    payer = maps(plan(tmp_path, "kueue"))
    assert payer.reclaimed.p50 == 4


def test_the_default_scheduler_takes_nothing_from_anybody(tmp_path: Path) -> None:
    found = plan(tmp_path, "default")
    assert all(payer.reclaimed.p90 == 0 for payer in found.payers)
    (letters,) = found.works
    assert letters.start.p50 is not None
    assert letters.start.p50 >= 4 * HOUR
    assert letters.waits


def test_with_both_kueue_says_who_pays(tmp_path: Path) -> None:
    assert maps(plan(tmp_path, "both")).reclaimed.p50 == 4
