"""Slices of cards hold to a team's limit under KAI as under Kueue, and what is not counted is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from allotment.devices.classes import COUNTED_MIG_CLASS, MIG_CLASS, DeviceClass
from allotment.devices.describe import parse_description
from allotment.kubernetes.render.platform import render_platform
from allotment.kubernetes.render.platform.kueue import counted_classes
from allotment.planning.scenes.kai_claims import uncounted
from allotment.planning.scenes.scene import scene_for
from allotment.planning.scenes.values import Place, Scene
from allotment.platform.model import Card, Platform, Queue
from allotment.simulation.draws import Draws
from allotment.simulation.setting import Scheduler
from allotment.simulation.simulate import simulate
from tests.planning.scene_files import ARCHIVE, CAMPAIGN, PIPELINE, platform, repository

SLICED = "1 nodes of 1 x H100-SXM mig=1g.10gb*7"
SMALL = f"{PIPELINE}gpu: {{memory: 4Gi, sharing: mig}}\nestimate: {{page: 3s, pages: 10, load: 1s}}\n"


def scene(root: Path, scheduler: str, fleet: str = SLICED) -> Scene:
    found = repository(root, pipelines_read=SMALL, campaigns_letters=f"{CAMPAIGN}window: 4\n")
    team = replace(ARCHIVE, queue=Queue(2, 1, 2))
    of = platform(teams={"archive": team})
    return scene_for(found, of, team, Place(parse_description(fleet), "the fleet"), scheduler=scheduler)


@pytest.mark.parametrize(("scheduler", "most"), [("default", 4), ("kueue", 2), ("kai", 2), ("both", 2)])
def test_a_limit_holds_for_slices_wherever_there_is_one(tmp_path: Path, scheduler: str, most: int) -> None:
    shown = scene(tmp_path, scheduler)
    course = simulate(shown.setting, shown.works, shown.run_times, Draws(1), 36_000)
    assert max(sum(a.bound <= b.bound < a.ended for a in course.spans) for b in course.spans) == most


@pytest.mark.parametrize("scheduler", ["default", "kueue", "kai", "both"])
def test_what_kai_does_not_promise_is_told_where_it_places(tmp_path: Path, scheduler: str) -> None:
    notes = [each for each in scene(tmp_path, scheduler).notes if "roadmap of 2026" in each]
    assert bool(notes) == (scheduler in {"kai", "both"})


def test_what_kai_does_not_count_is_told_with_whose_it_is(tmp_path: Path) -> None:
    work = scene(tmp_path, "default").works[0]  # which asks for NVIDIA's own class
    world = parse_description(SLICED)
    classes = {**world.classes, "tpu": DeviceClass("tpu", extended_resource_name="example.org/tpu")}
    world = replace(world, classes=classes)
    request = replace(work.ask.request, others=(("example.org/tpu", 1.0), ("example.org/disk", 1.0)))
    counting = replace(work, name="counting", ask=replace(work.ask, claims=(), request=request))
    told = list(uncounted([work, counting], world, Scheduler.KAI, "0.17"))
    first, beyond = "KAI 0.17 does not count", "no quota and no limit holds for those of"
    assert told == [
        f"{first} claims of class `{MIG_CLASS}`: {beyond} letters",
        f"{first} pods that ask for `example.org/tpu`: {beyond} counting",
    ]
    assert not list(uncounted([work], world, Scheduler.BOTH, "0.17"))  # Kueue alone holds a quota there


@pytest.mark.parametrize(
    ("scheduler", "sharing", "there"),
    [
        ("kai", ("whole", "mig"), True),
        ("both", ("whole", "mig"), True),
        ("kueue", ("whole", "mig"), False),
        ("kai", ("whole",), False),
    ],
)
def test_the_platforms_objects_have_the_class(scheduler: str, sharing: tuple[str, ...], there: bool) -> None:
    of = Platform(engine="kubernetes", scheduler=scheduler, sharing=sharing)
    names = [
        each["metadata"]["name"] for each in render_platform(of).objects if each["kind"] == "DeviceClass"
    ]
    assert (COUNTED_MIG_CLASS in names, COUNTED_MIG_CLASS in counted_classes(of)) == (there, there)


def test_pods_that_count_cards_by_a_class_are_told_to_be_uncounted_by_kai() -> None:
    of = Platform(engine="kubernetes", scheduler="kai", cards={"l4": Card("L4", "gpu-l4")})
    assert any("no pods that ask for `allotment/gpu-l4`" in note.text for note in render_platform(of).notes)
