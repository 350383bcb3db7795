"""Nodes that no pod starts on: their devices are there, and nobody gets them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from allotment.devices.closed_nodes import (
    CORDONED,
    NOT_READY,
    NOT_THERE,
    NOT_TOLD,
    TAINTED,
    closed_nodes,
    closed_notes,
    closed_to_all,
)
from allotment.devices.describe import parse_description
from allotment.devices.fleet import Fleet, Placed
from allotment.devices.inventory import State, inventory
from allotment.devices.reading import read_files
from allotment.devices.world import World
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.kubernetes.cluster.world import world_of as snapshot_world
from allotment.needs import claim_for
from allotment.needs.fit import explain
from allotment.needs.fit_findings import fit_findings
from allotment.planning.plan.fitting import fits_of
from allotment.planning.why import why as whys
from allotment.platform.model import Platform
from allotment.platform.need import Need
from allotment.repository.model import Pipeline

READY = {"conditions": [{"type": "Ready", "status": "True"}]}
UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}
DEDICATED = {"key": "dedicated", "value": "training", "effect": "NoSchedule"}
OF_TRAINING = f"{TAINTED}dedicated=training:NoSchedule"
STAYS = {NOT_THERE, OF_TRAINING}
CLAIM = claim_for(Need())


def node(name: str, **parts: Any) -> Mapping[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, **parts}


def world_of(tmp_path: Path, *nodes: Mapping[str, Any], fleet: str = "2 nodes of 4 x H100-SXM") -> World:
    """A described fleet with Node objects beside it, as out of a file."""
    items = [*(each.to_dict() for each in parse_description(fleet).slices), *nodes]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return read_files([path]).without_errors()


SECOND = [
    pytest.param(node("node-2", spec={"unschedulable": True}, status=READY), CORDONED, id="cordoned"),
    pytest.param(
        node("node-2", status={"conditions": [{"type": "Ready", "status": "Unknown"}]}),
        NOT_READY,
        id="not ready",
    ),
    pytest.param(node("node-2", spec={"taints": [UNREACHABLE]}, status=READY), NOT_READY, id="unreachable"),
    pytest.param(node("another", status=READY), NOT_THERE, id="no Node object"),
    pytest.param(node("node-2", spec={"taints": [DEDICATED]}, status=READY), OF_TRAINING, id="tainted"),
]


@pytest.mark.parametrize(("second", "reason"), SECOND)
def test_devices_of_a_closed_node_are_in_no_count(
    second: Mapping[str, Any], reason: str, tmp_path: Path
) -> None:
    world = world_of(tmp_path, node("node-1", status=READY), second)
    assert closed_nodes(world) == {"node-2": reason}
    assert {each.where: (each.state, each.why) for each in inventory(world, {})} == {
        "node-1": (State.FREE, ""),
        "node-2": (State.CLOSED, reason),
    }
    assert explain(CLAIM, world).pods == 4
    fleet = Fleet(world)
    placed = [fleet.place(CLAIM) for _ in range(5)]
    assert [each.node for each in placed if isinstance(each, Placed)] == ["node-1"] * 4
    fits, _ = fits_of("x", Pipeline("x", (), gpu=Need()), Platform(), world, here=False)
    assert fits is not None
    assert (fits.sentence, fits.free) == ("fits 4 of 8 cards", 4)
    assert fits.obstacle.endswith(f" are on a node that pods start on (4 x H100-SXM-80: {reason})")
    (note,) = [each for each in closed_notes(world) if each in world.notes]
    assert note.startswith("no pod starts on node-2, which ")


@pytest.mark.parametrize(("second", "reason"), SECOND)
def test_what_only_a_closed_node_has_waits_for_it_and_never_starts_on_one_that_is_gone(
    second: Mapping[str, Any], reason: str, tmp_path: Path
) -> None:
    named = {**second, "metadata": {"name": second["metadata"]["name"].replace("node-2", "node-1")}}
    world = world_of(tmp_path, named, fleet="2 x H100-SXM")
    (alternative,) = explain(CLAIM, world).alternatives
    assert alternative.nearest is not None
    assert alternative.nearest.short == (reason,)
    never = fit_findings(Pipeline("x", (), gpu=Need()), world)
    assert [each.rule for each in never] == (["never-fits"] if reason in STAYS else [])
    told = whys.why(CLAIM, world)
    state = whys.State.NEVER if reason in STAYS else whys.State.WAITS
    assert told.state is state
    assert told.sentence.endswith(
        f"all 2 that would do are on nodes that no pod starts on: 2 x H100-SXM-80: {reason}"
    )


def test_what_has_one_node_that_comes_back_among_those_that_are_gone_waits(tmp_path: Path) -> None:
    told = whys.why(CLAIM, world_of(tmp_path, node("node-1", spec={"unschedulable": True})))
    assert told.state is whys.State.WAITS


def test_what_has_one_node_that_comes_back_behind_many_kinds_that_do_not_waits(tmp_path: Path) -> None:
    cards = ("8 x H100-SXM", "4 x L4", "3 x T4", "2 x A100-80", "1 x A10")
    taints = {"taints": [DEDICATED]}
    names = [f"node-{number}" for number in range(1, len(cards) + 1)]
    nodes = [node(name, spec=taints, status=READY) for name in names[:-1]]
    cordoned = node(names[-1], spec={"unschedulable": True}, status=READY)
    fleet = ", ".join(f"1 nodes of {each}" for each in cards)
    told = whys.why(CLAIM, world_of(tmp_path, *nodes, cordoned, fleet=fleet))
    assert told.state is whys.State.WAITS
    never = whys.why(CLAIM, world_of(tmp_path, *nodes, node(names[-1], spec=taints), fleet=fleet))
    assert never.state is whys.State.NEVER


def test_what_is_held_on_a_closed_node_is_held(tmp_path: Path) -> None:
    world = world_of(tmp_path, node("node-1", spec={"unschedulable": True}), fleet="1 x L4")
    device = next(world.devices())[0]
    (listed,) = inventory(world, {device: "by claim a/b"})
    assert (listed.state, listed.why, listed.closed) == (State.HELD, "by claim a/b", CORDONED)


def test_without_any_node_object_all_are_taken_to_be_well_and_that_is_said_once(tmp_path: Path) -> None:
    world = world_of(tmp_path)
    assert not closed_nodes(world)
    assert world.notes.count(NOT_TOLD) == 1
    assert explain(CLAIM, world).pods == 8
    assert NOT_TOLD not in world_of(tmp_path, node("node-1"), node("node-2")).notes


def test_a_node_that_does_not_say_is_ready(tmp_path: Path) -> None:
    assert not closed_nodes(world_of(tmp_path, node("node-1"), node("node-2", status={"conditions": []})))


def test_a_note_names_a_few_of_many(tmp_path: Path) -> None:
    world = world_of(tmp_path, node("elsewhere"), fleet="5 nodes of 1 x L4")
    assert list(closed_notes(world)) == [
        "no pod starts on node-1, node-2, node-3 and 2 more, which have slices and no Node objects"
    ]


@pytest.mark.parametrize(
    ("taint", "toleration", "is_closed"),
    [
        pytest.param({}, None, True, id="nothing tolerated"),
        pytest.param({"effect": "PreferNoSchedule"}, None, False, id="rather not"),
        pytest.param({"effect": "NoExecute"}, None, True, id="put out"),
        pytest.param({}, {"operator": "Exists"}, False, id="any taint"),
        pytest.param({}, {"key": "dedicated", "operator": "Exists"}, False, id="any value"),
        pytest.param({}, {"key": "dedicated", "value": "training"}, False, id="this value"),
        pytest.param({}, {"key": "dedicated", "value": "other"}, True, id="another value"),
        pytest.param({}, {"key": "dedicated"}, True, id="no value"),
        pytest.param({"value": ""}, {"key": "dedicated"}, False, id="neither has a value"),
        pytest.param({}, {"key": "another", "operator": "Exists"}, True, id="another key"),
        pytest.param({}, {"operator": "Exists", "effect": "NoExecute"}, True, id="another effect"),
        pytest.param({}, {"operator": "Exists", "effect": "NoSchedule"}, False, id="this effect"),
    ],
)
def test_a_taint_closes_a_node_unless_pods_of_ours_are_given_a_toleration(
    taint: Mapping[str, str], toleration: Mapping[str, str] | None, is_closed: bool, tmp_path: Path
) -> None:
    tainted = node("node-1", spec={"taints": [{**DEDICATED, **taint}]}, status=READY)
    world = replace(
        world_of(tmp_path, tainted, fleet="1 x L4"),
        tolerations=() if toleration is None else (toleration,),
    )
    assert bool(closed_nodes(world)) is is_closed
    assert not closed_to_all(world)


def test_kueues_flavors_tell_what_pods_of_ours_tolerate() -> None:
    tainted = node("node-1", spec={"taints": [DEDICATED]}, status=READY)
    flavor = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": "allotment"},
        "spec": {"tolerations": [{"key": "dedicated", "operator": "Exists"}]},
    }
    slices = tuple(each.to_dict() for each in parse_description("1 x L4").slices)
    assert closed_nodes(snapshot_world(Snapshot(0.0, (*slices, tainted))).world) == {"node-1": OF_TRAINING}
    assert not closed_nodes(snapshot_world(Snapshot(0.0, (*slices, tainted, flavor))).world)


def test_a_note_names_the_taint(tmp_path: Path) -> None:
    tainted = [node(f"node-{number}", spec={"taints": [DEDICATED]}, status=READY) for number in (1, 2)]
    (note,) = closed_notes(world_of(tmp_path, *tainted))
    assert note == (
        "no pod starts on node-1, node-2, which have the taint dedicated=training:NoSchedule; pods of ours "
        "tolerate it only where a ResourceFlavor of Kueue's says so"
    )
