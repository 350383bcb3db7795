"""A campaign that runs narrower than it may: who would widen it, and what to do."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.follow import Followed, State, follow
from allotment.kubernetes.kinds import JOB
from tests.kubernetes.follow.told import NAMESPACE, situation

CONTROLLER = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "allotment-window", "namespace": "allotment-system"},
}


def sent(*others: dict[str, Any], **notes: str) -> Followed:
    """What is told of the campaign that runs two at once, with these annotations and objects."""
    snapshot = situation("running")
    (job,) = snapshot.of(JOB)
    mine: dict[str, Any] = copy.deepcopy(dict(job))
    said = mine["metadata"].setdefault("annotations", {})
    said.update({f"allotment/{key.replace('_', '-')}": value for key, value in notes.items()})
    said["kueue.x-k8s.io/elastic-job"] = "true"
    rest = tuple(each for each in snapshot.objects if each is not job)
    (found,) = follow(replace(snapshot, objects=(*rest, mine, *others)), NAMESPACE)
    return found


@pytest.mark.parametrize(
    ("others", "notes", "kind", "words", "remedy"),
    [
        ((), {"window": "2..8"}, "narrow", "no window controller that would widen it", "allot operate"),
        (
            (CONTROLLER,),
            {"window": "2..8"},
            "narrow",
            "leaves it at 2 for now",
            "deployment/allotment-window",
        ),
        ((), {"window": "2..8", "at_most": "2"}, "held-narrow", "held at 2 at most by hand", "at-most-`"),
    ],
)
def test_it_is_told_who_would_widen_it(
    others: tuple[dict[str, Any], ...], notes: dict[str, str], kind: str, words: str, remedy: str
) -> None:
    found = sent(*others, **notes)
    assert found.state is State.RUNNING
    assert found.sentence.startswith("it runs 2 volumes at once; ")
    assert words in found.sentence
    assert found.root is not None
    assert (found.root.kind, remedy in found.root.remedy) == (kind, True)
    assert found.window is not None
    assert (found.window.least, found.window.most) == (2, 8)


@pytest.mark.parametrize("window", ["2..2", "1..2", "", "many"])
def test_a_window_that_is_as_wide_as_it_may_be_says_nothing(window: str) -> None:
    found = sent(window=window)
    assert (found.sentence, found.root) == ("it runs 2 volumes at once", None)


def test_a_growth_that_waits_is_told_by_what_it_waits_for() -> None:
    snapshot: Snapshot = situation("growth-waits")
    (job,) = snapshot.of(JOB)
    mine: dict[str, Any] = copy.deepcopy(dict(job))
    mine["metadata"].setdefault("annotations", {})["allotment/window"] = "2..8"
    rest = tuple(each for each in snapshot.objects if each is not job)
    (found,) = follow(replace(snapshot, objects=(*rest, mine)), NAMESPACE)
    assert [each.kind for each in found.causes] == ["growth-waits"]
