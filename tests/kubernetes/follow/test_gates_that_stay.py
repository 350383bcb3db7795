"""Pods that Kueue has admitted and whose gate it has left on: whose part that is, and what frees them."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, cast

import pytest

from allotment.kubernetes.follow import Followed, State, follow
from tests.kubernetes.follow.told import NAMESPACE, situation

KUEUES = "kueue.x-k8s.io/elastic-job"
LONG_AGO, JUST_NOW = "2026-11-30T11:58:00Z", "2026-11-30T11:59:57Z"


def told(
    *, made: str, admitted: str, gates: tuple[str, ...] = (KUEUES,), count: int | None = None
) -> Followed:
    """A campaign that ran, all of whose pods are gated instead."""
    snapshot = situation("running")
    objects = [copy.deepcopy(cast("dict[str, Any]", each)) for each in snapshot.objects]
    ours = [each for each in objects if each["metadata"].get("namespace") == NAMESPACE]
    for pod in (each for each in ours if each["kind"] == "Pod"):
        pod["metadata"]["creationTimestamp"] = made
        pod["spec"].pop("nodeName", None)
        pod["spec"]["schedulingGates"] = [{"name": gate} for gate in gates]
        pod["status"] = {"phase": "Pending"}
    for workload in (each for each in ours if each["kind"] == "Workload"):
        if count is not None:
            workload["spec"]["podSets"][0]["count"] = count
        for condition in workload["status"]["conditions"]:
            condition["lastTransitionTime"] = admitted
    (found,) = follow(replace(snapshot, objects=tuple(objects)), NAMESPACE)
    return found


def test_a_pod_that_kueue_has_overlooked_is_said_to_be_and_what_frees_it() -> None:
    found = told(made=LONG_AGO, admitted=LONG_AGO)
    assert found.root is not None
    assert (found.state, found.root.kind) == (State.WAITING, "gate-overlooked")
    assert "Kueue has admitted it, and has not taken its gate off" in found.sentence
    assert "for 120 s" in found.sentence
    assert "kubectl annotate --overwrite -n archive job letters allotment/touched=" in found.root.remedy
    assert any(each.field == "status.conditions[Admitted]" for each in found.root.evidence)


@pytest.mark.parametrize(
    "held",
    [
        {"made": JUST_NOW, "admitted": LONG_AGO},
        {"made": LONG_AGO, "admitted": JUST_NOW},
        {"made": LONG_AGO, "admitted": LONG_AGO, "gates": (KUEUES, "else/gate")},
        {"made": LONG_AGO, "admitted": LONG_AGO, "count": 1},
    ],
    ids=["a-pod-of-now", "admitted-now", "another-gate-too", "admitted-for-fewer"],
)
def test_a_gate_that_may_have_another_reason_is_not_called_overlooked(held: Any) -> None:
    found = told(**held)
    assert found.root is not None
    assert found.root.kind == "gated"
