"""The cards of nodes on which no pod starts: in no count, and no node that is free."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from allotment.devices.describe import parse_description
from allotment.devices.nodes import Node
from allotment.planning.scenes.scene import scene_for
from allotment.planning.scenes.values import Place
from allotment.scheduling.state.nodes import ClusterNode
from allotment.scheduling.state.state import State
from allotment.simulation.draws import Draws
from allotment.simulation.machines import closed_nodes, gpus_by_kind
from allotment.simulation.metrics import ground_of
from allotment.simulation.setting import Scheduler, Setting
from allotment.simulation.simulate import simulate
from tests.planning.scene_files import ARCHIVE, platform, repository

COUNTS = {"nvidia.com/gpu": 4}
SETTING = Setting(
    Scheduler.SIMPLE,
    State(
        nodes={
            "well": ClusterNode("well", allocatable=COUNTS),
            "cordoned": ClusterNode("cordoned", allocatable=COUNTS, schedulable=False),
            "away": ClusterNode("away", allocatable=COUNTS, ready=False),
        }
    ),
    {},
    card_of_node={"well": "L4", "cordoned": "L4", "away": "T4"},
)


def test_counted_cards_are_those_of_nodes_that_are_well() -> None:
    assert closed_nodes(SETTING) == {"cordoned", "away"}
    assert gpus_by_kind(SETTING) == (("L4", 8), ("T4", 4))
    assert gpus_by_kind(SETTING, closed_nodes(SETTING)) == (("L4", 4),)
    assert ground_of(SETTING).nodes == {"well"}


@pytest.mark.parametrize("scheduler", [Scheduler.DEFAULT, Scheduler.KUEUE, Scheduler.KAI, Scheduler.SIMPLE])
def test_an_outcome_counts_no_published_card_of_a_cordoned_node(scheduler: Scheduler, tmp_path: Path) -> None:
    world = parse_description("2 nodes of 4 x A100-80, 2 x L4")
    names = sorted({each.node_name for each in world.slices if each.node_name})
    nodes = {name: Node(name, unschedulable=name == names[0]) for name in names}
    place = Place(replace(world, nodes=nodes), "a cluster")
    files = repository(tmp_path)
    scene = scene_for(files, platform(), ARCHIVE, place, scheduler=scheduler)
    outcome = simulate(scene.setting, scene.works, scene.run_times, Draws(1), 3600.0)
    assert outcome.gpus == (("A100-80", 4), ("L4", 2))
    assert names[0] not in ground_of(scene.setting).nodes
