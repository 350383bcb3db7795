from __future__ import annotations

import json
from typing import Any

import pytest

from allotment.running.assignment import (
    Assignment,
    AssignmentError,
    Limits,
    Network,
    StepSpec,
    VolumeSpec,
    WorkerSpec,
)
from allotment.running.reading_assignment import read_assignment

ASSIGNMENT = Assignment(
    team="team",
    campaign="letters",
    pipeline="read",
    recipe="0123456789ab",
    image="registry.example.org/read@sha256:0",
    steps=(StepSpec("ocr", {"language": "sv"}), StepSpec("steps:copy")),
    indexes=(
        (VolumeSpec("v1", {"folder": "scans/v1"}), VolumeSpec("v2", {"folder": "scans/v2"})),
        (VolumeSpec("v3", {"folder": "scans/v3"}),),
    ),
    root="/repository",
    bucket="results",
    limits=Limits(max_seconds=None, page_seconds=1.5, look_ahead=3),
    network=Network(hosts=("a.se",), private=("10.0.0.0/8",), buckets=("s3://scans",), tries=2),
    worker=WorkerSpec(cpus=(0, 2), threads=2, devices=("d/p/0",), parent_pid=7, events_fd=5, log="w.log"),
    bucket_options={"endpoint": "https://s3.example.org", "path_style": True},
)


def written(**changes: Any) -> dict[str, Any]:
    """The assignment as JSON, with some keys changed; those that become `...` are left out."""
    record: dict[str, Any] = {**json.loads(json.dumps(ASSIGNMENT.to_json())), **changes}
    return {key: value for key, value in record.items() if value is not ...}


def test_an_assignment_comes_back_as_it_was() -> None:
    assert read_assignment(written()) == ASSIGNMENT


def test_what_is_left_out_has_its_default() -> None:
    read = read_assignment(written(limits=..., worker=..., image=..., network=..., bucket_options=...))
    assert (read.limits, read.worker, read.image) == (Limits(), WorkerSpec(), None)
    assert read.network == Network()
    assert read.bucket_options == {}


def test_a_list_of_volumes_is_one_pack() -> None:
    read = read_assignment(written(indexes=..., volumes=[{"id": "v", "source": {"folder": "f"}}]))
    assert read.indexes == ((VolumeSpec("v", {"folder": "f"}),),)
    assert read.pack(0) == read.indexes[0]
    for index in (-1, 1):
        with pytest.raises(AssignmentError, match="there is no index"):
            read.pack(index)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"team": ...}, "team is missing"),
        ({"network": {"private": ["all"]}}, "network.private[0]: a network such as 10.0.0.0/8 is needed"),
        ({"network": {"per_host": 0}}, "network.per_host must be at least 1"),
        ({"team": 3}, "team: a text is needed, not 3"),
        ({"team": ""}, "team is empty"),
        ({"team": None}, "team: a text is needed, not nothing"),
        ({"format_version": 2}, "format_version is 2"),
        ({"indexes": ...}, "exactly one of `indexes` and `volumes`"),
        ({"volumes": []}, "exactly one of `indexes` and `volumes`"),
        ({"indexes": []}, "every index needs a volume"),
        ({"indexes": [[]]}, "every index needs a volume"),
        ({"indexes": [["v"]]}, "indexes[0][0]: a mapping is needed"),
        ({"indexes": "v"}, "indexes: a list is needed"),
        ({"steps": []}, "at least one"),
        ({"steps": [{"step": "x", "setting": {}}]}, "steps[0].setting is no key"),
        ({"steps": [{"settings": {}}]}, "steps[0].step is missing"),
        ({"limits": {"retries": -1}}, "limits.retries must not be negative"),
        ({"limits": {"retries": True}}, "limits.retries: a whole number is needed"),
        ({"limits": {"page_seconds": "1"}}, "limits.page_seconds: seconds are needed"),
        ({"limits": {"page_seconds": float("inf")}}, "limits.page_seconds: seconds are needed"),
        ({"limits": {"look_ahead": 0}}, "limits.look_ahead must be at least 1"),
        ({"limits": {"patience": 1}}, "limits.patience is no key"),
        ({"worker": {"cpus": [-1]}}, "worker.cpus[0] must not be negative"),
        ({"worker": {"devices": "d"}}, "worker.devices: a list is needed"),
        ({"worker": []}, "worker: a mapping is needed"),
        ({"colour": "red"}, "colour is no key"),
    ],
)
def test_what_is_wrong_is_said_with_its_key(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(AssignmentError) as caught:
        read_assignment(written(**changes))
    assert words in str(caught.value)


@pytest.mark.parametrize("value", [None, [], "x", 3])
def test_what_is_no_mapping_is_no_assignment(value: object) -> None:
    with pytest.raises(AssignmentError, match="a mapping is needed"):
        read_assignment(value)
