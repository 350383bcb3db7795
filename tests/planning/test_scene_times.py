"""How long pages take rests on the best that there is, and the scene says on what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from allotment.planning.figures import Figures, PageFigures, VolumeFigures
from allotment.planning.scenes.scene import scene_for
from allotment.planning.scenes.values import Choices, Known, Scene, Source
from allotment.repository.measured import Measured, MeasuredFile, PageSeconds
from allotment.repository.model import Repository
from allotment.repository.recipe import recipe_of
from allotment.simulation.distributions import Clustered, Constant
from allotment.simulation.draws import Draws
from allotment.simulation.run_times import Basis, Sampled, Times
from allotment.simulation.setting import Pace
from allotment.simulation.unknowns import settled
from tests.planning.scene_files import ARCHIVE, PIPELINE, described, platform, repository

H100 = "NVIDIA H100 80GB HBM3"
TWO_KINDS = "1 nodes of 4 x H100-SXM-80, 1 nodes of 4 x L4"
ESTIMATED = f"{PIPELINE}gpu: {{}}\nestimate: {{page: 4s, pages: 300, load: 20s}}\n"


def volume(
    name: str, seconds: float, pages: int = 6, *, waited: float = 0.0, card: str = H100, load: float = 0.0
) -> VolumeFigures:
    return VolumeFigures(
        name,
        tuple(PageFigures(seconds + 0.1 * number, waited, card) for number in range(pages)),
        load=load,
        host="node-1",
    )


def figures(found: Repository, *volumes: VolumeFigures) -> Known:
    return Known(figures={recipe_of(found.pipelines["read"]): Figures(volumes)})


def measured(found: Repository, card: str = "L4") -> Known:
    entry = Measured(
        "read",
        recipe_of(found.pipelines["read"]),
        card,
        2**30,
        0.9,
        4,
        400,
        PageSeconds(3.0, 9.0, 30.0),
        0.25,
        "2026-05-31T12:00:00Z",
    )
    return Known(measured=MeasuredFile(entries=(entry,)))


def scene(found: Repository, known: Known, fleet: str = TWO_KINDS) -> Scene:
    return scene_for(found, platform(), ARCHIVE, described(fleet), known=known)


def times(found: Repository, known: Known, card: str) -> Times:
    return scene(found, known).run_times.of(recipe_of(found.pipelines["read"]), card)


def middle(of: Times) -> float:
    stream = Draws(1).stream("pages")
    return median(of.page.draw(stream) for _ in range(2_001))


def test_pages_of_many_volumes_are_drawn_as_they_were_measured(tmp_path: Path) -> None:
    found = repository(tmp_path)
    known = figures(found, *(volume(f"v{number}", 2.0 + number, waited=1.0) for number in range(3)))
    told = times(found, known, "H100-SXM-80")
    assert isinstance(told.page, Clustered)
    assert told.basis is Basis.MEASURED
    assert min(told.page.groups[0]) == 3.0  # what a page was waited for counts
    elsewhere = times(found, known, "L4")
    assert elsewhere.basis is Basis.OTHER_CARD
    assert elsewhere.doubt > told.doubt


def test_pages_of_one_volume_are_in_doubt(tmp_path: Path) -> None:
    found = repository(tmp_path)
    one = times(found, figures(found, volume("v", 2.0, 30)), "H100-SXM-80")
    many = times(found, figures(found, *(volume(f"v{n}", 2.0, 30) for n in range(9))), "H100-SXM-80")
    assert isinstance(one.page, Sampled)
    assert one.doubt > many.doubt
    few = times(found, figures(found, volume("v", 2.0, 2)), "H100-SXM-80")
    assert middle(few) == pytest.approx(2.1, rel=0.2)


def test_three_figures_are_a_distribution_through_them(tmp_path: Path) -> None:
    found = repository(tmp_path)
    told = times(found, measured(found), "L4")
    assert told.basis is Basis.MEASURED
    assert middle(told) == pytest.approx(3.0 / 0.75, rel=0.05)
    assert times(found, measured(found), "H100-SXM-80").basis is Basis.OTHER_CARD


def test_records_go_before_three_figures(tmp_path: Path) -> None:
    found = repository(tmp_path)
    known = replace(measured(found, "H100-SXM-80"), figures=figures(found, volume("v", 50.0, 30)).figures)
    assert middle(times(found, known, "H100-SXM-80")) > 40


def test_a_slice_tells_of_the_card_that_it_is_a_part_of(tmp_path: Path) -> None:
    found = repository(tmp_path)
    known = figures(found, volume("v", 2.0, 30, card=f"{H100} MIG 3g.40gb"))
    assert times(found, known, "H100-SXM-80").basis is Basis.MEASURED


def test_an_estimate_holds_until_there_are_measurements(tmp_path: Path) -> None:
    found = repository(tmp_path, pipelines_read=ESTIMATED)
    told = times(found, Known(), "L4")
    assert told.basis is Basis.ESTIMATE
    assert middle(told) == pytest.approx(4.0, rel=0.1)
    assert told.load is not None
    assert times(found, measured(found), "L4").basis is Basis.MEASURED


def test_without_anything_it_is_a_guess_that_is_said(tmp_path: Path) -> None:
    found = repository(tmp_path)
    shown = scene(found, Known())
    told = next(each for each in shown.assumptions if each.subject.startswith("a page of read"))
    assert told.source is Source.GUESS
    assert "H100-SXM-80, L4" in told.subject
    assert "estimate" in told.remedy
    assert shown.run_times.of("unheard-of", "L4").basis is Basis.GUESS


def test_a_pipeline_without_cards_is_not_said_to_run_on_them(tmp_path: Path) -> None:
    found = repository(tmp_path, pipelines_read=PIPELINE)
    subjects = {each.subject for each in scene(found, Known()).assumptions}
    assert "a page of read on processors" in subjects


def test_pages_that_nobody_counted_are_drawn_from_what_volumes_had(tmp_path: Path) -> None:
    found = repository(tmp_path)
    done = figures(found, *(volume(f"v{n}", 2.0, 10 + n) for n in range(4)))
    recipe = recipe_of(found.pipelines["read"])
    shown = scene(found, done)
    works, _ = settled(shown.works, shown.run_times, Draws(3))
    assert {unit.pages for unit in works[0].units if unit.name != "a"} <= {10, 11, 12, 13}
    subject = next(each for each in shown.assumptions if each.subject.startswith("pages of"))
    assert (subject.subject, subject.source) == ("pages of 3 of 4 volumes of read", Source.MEASURED)
    estimated = scene(repository(tmp_path / "e", pipelines_read=ESTIMATED), Known())
    assert estimated.run_times.pages[recipe].draw(Draws(1).stream("x")) > 1


def about(shown: Scene, subject: str) -> str:
    """What is said of the first thing that begins so."""
    each = next(each for each in shown.assumptions if each.subject.startswith(subject))
    return f"{each.subject}: {each.value} ({each.source}: {each.said})"


def test_loads_are_those_of_starts_on_the_card_and_in_more_doubt_elsewhere(tmp_path: Path) -> None:
    found = repository(tmp_path)
    loads = {"a": 12.0, "b": 12.0, "c": 10.0}  # one worker took both a and b, and loaded once
    known = figures(found, *(volume(name, 2.0, load=load) for name, load in loads.items()))
    there, elsewhere = (times(found, known, card) for card in ("H100-SXM-80", "L4"))
    assert there.load == elsewhere.load == Sampled((10.0, 12.0))
    assert elsewhere.load_doubt > there.load_doubt > 0
    assert about(scene(found, known), "loading the steps of read on H100").startswith(
        "loading the steps of read on H100-SXM-80: 12 s (measured: 2 starts of complete volumes"
    )


def test_what_an_estimate_of_loading_is_off_by_it_is_for_all_starts(tmp_path: Path) -> None:
    shown = scene(repository(tmp_path, pipelines_read=ESTIMATED), Known())
    assert about(shown, "loading").endswith(
        "20 s (estimate: the pipeline's own estimate; taken as 10 s to 40 s)"
    )
    recipe = shown.works[0].recipe

    def starts(seed: int) -> list[float]:
        load = settled((), shown.run_times, Draws(seed))[1].of(recipe, "L4").load
        assert load is not None
        return [load.draw(Draws(seed).stream("load", number)) for number in range(200)]

    firsts = sorted(min(starts(seed)) for seed in range(60))
    assert 6 < firsts[6] < 12 < firsts[-6]
    assert max(starts(1)) < 2.2 * min(starts(1))


def test_what_is_set_of_loading_holds_for_all_that_load(tmp_path: Path) -> None:
    found = repository(tmp_path, pipelines_read=ESTIMATED)
    for known in (Known(), figures(found, volume("v", 2.0, load=12.0))):
        shown = scene_for(
            found,
            platform(),
            ARCHIVE,
            described(TWO_KINDS),
            known=known,
            choices=Choices(Pace(model_load=0.0)),
        )
        told = shown.run_times.of(recipe_of(found.pipelines["read"]), "H100-SXM-80")
        assert (told.load, told.load_doubt) == (Constant(0.0), 0.0)
        assert shown.run_times.of("unheard-of", "L4").load == Constant(0.0)
        assert about(shown, "loading").startswith("loading the steps of read: 0 s (set with --set: ")


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        pytest.param(3, "3 pages of 1 volume in the bucket, the slowest 2.2 s; of so few", id="few"),
        pytest.param(30, "30 pages of 1 volume in the bucket; the middle is taken as", id="many"),
    ],
)
def test_of_few_pages_the_slow_ones_are_widened_and_that_is_said(
    tmp_path: Path, pages: int, said: str
) -> None:
    found = repository(tmp_path)
    shown = scene(found, figures(found, volume("v", 2.0, pages)))
    assert said in about(shown, "a page of read on H100")


def test_a_step_that_only_reads_is_guessed_as_reading(tmp_path: Path) -> None:
    shown = scene(repository(tmp_path, pipelines_read="steps: [{step: checksum}]\n"), Known())
    assert about(shown, "a page").startswith(
        "a page of read on processors: 0.1 s, one in twenty over 2 s (guess"
    )
    assert about(shown, "loading") == "loading the steps of read: 0 s (default: checksum loads no model)"


def test_figures_of_nothing_are_said_of_processors(tmp_path: Path) -> None:
    found = repository(tmp_path)
    shown = scene(found, figures(found, volume("v", 2.0, card="", load=3.0)))
    for subject in ("a page", "loading"):
        assert " on processors" in about(shown, subject)
        assert "  " not in about(shown, subject)


def test_a_doubtful_figure_makes_whole_courses_differ(tmp_path: Path) -> None:
    found = repository(tmp_path)
    shown = scene(found, Known())
    recipe = recipe_of(found.pipelines["read"])

    def total(seed: int) -> float:
        _, told = settled((), shown.run_times, Draws(seed))
        return told.of(recipe, "L4").page.total(Draws(0).stream("x"), 1_000)

    totals = sorted(total(seed) for seed in range(40))
    assert totals[30] > 1.8 * totals[10]


def test_a_gang_that_does_not_say_how_long_it_runs_is_guessed(tmp_path: Path) -> None:
    gang = f"{PIPELINE.splitlines()[0]}\ncommand: [train]\nworkers: 2\ngpu: {{}}\n"
    shown = scene(repository(tmp_path, gangs_train=gang), Known())
    work = next(each for each in shown.works if each.name == "train")
    assert shown.run_times.of(work.recipe, "L4").basis is Basis.GUESS
    assert any(each.subject == "how long gang train runs" for each in shown.assumptions)
