"""A snapshot of a real server: all kinds it has are read, and a team's member sees the team's part."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from allotment.kubernetes.client import Client
from allotment.kubernetes.cluster.file import snapshot_text
from allotment.kubernetes.cluster.file_reading import snapshot_of
from allotment.kubernetes.cluster.quota import capacity_of
from allotment.kubernetes.cluster.reading import FORBIDDEN, NOT_SERVED, read_snapshot
from allotment.kubernetes.cluster.world import world_of
from allotment.kubernetes.kinds import (
    CLUSTER_QUEUE,
    KAI_QUEUE,
    LOCAL_QUEUE,
    NAMESPACE,
    NODE,
    POD,
    SLICE,
    Object,
)
from allotment.kubernetes.render.platform import render_platform
from tests.controlplane.conftest import MEMBERS, needs
from tests.controlplane.installing import define_kueue, installed
from tests.controlplane.plane import Plane, Settings
from tests.kubernetes.ready.clusters import class_of, platform_of, slice_of

PLATFORM = platform_of("kueue")
NOW = 1_796_000_000.0


@pytest.fixture(scope="module")
def with_platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    needs("etcd", "kubernetes", "kueue")
    plane = Plane(tmp_path_factory.mktemp("snapshot"), Settings(users=MEMBERS))
    plane.start()
    drivers: list[Object] = [slice_of("node-a"), class_of("gpu.nvidia.com", "gpu")]
    try:
        define_kueue(plane)
        with installed(plane.client(), [*render_platform(PLATFORM).objects, *drivers]):
            yield plane
    finally:
        plane.stop()


def test_an_administrator_reads_all_that_is_served(with_platform: Plane) -> None:
    snapshot = read_snapshot(with_platform.client(), now=NOW)
    assert snapshot.version == "1.36"
    assert {each.why.partition(":")[0] for each in snapshot.missing} == {NOT_SERVED}
    assert snapshot.lacks(KAI_QUEUE) == NOT_SERVED
    assert snapshot.lacks(CLUSTER_QUEUE) is None
    assert len(snapshot.of(SLICE)) == 1
    reading = world_of(snapshot)
    assert reading.findings == ()
    capacity = capacity_of(snapshot, "archive")
    assert capacity is not None
    assert capacity.is_covered
    back = snapshot_of(snapshot_text(snapshot).encode(), name="x", otherwise=0.0)
    assert back.objects == snapshot.objects
    assert world_of(back).findings == ()


def test_a_member_of_a_team_reads_its_namespace(with_platform: Plane) -> None:
    client: Client = with_platform.client("archive")
    snapshot = read_snapshot(client, now=NOW, home="archive")
    assert [each["metadata"]["name"] for each in snapshot.of(NAMESPACE)] == ["archive"]
    assert {each["metadata"]["namespace"] for each in snapshot.of(LOCAL_QUEUE)} == {"archive"}
    assert {each.kind for each in snapshot.partly} >= {LOCAL_QUEUE, POD, NAMESPACE}
    for kind in (CLUSTER_QUEUE, SLICE, NODE):
        assert snapshot.lacks(kind) is None
    assert [each.kind for each in snapshot.missing if each.why == FORBIDDEN] == []
