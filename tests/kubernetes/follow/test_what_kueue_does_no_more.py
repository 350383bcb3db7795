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
    ("since", "used", "kind"),
    [
        ("2026-11-30T11:46:00Z", "0", "reclaim-is-over"),
        ("2026-11-30T11:59:57Z", "0", "waiting-for-reclaim"),
        ("2026-11-30T11:46:00Z", "6", "waiting-for-reclaim"),
    ],
)
def test_a_reclaim_that_was_announced_long_ago_and_is_over_is_not_told_as_one(
    since: str, used: str, kind: str
) -> None:
    def waited(value: dict[str, Any]) -> None:
        if value["kind"] == "Workload" and value["metadata"]["name"] != OURS:
            value["status"]["admission"]["podSetAssignments"][0]["resourceUsage"] = {"gpus": used}
            value["spec"]["podSets"][0]["count"] = int(used)
        if value["metadata"]["name"] == OURS:
            for condition in value["status"]["conditions"]:
                condition["lastTransitionTime"] = since

    found = changed("waiting-for-reclaim", waited)
    assert found.state is State.WAITING
    assert found.root is not None
    assert found.root.kind == kind
    if kind == "reclaim-is-over":
        assert "14 minutes ago" in found.sentence
        assert "2 more" not in found.sentence
