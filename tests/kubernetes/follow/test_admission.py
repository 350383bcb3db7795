"""What Kueue says, in its tiers, in the words of its versions; places in its queue; what was reclaimed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.cluster.snapshot import Missing
from allotment.kubernetes.follow import Followed, Position, State, follow
from allotment.kubernetes.kinds import WORKLOAD
from tests.kubernetes.follow.told import NAMESPACE, situation

OURS = "job-letters-1f0e2"
P = "couldn't assign flavors to pod set main: "
SHORT = P + "insufficient unused quota for gpus in flavor any, 2 more needed"
OVER = (
    P + "insufficient quota for gpus in flavor any, previously considered podsets requests (0) + current "
    "podset "
    "request (6) > maximum capacity (4)"
)
TWO = (
    P
    + "insufficient quota for gpus in flavor fa, previously considered podsets requests (0) + current podset "
    "request (4) > maximum capacity (2), insufficient quota for gpus in flavor fb, previously "
    "considered podsets "
    "requests (0) + current podset request (4) > maximum capacity (3)"
)
MIXED = (
    P
    + "insufficient quota for gpus in flavor fa, previously considered podsets requests (0) + current podset "
    "request (3) > maximum capacity (2), insufficient unused quota for gpus in flavor fb, 3 more needed"
)
CLAIM = "spec.podSets[0].template.spec.resourceClaims[0]"
REFUSALS = [
    ("ExceedsMaxQuota", OVER, "never", "never-fits", "6 `gpus`, and at most 4"),
    ("ExceedsMaxQuota", TWO, "never", "never-fits", "at most 3 can be had in flavor `fb`"),
    ("WaitingForQuota", SHORT, "waiting", "waiting-for-quota", "2 more `gpus` are needed"),
    ("WaitingForQuota", MIXED, "waiting", "waiting-for-quota", "3 more `gpus` are needed"),
    (
        "WaitingForQuota",
        "Workload no longer fits after processing another workload",
        "waiting",
        "waiting-for-quota",
        "no longer fits",
    ),
    (
        "NoMatchingFlavor",
        P + "resource gpus unavailable in ClusterQueue",
        "never",
        "no-quota-of-kind",
        "gives out no `gpus`",
    ),
    (
        "NoMatchingFlavor",
        P + "flavor fa doesn't match node affinity",
        "never",
        "no-quota-of-kind",
        "no flavor",
    ),
    (
        "WaitingForPreemptedWorkloads",
        SHORT + ". Pending the preemption of 1 workload(s)",
        "waiting",
        "waiting-for-reclaim",
        "takes back",
    ),
    (
        "TopologyPlacementFailed",
        'topology "T" allows to fit only 2 out of 4 pod(s)',
        "waiting",
        "topology",
        "only 2 out of 4",
    ),
    ("WaitingForPodsReady", "", "waiting", "others-not-ready", "not ready"),
    ("AdmissionGated", "", "waiting", "admission-gate", "held back"),
    ("PendingEvaluation", "", "waiting", "not-evaluated", "has not decided"),
    ("DRAResourcesUnresolved", "claim letters", "waiting", "claims-unresolved", "claim letters"),
    ("Suspended", "ClusterQueue archive is inactive", "waiting", "queue-inactive", "admits nothing"),
    ("Deactivated", "The workload is deactivated", "waiting", "taken-up", "was paused"),
    ("SomethingNew", "as no version says yet", "waiting", "not-admitted", "as no version says yet"),
    ("Pending", OVER, "never", "never-fits", "at most 4"),
    ("Pending", SHORT, "waiting", "waiting-for-quota", "2 more"),
    (
        "Pending",
        SHORT + ". Pending the preemption of 1 workload(s)",
        "waiting",
        "waiting-for-reclaim",
        "takes back",
    ),
    ("Inadmissible", P + "resource gpus unavailable in ClusterQueue", "never", "no-quota-of-kind", "`gpus`"),
    (
        "Pending",
        f"{CLAIM}: FirstAvailable device selection is not supported",
        "never",
        "fallback-refused",
        "firstAvailable",
    ),
    (
        "Misconfigured",
        f"{CLAIM}.exactly.allocationMode: AllocationMode 'All' is not supported",
        "never",
        "all-refused",
        "All",
    ),
    (
        "Misconfigured",
        (
            f"{CLAIM}.exactly.selectors: Internal error: ResourceClaimTemplate cel: insufficient "
            "matching devices for CEL "
            "selector in DeviceClass gpu.nvidia.com: 64 device(s) match in the cluster but 70 requested"
        ),
        "never",
        "nothing-matches",
        "asks for 70 devices of the class `gpu.nvidia.com`, and only 64",
    ),
    (
        "Misconfigured",
        (
            f"{CLAIM}.exactly.selectors: Invalid value: null: ResourceClaimTemplate celkey: CEL "
            "evaluation failed for "
            "DeviceClass gpu.nvidia.com: no such key: memroy"
        ),
        "never",
        "selector-fails",
        "`memroy`",
    ),
    (
        "Misconfigured",
        (
            f"{CLAIM}: Internal error: failed to get claim spec for ResourceClaimTemplate gone in podset "
            'main: ResourceClaimTemplate.resource.k8s.io "gone" not found'
        ),
        "waiting",
        "template-missing",
        "`gone`",
    ),
    (
        "Misconfigured",
        "KueueDRAIntegration feature does not support use of resource claims",
        "never",
        "named-claim",
        "one named claim",
    ),
    ("Misconfigured", f"{CLAIM}: something else", "never", "misconfigured", "something else"),
]


def changed(name: str, change: Callable[[dict[str, Any]], None], of: str = OURS) -> Snapshot:
    """A situation with one Workload changed."""
    snapshot = situation(name)
    objects = copy.deepcopy(list(snapshot.objects))
    for each in objects:
        if each["metadata"]["name"] == of:
            change(cast("dict[str, Any]", each))
    return replace(snapshot, objects=tuple(objects))


def told(snapshot: Snapshot) -> Followed:
    (found,) = follow(snapshot, NAMESPACE)
    return found


@pytest.mark.parametrize(("reason", "message", "state", "kind", "words"), REFUSALS)
def test_each_reason_has_a_sentence_and_never_is_kept_apart(
    reason: str, message: str, state: str, kind: str, words: str
) -> None:
    def refused(workload: dict[str, Any]) -> None:
        for condition in workload["status"]["conditions"]:
            if condition["type"] == "QuotaReserved":
                condition.update(reason=reason, message=message)

    found = told(changed("quota", refused))
    assert found.state is State(state)
    assert found.root is not None
    assert found.root.kind == kind
    assert words in found.sentence
    assert found.root.remedy


@pytest.mark.parametrize(("priority", "place"), [(0, 2), (100, 1), (-5, 2)])
def test_the_place_is_by_priority_and_then_by_age(priority: int, place: int) -> None:
    found = told(changed("quota", lambda each: each["spec"].update(priority=priority)))
    assert found.slices[0].position == Position(place, 2, "archive")


def test_a_place_is_not_told_where_workloads_of_others_cannot_be_seen() -> None:
    partly = (Missing(WORKLOAD, "forbidden outside of namespace archive"),)
    found = told(replace(situation("quota"), partly=partly))
    assert found.slices[0].position is None
    assert "number" not in found.sentence


def test_what_was_put_back_by_a_check_counts_from_then() -> None:
    def put_back(workload: dict[str, Any]) -> None:
        workload["status"]["conditions"].append(
            {
                "type": "Evicted",
                "status": "True",
                "reason": "PodsReadyTimeout",
                "lastTransitionTime": "2026-11-30T11:59:00Z",
            }
        )
        workload["metadata"]["creationTimestamp"] = "2026-11-29T00:00:00Z"

    found = told(changed("quota", put_back))
    assert found.root is not None
    assert found.root.kind == "evicted"
    assert found.slices[0].position == Position(2, 2, "archive")


@pytest.mark.parametrize("count", [1, 5])
def test_a_pod_count_is_of_the_spec_and_less_what_has_ended(count: int) -> None:
    def cut(workload: dict[str, Any]) -> None:
        workload["spec"]["podSets"][0]["count"] = 6
        workload["status"]["reclaimablePods"] = [{"name": "main", "count": count}]

    found = told(changed("running", cut))
    live = next(each for each in found.slices if each.is_live)
    assert live.pods == 6 - count


def test_a_growth_that_would_fit_waits_and_is_not_said_never_to_fit() -> None:
    found = told(situation("growth-waits"))
    assert found.root is not None
    assert found.root.state is State.WAITING
    assert not any(each.capacity.never_fits(each.asked) for each in found.sums)
    never = told(situation("growth-never-fits"))
    assert any(each.capacity.never_fits(each.asked) for each in never.sums)


def test_a_workload_that_kueue_gave_up_says_why() -> None:
    def given_up(workload: dict[str, Any]) -> None:
        workload["spec"]["active"] = False
        workload["status"]["conditions"].append(
            {
                "type": "Evicted",
                "status": "True",
                "reason": "DeactivatedDueToRequeuingLimitExceeded",
                "message": "x",
            }
        )

    found = told(changed("quota", given_up))
    assert found.state is State.PAUSED
    assert "Kueue has switched it off" in found.sentence
    assert found.root is not None
    assert "kubectl patch workload" in found.root.remedy


def test_a_new_workload_without_a_word_of_kueue_is_given_a_minute() -> None:
    def silent(workload: dict[str, Any]) -> None:
        workload["status"]["conditions"] = []
        workload["metadata"]["creationTimestamp"] = "2026-11-30T11:59:50Z"

    found = told(changed("quota", silent))
    assert found.root is not None
    assert (found.root.kind, found.root.remedy) == ("not-evaluated", "nothing: it has only just been sent")


def test_after_a_minute_without_a_word_the_manager_is_asked_after() -> None:
    found = told(changed("quota", lambda workload: workload["status"].update(conditions=[])))
    assert found.root is not None
    assert found.root.kind == "not-evaluated"
    assert "manager runs" in found.root.remedy


def test_calls_to_kueue_that_fail_say_that_its_manager_is_down() -> None:
    snapshot = changed("quota", lambda workload: workload["status"].update(conditions=[]))
    (event,) = (each for each in situation("webhook-down").objects if each["kind"] == "Event")
    found = told(replace(snapshot, objects=(*snapshot.objects, event)))
    assert found.root is not None
    assert found.root.kind == "manager-down"
