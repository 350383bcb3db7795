"""What is asked of a live server: few calls, nothing written, nothing secret kept, refusals remembered."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from allotment.answers import State, examine
from allotment.devices.server import Gate
from allotment.kubernetes.ready import Webhook, checks
from allotment.kubernetes.render.platform import render_platform
from allotment.kubernetes.testing import FakeApiServer, faults
from allotment.kubernetes.testing.permissions import Permissions, of_roles
from allotment.platform.model import SCHEDULERS
from tests.kubernetes.ready.clusters import TIME, answers, platform_of, ready_server, said, served_by

SECRET = {"metadata": {"name": "archive-bucket"}, "data": {"credentials": "aHVudGVyMg=="}}
SECRETS = "/api/v1/namespaces/archive/secrets"


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_cluster_that_is_ready(scheduler: str) -> None:
    platform = platform_of(scheduler)
    server = ready_server(platform)
    server.request("POST", SECRETS, body=SECRET)
    seen = served_by(server, platform, "archive")
    found = list(examine(checks(seen)))
    assert [each for each in found if each.state is State.PROBLEM] == []
    assert "aHVudGVyMg" not in repr(seen)
    assert said(answers(seen, "clock")) == "fine the server's clock and this machine's agree ()"


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_nothing_is_written(scheduler: str) -> None:
    platform = platform_of(scheduler)
    server = ready_server(platform)
    before = server.store.revision
    served_by(server, platform)
    assert server.store.revision == before
    writes = [each for each in server.requests if each.method != "GET"]
    assert all(each.query.get("dryRun") == "All" or "selfsubject" in each.path for each in writes)


def test_calls_grow_with_teams_and_not_with_the_cluster() -> None:
    platform = platform_of("both")
    server = ready_server(platform)
    served_by(server, platform, "archive")
    assert len(server.requests) < 100


@pytest.mark.parametrize(
    ("version", "kept"), [("1.36", True), ("1.35", False), ("1.34", False)], ids=["1.36", "1.35", "1.34"]
)
def test_a_trial_shows_which_gates_are_on(version: str, *, kept: bool) -> None:
    platform = platform_of("default")
    server = FakeApiServer(version)
    server.add_namespace("archive")
    seen = served_by(server, platform, "archive")
    assert seen.kept == {
        Gate.CONSUMABLE_CAPACITY: kept,
        Gate.DEVICE_TAINTS: kept,
        Gate.PRIORITIZED_LIST: True,
    }
    assert seen.snapshot.version == version


@pytest.mark.parametrize(("seconds", "state"), [(0, "fine"), (3, "fine"), (90, "problem"), (-90, "problem")])
def test_a_trial_tells_the_time_there(seconds: int, state: str) -> None:
    platform = platform_of("default")
    server = FakeApiServer(now=lambda: TIME + timedelta(seconds=seconds))
    server.add_namespace("archive")
    (found,) = answers(served_by(server, platform, "archive"), "clock")
    assert str(found.state) == state


@pytest.mark.parametrize("scheduler", ["kueue", "both"])
def test_a_job_is_tried_and_nobody_behind_its_webhook_is_a_problem(scheduler: str) -> None:
    platform = platform_of(scheduler)
    server = ready_server(platform)
    server.plan = lambda _, request: faults.WEBHOOK if request.path.endswith("/jobs") else None
    seen = served_by(server, platform, "archive")
    assert seen.webhook == Webhook("vjob.kb.io", answers=False)
    text = said(answers(seen, "kueue"))
    assert (
        "problem no Job can be made: the server asks Kueue's manager about each (webhook vjob.kb.io)" in text
    )
    assert "(kubectl -n kueue-system get pods)" in text


@pytest.mark.parametrize("fault", [None, faults.BROKEN, faults.CONFLICT])
def test_an_answer_that_is_not_kueues_tells_nothing_of_it(fault: faults.Fault | None) -> None:
    platform = platform_of("kueue")
    server = ready_server(platform)
    server.plan = lambda _, request: fault if request.path.endswith("/jobs") else None
    assert served_by(server, platform, "archive").webhook is None


def test_no_job_is_tried_where_kueue_admits_none() -> None:
    platform = platform_of("default")
    server = ready_server(platform)
    served_by(server, platform, "archive")
    assert not any(each.path.endswith("/jobs") for each in server.requests)


def team_of(platform: Any, server: FakeApiServer, team: str = "archive") -> None:
    """From now on it is somebody of the team who asks."""
    groups = (f"allotment:{team}",)
    rules = of_roles(render_platform(platform).objects, "ada", groups)
    server.permissions = Permissions("ada", groups, rules)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_somebody_of_a_team_is_told_what_they_may_know(scheduler: str) -> None:
    platform = platform_of(scheduler)
    server = ready_server(platform)
    team_of(platform, server)
    found = list(examine(checks(served_by(server, platform, "archive"))))
    assert [each for each in found if each.state is State.PROBLEM] == []
    text = said(found)
    assert "fine the fake cluster, as `ada`" in text
    assert "fine `ada` may do what applying, following and planning for team archive needs" in text
    assert "archive-bucket` of namespace archive is there cannot be told: this identity may not look" in text
    assert "validatingadmissionpolicies.admissionregistration.k8s.io" in text


def test_somebody_of_another_team_is_told_what_they_may_not() -> None:
    platform = platform_of("kueue")
    server = ready_server(platform)
    team_of(platform, server, "laboratory")
    text = said(answers(served_by(server, platform, "archive"), "rights"))
    assert "problem `ada` may not create, delete, get, list and patch configmaps in archive" in text
    assert "which apply needs (be in the group `allotment:archive`" in text


def test_a_namespace_that_may_be_read_alone_is_looked_at() -> None:
    platform = platform_of("default")
    server = ready_server(platform)
    team_of(platform, server)
    seen = served_by(server, platform, "archive")
    assert said(answers(seen, "namespaces")) == "fine as the platform's file has it: 1 Namespace ()"


def test_a_server_without_the_schedulers_is_told_so() -> None:
    platform = replace(platform_of("both"))
    server = FakeApiServer()
    seen = served_by(server, platform, "archive")
    text = said([*answers(seen, "kueue"), *answers(seen, "kai")])
    assert "problem the cluster serves nothing of Kueue" in text
    assert "problem the cluster does not serve scheduling.run.ai/v2: KAI is not there" in text
    assert answers(seen, "active queues") == answers(seen, "kueue's configuration") == []


def test_queues_of_an_earlier_scheduler_are_seen() -> None:
    server = ready_server(platform_of("kueue"))
    text = said(answers(served_by(server, platform_of("kai"), "archive"), "queues"))
    assert "note 2 ClusterQueues of ours that the platform's file does not have: archive, laboratory" in text
