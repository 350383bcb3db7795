"""What `allot doctor --cluster` says of a real server: what the server fills in is no difference to it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from allotment.answers import Answer, State, examine
from allotment.devices.server import Gate
from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import Object, kind_of
from allotment.kubernetes.ready import CHECKS, Seen, Webhook, checks
from allotment.kubernetes.ready.asking import look
from allotment.kubernetes.render.platform import render_platform
from tests.controlplane.conftest import MEMBERS, needs
from tests.controlplane.installing import define_kueue, installed
from tests.controlplane.kueue_manager import Kueue, can_be_apart
from tests.controlplane.plane import Plane, Settings
from tests.controlplane.processes import until
from tests.controlplane.team import kueue_configuration
from tests.kubernetes.ready.clusters import class_of, platform_of, slice_of

PLATFORM = platform_of("kueue")
WITHOUT_A_MANAGER = {"kueue", "kueue's configuration", "active queues"}
"""Kueue's kinds are served and nobody acts on them."""


@pytest.fixture(scope="module")
def with_platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    needs("etcd", "kubernetes", "kueue")
    plane = Plane(tmp_path_factory.mktemp("doctor"), Settings(users=MEMBERS))
    plane.start()
    drivers: list[Object] = [slice_of("node-a"), slice_of("node-b"), class_of("gpu.nvidia.com", "gpu")]
    try:
        define_kueue(plane)
        with installed(plane.client(), [*render_platform(PLATFORM).objects, *drivers]):
            yield plane
    finally:
        plane.stop()


def seen_by(client: Client) -> tuple[Seen, list[Answer]]:
    seen = look(client, PLATFORM, [PLATFORM.teams["archive"]], now=time.time)
    return seen, [each for each in examine(checks(seen)) if each.check not in WITHOUT_A_MANAGER]


def test_an_administrator_is_told_of_the_missing_secret_alone(with_platform: Plane) -> None:
    seen, found = seen_by(with_platform.client())
    assert [each.check for each in found if each.state is State.PROBLEM] == ["credentials"]
    assert set(seen.kept.values()) == {True}
    assert set(seen.kept) == {Gate.CONSUMABLE_CAPACITY, Gate.DEVICE_TAINTS, Gate.PRIORITIZED_LIST}
    assert seen.skew is not None


@pytest.mark.parametrize("scheduler", ["default", "kai"])
def test_what_a_server_fills_in_is_no_difference(scheduler: str, with_platform: Plane) -> None:
    platform = platform_of(scheduler)
    classes = [each for each in render_platform(platform).objects if each["kind"] == "PriorityClass"]
    client = with_platform.client()
    for each in classes:
        client.apply(each, manager="tests", force=True)
    try:
        seen = look(client, platform, [platform.teams["archive"]], now=time.time)
        (told,) = CHECKS["priorities"](seen)
    finally:
        for each in classes:
            client.delete(kind_of(each), each["metadata"]["name"])
    assert told.said == "as the platform's file has it: 4 PriorityClasses"


def test_somebody_of_the_team_has_every_right_that_commands_need(with_platform: Plane) -> None:
    seen, found = seen_by(with_platform.client("archive"))
    assert [each for each in found if each.state is State.PROBLEM] == []
    assert seen.identity == "member-of-archive"
    assert any(each.check == "rights" and each.state is State.FINE for each in found)
    assert any(each.check == "not looked at" for each in found)


def test_queues_that_kueue_has_taken_up_are_active_and_as_they_were_sent(with_kueue: Plane) -> None:
    client = with_kueue.client()
    with installed(client, render_platform(PLATFORM).objects):
        until(lambda: not _waiting(client), "Kueue to take the queues up")
        seen = look(client, PLATFORM, list(PLATFORM.teams.values()), now=time.time)
        told = [*CHECKS["active queues"](seen), *CHECKS["queues"](seen)]
    assert [each.state for each in told] == [State.FINE, State.FINE]
    assert "2 ClusterQueues, 2 LocalQueues" in told[1].said
    assert seen.webhook == Webhook()


def _waiting(client: Client) -> list[Answer]:
    seen = look(client, PLATFORM, list(PLATFORM.teams.values()), now=time.time)
    return [each for each in CHECKS["active queues"](seen) if each.state is not State.FINE]


OFF = ("DRAConsumableCapacity", "DRADeviceTaints", "DRADeviceTaintRules", "DRAExtendedResource")


def test_gates_that_are_off_are_seen(tmp_path: Path) -> None:
    needs("etcd", "kubernetes")
    platform = platform_of("default", sharing=("whole", "consumable"))
    plane = Plane(tmp_path, Settings(off=OFF))
    try:
        plane.start()
        client = plane.client()
        for each in render_platform(platform).objects:
            client.apply(each, manager="tests", force=True)
        seen = look(client, platform, [platform.teams["archive"]], now=time.time)
        told = {each.said.split(" ")[0]: each.state for each in CHECKS["gates"](seen)}
    finally:
        plane.stop()
    assert told["DRAConsumableCapacity"] is State.PROBLEM
    assert told["DRAExtendedResource"] is State.NOTE
    assert seen.kept[Gate.DEVICE_TAINTS] is False


def test_a_manager_that_has_ended_is_a_problem(tmp_path: Path) -> None:
    needs("etcd", "kubernetes", "kueue")
    if not can_be_apart():
        pytest.skip("Kueue needs an /etc of its own, and this machine does not let us make one (unshare)")
    plane = Plane(tmp_path, Settings())
    try:
        plane.start()
        kueue = Kueue(plane, kueue_configuration(plane.folder))
        kueue.start()
        kueue.stop()
        for each in render_platform(PLATFORM).objects:
            if each["kind"] in {"Namespace", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}:
                plane.client().apply(each, manager="tests", force=True)
        seen = look(plane.client(), PLATFORM, [PLATFORM.teams["archive"]], now=time.time)
        (told,) = (each for each in CHECKS["kueue"](seen) if each.state is State.PROBLEM)
    finally:
        plane.stop()
    assert "the server asks Kueue's manager about each (webhook mjob.kb.io)" in told.said
