"""The moments between the end of a pod and the next one: nothing is wrong then, and it is told so."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, cast

import pytest

from allotment.kubernetes.follow import Followed, State, follow
from tests.kubernetes.follow.told import NAMESPACE, situation


def told(*, completed: str, ended: str, phase: str = "Succeeded") -> Followed:
    """A campaign that ran, all of whose pods have ended."""
    snapshot = situation("running")
    objects = copy.deepcopy(list(snapshot.objects))
    for each in (cast("dict[str, Any]", value) for value in objects):
        if each["kind"] == "Job":
            each["status"] = {"completedIndexes": completed, "succeeded": 1, "active": 0}
        if each["kind"] == "Pod" and each["metadata"]["namespace"] == NAMESPACE:
            state = {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": ended}}
            each["status"] = {
                **each["status"],
                "phase": phase,
                "containerStatuses": [{"name": "worker", "state": state}],
            }
    (found,) = follow(replace(snapshot, objects=tuple(objects)), NAMESPACE)
    return found


@pytest.mark.parametrize(
    ("completed", "ended", "state", "kind"),
    [
        ("", "2026-11-30T11:59:59Z", State.WAITING, "not-counted-yet"),
        ("0-9", "2026-11-30T11:59:59Z", State.STARTING, "next-to-come"),
        ("", "2026-11-30T11:50:00Z", State.WAITING, "unknown"),
        ("0-9", "2026-11-30T11:50:00Z", State.WAITING, "unknown"),
    ],
)
def test_a_gap_between_pods_is_told_as_one_until_it_is_long(
    completed: str, ended: str, state: State, kind: str
) -> None:
    found = told(completed=completed, ended=ended)
    assert found.root is not None
    assert (found.state, found.root.kind) == (state, kind)
    assert ("nothing that could be read" in found.sentence) == (kind == "unknown")
