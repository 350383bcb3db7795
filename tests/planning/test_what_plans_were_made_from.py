"""What a plan was made from is told by digests that say what has moved, and move for nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from allotment.devices.describe import parse_description
from allotment.errors import AllotmentError, UsageError, WorldError
from allotment.kubernetes.cluster.snapshot import Snapshot
from allotment.planning.plan.plan import Changes, Plan, Seen
from allotment.planning.plan.saved import hold_unmoved, read_saved, saved_data
from allotment.planning.plan.seen import digest, files_seen, moved, moved_steps, platform_seen, world_seen
from allotment.platform.model import Platform, Prices
from allotment.repository.model import Campaign, Pipeline, Repository

WORLD = parse_description("2 nodes of 2 x L4")
SEEN = Seen(
    files={"campaigns/a.yaml": "1"}, platform={"the platform": "2"}, world={"node n1": "3"}, is_cluster=True
)
PLAN = Plan("there", 0.0, "default", "archive", Changes("there"), seen=SEEN)


def node(
    name: str, *, ready: str = "True", beat: str = "1", gpus: str = "8", cordoned: bool = False
) -> Mapping[str, Any]:
    """A node with a heartbeat."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "resourceVersion": beat},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {
            "allocatable": {"nvidia.com/gpu": gpus},
            "conditions": [{"type": "Ready", "status": ready, "lastHeartbeatTime": beat}],
        },
    }


def workload(name: str, *, admitted: str = "False", beat: str = "1") -> Mapping[str, Any]:
    """A workload of Kueue."""
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": name, "namespace": "archive", "resourceVersion": beat},
        "spec": {"queueName": "archive"},
        "status": {"conditions": [{"type": "Admitted", "status": admitted, "lastTransitionTime": beat}]},
    }


def seen(*objects: Mapping[str, Any]) -> Seen:
    """A cluster of these objects, seen."""
    return Seen(world=world_seen(WORLD, Snapshot(0.0, tuple(objects))))


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        pytest.param([node("a")], [node("a", beat="2")], [], id="a heartbeat"),
        pytest.param([node("a")], [node("a", gpus="7")], ["node a has changed"], id="a card less"),
        pytest.param(
            [node("a")], [node("a", ready="False")], ["node a has changed"], id="a node that is ill"
        ),
        pytest.param([node("a")], [node("a", cordoned=True)], ["node a has changed"], id="a cordoned node"),
        pytest.param([node("a"), node("b")], [node("a")], ["node b is gone"], id="a node less"),
        pytest.param([], [workload("w")], ["workload archive/w is new"], id="a new workload"),
        pytest.param([workload("w")], [workload("w", beat="2")], [], id="a workload looked at again"),
        pytest.param(
            [workload("w")],
            [workload("w", admitted="True")],
            ["workload archive/w has changed"],
            id="a workload that was admitted",
        ),
    ],
)
def test_of_a_cluster_what_decides_where_work_runs_is_told(
    before: list[Any], after: list[Any], told: list[str]
) -> None:
    assert list(moved(seen(*before), seen(*after))) == told


def test_a_card_that_is_gone_is_told_by_name() -> None:
    first, *others = WORLD.slices
    fewer = replace(WORLD, slices=(replace(first, devices=first.devices[1:]), *others))
    found = moved(Seen(world=world_seen(WORLD, None)), Seen(world=world_seen(fewer, None)))
    assert found == (f"card {first.devices[0].name} of {first.node_name} (gpu.nvidia.com) is gone",)


def test_what_could_not_be_read_is_not_said_to_be_gone() -> None:
    assert moved(seen(node("a")), seen()) == ("node a is gone",)
    assert moved(seen(node("a")), seen(), {"node"}) == ()
    assert moved(seen(node("a")), seen(node("a", gpus="1")), {"node"}) == ("node a has changed",)


def test_files_are_told_by_their_paths(tmp_path: Path) -> None:
    (tmp_path / "campaigns").mkdir()
    file = tmp_path / "campaigns" / "letters.yaml"
    file.write_text("pipeline: p")
    found = Repository(
        tmp_path, {"p": Pipeline("p", ())}, {"letters": Campaign("letters", "p", (), path=file)}
    )
    before = Seen(files=files_seen(found))
    file.write_text("pipeline: q")
    assert moved(before, Seen(files=files_seen(found))) == ("campaigns/letters.yaml has changed",)
    file.unlink()
    assert moved(before, Seen(files=files_seen(found))) == ("campaigns/letters.yaml has changed",)


def test_prices_are_of_the_platform() -> None:
    before = Seen(platform=platform_seen(Platform()))
    after = Seen(platform=platform_seen(Platform(prices=Prices(hour={"L4": 1.0}))))
    assert moved(before, after) == ("the platform has changed",)
    assert moved(before, Seen(platform=platform_seen(Platform()))) == ()


def test_what_would_be_sent_otherwise_is_told_by_group() -> None:
    assert moved_steps(
        {"campaigns/a": "1", "campaigns/b": "1"}, {"campaigns/a": "2", "campaigns/c": "1"}
    ) == (
        "campaigns/a would be sent otherwise than was planned",
        "campaigns/b was planned, and is not to be sent any more",
        "campaigns/c would be sent now, and was not planned",
    )


def test_a_digest_is_the_same_in_every_process() -> None:
    value = frozenset({"a", "b", "c", "d"})
    words = "from allotment.planning.plan.seen import digest; print(digest(frozenset('abcd')))"
    said = subprocess.run(
        [sys.executable, "-c", words],
        env={"PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == digest(value)


def saved(tmp_path: Path, **changes: object) -> Path:
    """The file of a plan, with changes to it."""
    value = {
        "kind": "plan",
        "format_version": 1,
        "world": "there",
        "team": "archive",
        "scheduler": "kai",
        "made_from": saved_data(PLAN, ["letters"]),
        **changes,
    }
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(value))
    return path


def test_a_saved_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = read_saved(saved(tmp_path, later_key="is no matter"))
    assert (found.seen, found.names, found.team) == (SEEN, ("letters",), "archive")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format_version": 2}, "format_version 2, and this `allot` knows 1"),
        ({"format_version": 0}, "format_version 0, which no plan has had"),
        ({"format_version": "1"}, "format_version '1', which no plan has had"),
        ({"format_version": True}, "format_version True, which no plan has had"),
        ({"kind": "comparison"}, "this is no plan"),
        ({"made_from": None}, "this is no plan"),
        ({"made_from": {"files": []}}, "this is no plan"),
        ({"made_from": {**saved_data(PLAN, []), "files": {"a": 1}}}, "this is no plan"),
        ({"made_from": {**saved_data(PLAN, []), "names": "a"}}, "this is no plan"),
        ({"made_from": {**saved_data(PLAN, []), "cluster": 1}}, "this is no plan"),
    ],
)
def test_what_is_no_plan_is_refused_with_words(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words.replace("?", r"\?")):
        read_saved(saved(tmp_path, **changes))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "1", '"plan"', "[" * 100_000], ids=range(7))
def test_text_that_is_no_plan_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="this is no plan"):
        read_saved(path)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="this is no plan"):
        read_saved(path)


def test_a_file_that_cannot_be_read_is_the_worlds_failure(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="cannot be read"):
        read_saved(tmp_path / "missing.json")


def test_of_much_that_has_moved_the_first_is_told(tmp_path: Path) -> None:
    hold_unmoved((), tmp_path)
    with pytest.raises(AllotmentError, match=r"node 0 is gone.* and 8 more") as error:
        hold_unmoved([f"node {number} is gone" for number in range(20)], tmp_path)
    assert error.value.exit_code == 1
