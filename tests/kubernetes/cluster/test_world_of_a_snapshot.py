"""The devices of a snapshot: as from files of slices, with what is wrong told where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.devices.describe import parse_description
from allotment.devices.reading import read_files
from allotment.kubernetes.cluster.file import snapshot_text
from allotment.kubernetes.cluster.file_reading import read_file, snapshot_of
from allotment.kubernetes.cluster.snapshot import Missing, Snapshot
from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.kinds import CLAIM, NODE, SLICE

SAMPLES = Path(__file__).parent.parent.parent / "devices" / "samples"


@pytest.mark.parametrize("name", ["two-cards.yaml", "mixed-kinds.yaml", "older-version.yaml", "pools.yaml"])
def test_a_snapshots_world_is_that_of_its_objects(name: str) -> None:
    world = world_of(read_file(SAMPLES / name)).world
    read = read_files([SAMPLES / name]).world
    assert sorted(world.slices, key=str) == sorted(read.slices, key=str)
    assert (world.classes, world.nodes, world.claims) == (read.classes, read.nodes, read.claims)


def test_what_is_wrong_is_told_at_its_line_in_the_file() -> None:
    findings = world_of(read_file(SAMPLES / "pools.yaml")).findings
    there = [each for each in read_files([SAMPLES / "pools.yaml"]).findings if each.rule != "kind-not-read"]
    assert {each.position for each in findings} == {each.position for each in there}


def test_what_is_wrong_in_a_cluster_is_told_by_the_objects_name() -> None:
    snapshot = read_file(SAMPLES / "pools.yaml")
    live = Snapshot(snapshot.time, snapshot.objects, name="prod", version="1.35")
    (first, *_) = world_of(live).findings
    assert first.position.file.startswith("prod: ResourceSlice ")


def test_kinds_that_say_nothing_of_devices_are_no_finding() -> None:
    items = [published.to_dict() for published in parse_description("2 x H100-SXM").slices]
    items += [{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace": "n"}}]
    snapshot = Snapshot(0.0, tuple(items), version="1.35", missing=(Missing(NODE, "forbidden"),))
    reading = world_of(snapshot_of(snapshot_text(snapshot).encode(), name="x", otherwise=0.0))
    assert reading.findings == ()
    assert len(list(reading.world.devices())) == 2
    assert reading.world.server.name == "1.35"
    assert "nodes could not be read: forbidden" in reading.world.notes


def test_a_cluster_whose_slices_are_forbidden_says_so() -> None:
    snapshot = Snapshot(0.0, (), missing=(Missing(SLICE, "forbidden"),))
    assert world_of(snapshot).world.notes == ("resourceslices.resource.k8s.io could not be read: forbidden",)


def test_a_cluster_that_counts_its_cards_says_so() -> None:
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name},
            "status": {"allocatable": {"nvidia.com/gpu": "8", "cpu": "64", "nvidia.com/mig-1g.5gb": "0"}},
        }
        for name in ("oak", "ash")
    ]
    notes = world_of(Snapshot(0.0, tuple(nodes))).world.notes
    assert notes == (
        "the nodes count 16 of nvidia.com/gpu by a device plugin; only a DRA driver says what they are",
    )


@pytest.mark.parametrize(
    ("missing", "partly", "notes"),
    [
        ([], ["forbidden outside of namespace a"], ["claims are forbidden outside of namespace a: devices"]),
        (["forbidden"], [], ["claims are forbidden: devices that those hold are taken for free"]),
        (["not served"], [], []),
    ],
)
def test_claims_that_were_not_seen_may_hold_devices(
    missing: list[str], partly: list[str], notes: list[str]
) -> None:
    found = Snapshot(
        0.0,
        (),
        missing=tuple(Missing(CLAIM, why) for why in missing),
        partly=tuple(Missing(CLAIM, why) for why in partly),
    )
    told = world_of(found).world.notes
    assert len(told) == len(notes)
    assert all(note.startswith(begin) for note, begin in zip(told, notes, strict=True))
