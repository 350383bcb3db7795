"""What Kueue's webhook refuses of Jobs: nothing of what is rendered, and what would cost a new Job."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from allotment.kubernetes.kueue_jobs import PREFIX, change_faults, creation_faults
from allotment.kubernetes.render import render
from allotment.platform.model import Platform, Team
from allotment.platform.need import Need
from allotment.repository.model import Gang, Repository
from tests.kubernetes.stored import Case, cases

JOBS = [
    pytest.param(value, id=f"{case.example}-{case.scheduler}-{value['metadata']['name']}")
    for case in cases()
    if not case.of_platform and case.scheduler in {"kueue", "both"}
    for value in case.rendered().objects
    if value["kind"] == "Job"
]


def job(**annotations: str) -> dict[str, Any]:
    objects = Case("cluster", "kueue").rendered().objects
    (found,) = (
        each for each in objects if each["metadata"]["name"] == "church-books" and each["kind"] == "Job"
    )
    value = deepcopy(dict(found))
    value["metadata"]["annotations"] = {
        f"{PREFIX}{key.replace('_', '-')}": text for key, text in annotations.items()
    }
    return value


@pytest.mark.parametrize("value", JOBS)
def test_nothing_that_is_rendered_is_refused(value: dict[str, Any]) -> None:
    assert list(creation_faults(value)) == []
    assert list(change_faults(value, value)) == []


@pytest.mark.parametrize("least", [1, 2, 3, 4])
def test_gangs_that_may_be_smaller_are_taken(least: int) -> None:
    gang = Gang("train", 4, least, image="x@sha256:" + "a" * 64, gpu=Need())
    platform = Platform(bucket="s3://results")
    found = render(Repository(Path(), gangs={"train": gang}), platform, Team("a"), scheduler="kueue")
    (job,) = (each for each in found.objects if each["kind"] == "Job")
    assert list(creation_faults(job)) == []
    assert (f"{PREFIX}job-min-parallelism" in job["metadata"].get("annotations", {})) is (least < 4)


@pytest.mark.parametrize(
    ("annotations", "told"),
    [
        ({"elastic_job": "true"}, 0),
        ({"job_min_parallelism": "1"}, 0),
        ({"job_min_parallelism": "2"}, 1),
        ({"job_min_parallelism": "x"}, 1),
        ({"elastic_job": "true", "job_min_parallelism": "1"}, 1),
        ({"job_completions_equal_parallelism": "true"}, 1),
        ({"admission_gated_by": "a.se/x,a.se/x"}, 1),
    ],
)
def test_annotations_that_exclude_each_other_are_refused(annotations: dict[str, str], told: int) -> None:
    assert len(list(creation_faults(job(**annotations)))) == told


def test_a_window_moves_while_it_runs_and_a_queue_does_not() -> None:
    before, after = job(elastic_job="true"), job(elastic_job="true")
    before["spec"]["suspend"] = after["spec"]["suspend"] = False
    after["spec"]["parallelism"] = 4
    assert list(change_faults(before, after)) == []
    after["metadata"]["labels"][f"{PREFIX}queue-name"] = "other"
    assert [fault.field for fault in change_faults(before, after)] == [f"metadata.labels[{PREFIX}queue-name]"]


def test_whether_a_window_can_grow_is_decided_when_the_job_is_made() -> None:
    assert [fault.message for fault in change_faults(job(), job(elastic_job="true"))] == [
        "field is immutable"
    ]
