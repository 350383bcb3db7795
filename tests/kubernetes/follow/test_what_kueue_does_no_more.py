"""Jobs that Kueue has let go of without a word on the Job: given up, or not looked at since a reclaim."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.follow import Followed, State, follow
from tests.kubernetes.follow.told import NAMESPACE, situation

OURS = "job-letters-1f0e2"
LONG_AGO, JUST_NOW = "2026-11-30T11:46:00Z", "2026-11-30T11:59:57Z"
CONFLICT = "invalid admission check PodSetUpdate: conflict for annotations: conflict for key=x"


def changed(name: str, change: Callable[[dict[str, Any]], None]) -> Followed:
    """What is told of a situation after a change of each of its objects."""
    snapshot: Snapshot = situation(name)
    objects = copy.deepcopy(list(snapshot.objects))
    for each in objects:
        change(cast("dict[str, Any]", each))
    (found,) = follow(replace(snapshot, objects=tuple(objects)), NAMESPACE)
    return found


def test_a_job_whose_workloads_kueue_has_closed_never_starts() -> None:
    def closed(value: dict[str, Any]) -> None:
        if value["kind"] == "Job":
            value["spec"]["suspend"] = True
        if value["metadata"]["name"] == OURS:
            value["status"]["conditions"] = [
                {"type": "Finished", "status": "True", "reason": "FailedToStart", "message": CONFLICT}
            ]

    found = changed("quota", closed)
    assert found.state is State.NEVER
    assert found.root is not None
    assert found.root.kind == "given-up"
    assert CONFLICT in found.sentence
    assert "allot apply --again letters" in found.root.remedy


@pytest.mark.parametrize(
    ("since", "ended", "used", "kind"),
    [
        (LONG_AGO, LONG_AGO, "0", "reclaim-is-over"),
        (LONG_AGO, JUST_NOW, "0", "waiting-for-reclaim"),
        (JUST_NOW, LONG_AGO, "0", "waiting-for-reclaim"),
        (LONG_AGO, LONG_AGO, "6", "waiting-for-reclaim"),
    ],
)
def test_a_reclaim_that_was_announced_long_ago_and_is_over_is_not_told_as_one(
    since: str, ended: str, used: str, kind: str
) -> None:
    def waited(value: dict[str, Any]) -> None:
        if value["kind"] == "Workload" and value["metadata"]["name"] != OURS:
            value["status"]["admission"]["podSetAssignments"][0]["resourceUsage"] = {"gpus": used}
            value["spec"]["podSets"][0]["count"] = int(used)
        if value["kind"] == "Workload":
            for condition in value["status"]["conditions"]:
                condition["lastTransitionTime"] = since if value["metadata"]["name"] == OURS else ended

    found = changed("waiting-for-reclaim", waited)
    assert found.state is State.WAITING
    assert found.root is not None
    assert found.root.kind == kind
    if kind == "reclaim-is-over":
        assert "14 minutes ago" in found.sentence
        assert "2 more" not in found.sentence


@pytest.mark.parametrize(
    ("name", "since", "ended", "used", "kind"),
    [
        ("quota", LONG_AGO, LONG_AGO, 0, "quota-is-free"),
        ("quota", LONG_AGO, JUST_NOW, 0, "waiting-for-quota"),
        ("quota", JUST_NOW, LONG_AGO, 0, "waiting-for-quota"),
        ("quota", LONG_AGO, LONG_AGO, None, "waiting-for-quota"),
        ("reclaimed", LONG_AGO, LONG_AGO, 0, "quota-is-free"),
        ("reclaimed", LONG_AGO, LONG_AGO, None, "reclaimed"),
    ],
)
def test_a_lack_of_quota_that_there_is_no_more_is_not_told_as_one(
    name: str, since: str, ended: str, used: int | None, kind: str
) -> None:
    def waited(value: dict[str, Any]) -> None:
        if value["kind"] == "Pod" and used == 0:
            value["kind"] = "Stopped"
        if value["kind"] != "Workload":
            return
        admitted = value["status"].get("admission")
        for condition in value["status"]["conditions"]:
            condition["lastTransitionTime"] = ended if admitted else since
        if admitted and used is not None:
            value["spec"]["podSets"][0]["count"] = used
            for each in admitted["podSetAssignments"]:
                each["resourceUsage"] = {key: str(used) for key in each["resourceUsage"]}
                each["count"] = used
            if ended == JUST_NOW:
                ends = {"type": "Finished", "status": "True", "lastTransitionTime": ended}
                value["status"]["conditions"].append(ends)

    found = changed(name, waited)
    assert found.state is State.WAITING
    assert found.root is not None
    assert found.root.kind == kind
    if kind == "quota-is-free":
        assert "14 minutes ago is free" in found.sentence
        assert "suspend: true" in found.root.remedy


def test_an_api_that_refused_pods_before_a_pause_is_no_cause_after_it() -> None:
    def resumed(value: dict[str, Any]) -> None:
        if value["kind"] == "Job":
            false = {"type": "Suspended", "status": "False", "lastTransitionTime": "2026-11-30T23:59:59Z"}
            value.setdefault("status", {})["conditions"] = [false]

    before = changed("webhook-down", lambda _: None)
    assert before.root is not None
    assert before.root.kind in {"webhook-down", "manager-down"}
    after = changed("webhook-down", resumed)
    assert after.root is None or after.root.kind != "webhook-down"
