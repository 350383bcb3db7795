"""Whatever files say, a scene's works are whole: every volume once, no wider than it can be, named apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.errors import AllotmentError
from allotment.planning.scenes.scene import scene_for
from allotment.planning.scenes.values import Known
from allotment.repository.model import Campaign, ImagesSource, Repository, Volume, Window
from allotment.simulation.draws import Draws
from allotment.simulation.setting import Scheduler
from allotment.simulation.unknowns import settled
from allotment.simulation.work import Kind
from tests.planning.scene_files import ARCHIVE, PIPELINE, described, platform, repository

NEEDS = ("{}", "{count: 2}", "{memory: 20Gi}", "{sharing: fraction, share: 0.5}", "{sharing: time-slicing}")
FLEETS = ("2 nodes of 4 x A100-80", "1 x L4", "1 nodes of 2 x A100-80 mig=3g.40gb*2")


@pytest.fixture(scope="module")
def bases() -> Mapping[str, Repository]:
    """A repository for each need."""
    found = {}
    with TemporaryDirectory() as folder:
        for place, need in enumerate(NEEDS):
            root = Path(folder) / str(place)
            found[need] = repository(root, pipelines_read=f"{PIPELINE}gpu: {need}\n")
    return found


@st.composite
def campaigns(draw: st.DrawFn, name: str) -> Campaign:
    count, most = draw(st.integers(1, 30)), draw(st.integers(1, 12))
    pages = draw(st.lists(st.integers(1, 5), min_size=count, max_size=count))
    volumes = [
        Volume(f"v{place}", ImagesSource(tuple(f"https://x.org/{each}" for each in range(pages[place]))))
        for place in range(count)
    ]
    return Campaign(
        name,
        "read",
        tuple(volumes),
        Window(draw(st.integers(1, most)), most),
        draw(st.sampled_from(("bulk", "service"))),
        pack=draw(st.integers(1, 4)),
        path=Path(f"campaigns/{name}.yaml"),
    )


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_works_are_whole(bases: Mapping[str, Repository], data: st.DataObject) -> None:
    need = data.draw(st.sampled_from(NEEDS))
    mine = [data.draw(campaigns(name)) for name in ("one", "two")]
    found = replace(bases[need], campaigns={each.name: each for each in mine})
    complete = frozenset(volume.id for volume in mine[0].volumes if data.draw(st.booleans(), label=volume.id))
    scheduler = data.draw(st.sampled_from(list(Scheduler)))
    rest: dict[str, Any] = {"scheduler": scheduler, "known": Known(complete={"read": complete})}
    place = described(data.draw(st.sampled_from(FLEETS)))
    try:
        scene = scene_for(found, platform(), ARCHIVE, place, **rest)
    except AllotmentError:
        return  # a need that this scheduler cannot be asked for
    works, _ = settled(scene.works, scene.run_times, Draws(1))
    assert len({work.name for work in works}) == len(works)
    for campaign in mine:
        left = [volume.id for volume in campaign.volumes if volume.id not in complete]
        work = next((each for each in works if each.name == campaign.name), None)
        if work is None:
            assert not left
            continue
        assert [unit.name for unit in work.units if unit.done < unit.pages] == left
        assert (work.kind, work.pack) == (Kind.CAMPAIGN, campaign.pack)
        assert 1 <= work.least <= work.most <= campaign.window.max
        assert work.most <= -(-len(work.units) // work.pack)
        assert work.team in scene.setting.teams
        assert 0 < work.ask.gpus <= 2
        assert scene.run_times.of(work.recipe, "whatever").page.draw(Draws(1).stream("x")) > 0
