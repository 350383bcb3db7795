"""What apply takes for granted of a server, held to a real one: owners, pauses, widths, foreign things."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from allotment.kubernetes.apply import Report, Wish, World, apply
from allotment.kubernetes.apply.fields import owners_of
from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import (
    CLAIM_TEMPLATE,
    CONFIG_MAP,
    DEPLOYMENT,
    DEVICE_CLASS,
    JOB,
    LEASE,
    SERVICE,
)
from allotment.kubernetes.render.context import context_for
from allotment.kubernetes.render.platform import render_platform
from allotment.platform.need import Need
from allotment.repository.model import Campaign, Fleet, Gang, StepCall, Window
from tests.controlplane.installing import installed
from tests.kubernetes.apply.stage import (
    IMAGE,
    PIPELINE,
    PLATFORM,
    SPACE,
    TEAM,
    campaign,
    refusals,
    repository,
    verbs,
)

PREPARED = replace(PIPELINE, prepare=StepCall("fetch"))
FLEET = Fleet("f", image=IMAGE, gpu=Need())
GANG = Gang("g", 2, 2, image=IMAGE, gpu=Need())
SENT = (JOB, DEPLOYMENT, SERVICE, CONFIG_MAP, CLAIM_TEMPLATE, LEASE)


class Cluster:
    """A team's namespace on a real server."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def apply(self, *parts: Campaign | Fleet | Gang, dry_run: bool = False, prune: bool = False) -> Report:
        wish = Wish(repository(*parts, pipeline=PREPARED), "here", prune=prune)
        world = World(f"test {time.monotonic_ns()}", time.time, time.sleep)
        return apply(self.client, context_for(PLATFORM, TEAM), wish, world, dry_run=dry_run)

    def job(self, name: str = "a") -> Any:
        return self.client.get(JOB, name, SPACE)


@pytest.fixture
def cluster(client: Client) -> Iterator[Cluster]:
    name = "gpu.nvidia.com"
    kind = {"apiVersion": DEVICE_CLASS.api_version, "kind": DEVICE_CLASS.name, "metadata": {"name": name}}
    with installed(client, [{**kind, "spec": {}}, *render_platform(PLATFORM).objects]):
        try:
            yield Cluster(client)
        finally:
            for sort in SENT:
                for each in client.listed(sort, SPACE, labels="app.kubernetes.io/managed-by=allotment"):
                    client.delete(sort, each["metadata"]["name"], SPACE)


def test_everything_is_there_and_then_there_is_nothing_to_do(cluster: Cluster) -> None:
    work = (campaign(), FLEET, GANG)
    would = cluster.apply(*work, dry_run=True)
    assert cluster.job() is None
    assert verbs(cluster.apply(*work)) == verbs(would)
    assert owners_of(cluster.job(), "spec", "parallelism") == ("allotment-window",)
    assert cluster.apply(*work).is_nothing


def test_a_pause_is_given_up_and_a_width_is_moved_by_its_owner(cluster: Cluster) -> None:
    cluster.apply(campaign())
    assert verbs(cluster.apply(campaign(suspend=True)))["campaigns/a"] == "paused"
    assert cluster.job()["spec"]["suspend"] is True
    assert cluster.apply(campaign(suspend=True)).is_nothing
    assert verbs(cluster.apply(campaign()))["campaigns/a"] == "resumed"
    assert cluster.job()["spec"]["suspend"] is False
    assert cluster.apply(campaign()).is_nothing
    narrow = campaign(window=Window(1, 3))
    cluster.apply(narrow)
    assert cluster.job()["spec"]["parallelism"] == 3
    cluster.client.patch(JOB, "a", SPACE, {"spec": {"parallelism": 4}}, manager="kubectl-scale")
    assert cluster.apply(narrow).is_nothing
    told = refusals(cluster.apply(campaign(window=Window(1, 6))))
    assert "`kubectl-scale` owns .spec.parallelism" in told


def test_a_changed_need_is_for_later_jobs_and_goes_to_a_fleet_at_once(cluster: Cluster) -> None:
    cluster.apply(campaign(count=5), FLEET)
    before = cluster.job()["spec"]["template"]
    more = replace(FLEET, gpu=Need(count=2))
    assert verbs(cluster.apply(campaign(count=7), more)) == {
        "pipelines/read": "unchanged",
        "campaigns/a": "created",
        "fleets/f": "configured",
    }
    assert cluster.job()["spec"]["template"] == before
    assert cluster.job("a-part2")["spec"]["completions"] == 2
    assert cluster.apply(campaign(count=7), more).is_nothing


def test_what_is_not_ours_stays(cluster: Cluster) -> None:
    theirs = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a-settings", "namespace": SPACE}}
    cluster.client.create(theirs, manager="helm")
    assert "does not carry our label" in refusals(cluster.apply(campaign()))
    assert cluster.job() is None
    cluster.client.delete(CONFIG_MAP, "a-settings", SPACE)
    cluster.apply(campaign(), FLEET)
    assert verbs(cluster.apply(FLEET, prune=True))["campaigns/a"] == "pruned"
    assert [each["metadata"]["name"] for each in cluster.client.listed(DEPLOYMENT, SPACE)] == ["f"]
