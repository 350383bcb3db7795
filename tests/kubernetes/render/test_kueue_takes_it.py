"""Rendered objects of Kueue's kinds are right by the definitions of a published Kueue, to the letter.

The definitions are read in Go's module cache, and are in no folder of ours; without them this is skipped.
``make test-cluster`` brings them, and shows the same objects to Kueue's own webhooks.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.render import render
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.transport import FakeTransport
from allotment.repository import load_repository
from tests.controlplane import kueue_module
from tests.go_programs import NoProgram
from tests.kubernetes.stored import ROOT, TEAMS, Case

GROUP = "kueue.x-k8s.io/"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture(scope="module")
def server() -> FakeApiServer:
    """A server with Kueue's kinds."""
    try:
        definitions = list(kueue_module.definitions())
    except NoProgram as reason:
        pytest.skip(str(reason))
    fake = FakeApiServer()
    for each in definitions:
        answer = fake.request("POST", DEFINITIONS, {}, {"Content-Type": "application/json"}, each)
        assert answer.status == 201, answer.body
    return fake


def rendered(example: str, scheduler: str) -> list[dict[str, Any]]:
    objects = [
        *Case(example, scheduler, of_platform=True).rendered().objects,
        *Case(example, scheduler).rendered().objects,
    ]
    return [deepcopy(dict(each)) for each in objects if str(each["apiVersion"]).startswith(GROUP)]


@pytest.mark.parametrize("scheduler", ["kueue", "both"])
@pytest.mark.parametrize("example", TEAMS)
def test_every_object_is_right_by_its_definition(example: str, scheduler: str, server: FakeApiServer) -> None:
    client = Client(FakeTransport(server))
    objects = rendered(example, scheduler)
    kinds = {each["kind"] for each in objects}
    assert kinds >= {"ClusterQueue", "Cohort", "LocalQueue", "ResourceFlavor", "WorkloadPriorityClass"}
    for each in objects:
        place = each["metadata"].get("namespace")
        if place:
            said = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}}
            client.apply(said, manager="tests")
        client.apply(each, manager="tests", force=True)


def test_a_field_that_kueue_does_not_have_is_seen(server: FakeApiServer) -> None:
    client = Client(FakeTransport(server))
    (queue, *_) = (each for each in rendered("cluster", "kueue") if each["kind"] == "ClusterQueue")
    queue["spec"]["resourceGroups"][0]["flavors"][0]["quota"] = "1"
    with pytest.raises(ApiError, match="quota"):
        client.apply(queue, manager="tests", dry_run=True)
    del queue["spec"]["resourceGroups"][0]["flavors"][0]["quota"]
    queue["spec"]["queueingStrategy"] = "Fifo"
    with pytest.raises(ApiError, match="queueingStrategy"):
        client.apply(queue, manager="tests", dry_run=True)


@pytest.mark.parametrize(("version", "told"), [("0.17.0", True), ("0.18", False), ("0.19.7", False)])
def test_a_claim_that_an_old_kueue_refuses_is_told(version: str, told: bool) -> None:
    case = Case("cluster", "kueue")
    platform = replace(case.platform, versions=replace(case.platform.versions, kueue=version))
    repository = load_repository(ROOT / "examples" / "cluster", platform).checked()
    notes = render(repository, platform, platform.teams["archive"], scheduler="kueue").notes
    refused = {each.about for each in notes if "admits no claim with selectors" in str(each)}
    assert refused == ({"campaigns/church-books", "campaigns/small-notes"} if told else set())
