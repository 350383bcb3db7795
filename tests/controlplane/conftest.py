"""What tests of a real control plane share: one plane a session, a namespace a test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import NAMESPACE
from tests.buckets.moto_server import moto
from tests.controlplane.components import PROGRAMS
from tests.controlplane.kueue_manager import Kueue, can_be_apart
from tests.controlplane.nodes import publish, withdraw
from tests.controlplane.plane import Plane, Settings
from tests.controlplane.team import Team, kueue_configuration, team_on
from tests.go_programs import NoProgram, built

HERE = Path(__file__).parent
MEMBERS = {team: (f"member-of-{team}", f"allotment:{team}") for team in ("archive", "laboratory", "library")}
"""Somebody of each team."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.cluster)


def needs(*names: str) -> None:
    """Skip, and say why, unless the programs are built."""
    for name in names:
        try:
            built(PROGRAMS[name], download=False, seconds=0)
        except NoProgram as reason:
            pytest.skip(f"`make test-cluster` builds what this needs: {reason}")


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """A plane as Kubernetes is by default."""
    yield from running(tmp_path_factory.mktemp("plane"), Settings(users=MEMBERS))


def running(folder: Path, settings: Settings, described: str = "") -> Iterator[Plane]:
    """A plane with a kubelet and the described nodes, until the fixture that yields from it ends."""
    needs("etcd", "kubernetes")
    found = Plane(folder, settings)
    found.start()
    try:
        found.start_kubelet()
        if described:
            publish(found.client(), described, port=found.kubelet.port)
        yield found
    finally:
        found.stop()


def running_with_kueue(
    folder: Path, described: str = "", configuration: Mapping[str, Any] | None = None
) -> Iterator[Plane]:
    """The same with Kueue's manager, as the platform's file would have it (None: that of the teams here)."""
    needs("etcd", "kubernetes", "kueue")
    if not can_be_apart():
        pytest.skip("Kueue needs an /etc of its own, and this machine does not let us make one (unshare)")
    for found in running(folder, Settings(users=MEMBERS), described):
        kueue = Kueue(found, kueue_configuration(found.folder) if configuration is None else configuration)
        kueue.start()
        try:
            yield found
        finally:
            kueue.stop()


@pytest.fixture(scope="session")
def with_kueue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """A plane with two nodes of cards, and Kueue."""
    yield from running_with_kueue(tmp_path_factory.mktemp("kueue"), "2 nodes of 2 x A100-80")


@pytest.fixture(scope="module")
def nodes(plane: Plane, request: pytest.FixtureRequest) -> Iterator[None]:
    """The nodes that the module describes as ``NODES``."""
    publish(plane.client(), request.module.NODES, port=plane.kubelet.port)
    yield
    withdraw(plane.client())


@pytest.fixture
def team(plane: Plane, nodes: None, tmp_path: Path) -> Iterator[Team]:
    """A team with a bucket, on nodes of the default scheduler."""
    with moto() as store, team_on(plane, tmp_path, store, "default") as found:
        yield found


@pytest.fixture
def client(plane: Plane) -> Client:
    """Somebody who may do everything."""
    return plane.client()


@pytest.fixture
def namespace(client: Client, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of the test's own."""
    name = re.sub("[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[:60].strip("-")
    value = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    client.create(value, manager="tests")
    yield name
    client.delete(NAMESPACE, name)
