"""What is joined: volumes, pods, nodes, devices; several parts; fleets; what is gone or never came."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.cluster.snapshot import Missing
from allotment.kubernetes.follow import Expected, Followed, IndexState, State, follow, names_in
from allotment.kubernetes.follow.ranges import indexes_of, written
from allotment.kubernetes.kinds import JOB, POD, WORKLOAD
from tests.kubernetes.follow.told import NAMESPACE, situation, told


def only(snapshot: Snapshot, **rest: Any) -> Followed:
    (found,) = follow(snapshot, NAMESPACE, **rest)
    return found


def test_indexes_carry_their_volumes_nodes_and_devices() -> None:
    found = told("lost-node").indexes
    assert [(each.volumes, each.state, each.node) for each in found] == [
        (("R0001202",), IndexState.RUNNING, "node-a"),
        (("R0001203",), IndexState.LOST, "node-b"),
    ]
    assert found[0].devices == ("gpu.nvidia.com/node-a/gpu-0",)
    assert found[0].since is not None


def test_failed_indexes_say_how_their_pod_ended() -> None:
    failed = [each for each in told("volumes-failed").indexes if each.state is IndexState.FAILED]
    assert [(each.volumes, each.message) for each in failed] == [
        (("R0001202",), "exit code 13"),
        (("R0001204",), "exit code 13"),
    ]


def test_a_try_that_failed_before_is_counted() -> None:
    (index,) = told("out-of-memory").indexes
    assert (index.state, index.failures, index.pod) == (IndexState.RUNNING, 1, "letters-0-bbbbb")


def test_a_window_has_what_runs_what_is_asked_and_the_files_bounds() -> None:
    expected = {"letters": Expected("campaign", 2, 8, 10)}
    window = only(situation("growth-waits"), expected=expected).window
    assert window is not None
    assert (window.now, window.asked, window.least, window.most) == (2, 4, 2, 8)


def part_two(snapshot: Snapshot) -> Snapshot:
    """A second part of the campaign, which has ended."""
    (job,) = snapshot.of(JOB)
    other: dict[str, Any] = copy.deepcopy(dict(job))
    other["metadata"] |= {"name": "letters-part2", "uid": "part-2"}
    other["metadata"]["labels"] = {**job["metadata"]["labels"], "allotment/part": "2"}
    other["spec"]["completions"] = 3
    other["status"] = {
        "completedIndexes": "0-2",
        "succeeded": 3,
        "conditions": [{"type": "Complete", "status": "True", "reason": "CompletionsReached"}],
    }
    return replace(snapshot, objects=(*snapshot.objects, other))


def test_parts_are_added_up_and_one_that_is_done_is_no_cause() -> None:
    found = only(part_two(situation("quota")))
    assert found.jobs == ("letters", "letters-part2")
    assert (found.counts.total, found.counts.done) == (13, 3)
    assert found.state is State.WAITING
    assert [cause.kind for cause in found.causes] == ["waiting-for-quota"]


def test_the_sentence_of_several_parts_that_are_done_counts_them_all() -> None:
    found = only(part_two(situation("finished")))
    assert (found.state, found.counts.done) == (State.FINISHED, 13)
    assert found.sentence == "it is finished: all 13 volumes are done"


@pytest.mark.parametrize(
    ("suspended", "words"), [(True, "its file says `suspend: true`"), (False, "somebody has paused it")]
)
def test_a_pause_is_the_files_or_somebodys(suspended: bool, words: str) -> None:
    found = only(situation("paused"), expected={"letters": Expected("campaign", suspended=suspended)})
    assert found.sentence.startswith(f"it is paused: {words}; what is done is kept")


def remembering(snapshot: Snapshot, ended: dict[str, Any] | None) -> Snapshot:
    """The Job is gone, and its volumes remember it."""
    kept: list[Any] = copy.deepcopy(
        [each for each in snapshot.objects if each["kind"] not in {"Job", "Pod", "Workload"}]
    )
    for each in kept:
        if each["kind"] == "ConfigMap":
            notes = {"allotment/job-uid": "u"} | ({"allotment/job-ended": json.dumps(ended)} if ended else {})
            each["metadata"] = {**each["metadata"], "annotations": notes}
    return replace(snapshot, objects=tuple(kept))


@pytest.mark.parametrize(
    ("ended", "state", "words"),
    [
        (
            {"phase": "Complete", "completions": 10, "succeeded": 10, "failed_indexes": ""},
            State.FINISHED,
            "10 of 10 done",
        ),
        (
            {"phase": "Failed", "completions": 10, "succeeded": 8, "failed_indexes": "2,5"},
            State.FAILED,
            "8 of 10 done, 2 failed",
        ),
        (None, State.ABSENT, "how it ended was not seen"),
    ],
)
def test_a_job_that_is_gone_is_remembered(ended: dict[str, Any] | None, state: State, words: str) -> None:
    found = only(remembering(situation("finished"), ended))
    assert found.state is state
    assert words in found.sentence


def test_what_a_repository_has_and_the_cluster_has_not_is_absent_or_was_never_sent() -> None:
    expected = {"diaries": Expected("campaign"), "maps": Expected("campaign", suspended=True)}
    found = follow(situation("quota"), NAMESPACE, ("diaries", "maps"), expected=expected)
    assert [each.state for each in found] == [State.ABSENT, State.PAUSED]
    assert "allot apply" in (found[0].causes[0].remedy)


def test_a_namespace_that_is_not_there_is_told_before_what_is_absent_in_it() -> None:
    snapshot = situation("quota")
    other = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "archive"}}
    expected = {"diaries": Expected("campaign")}
    (found,) = follow(replace(snapshot, objects=(*snapshot.objects, other)), "archiv", expected=expected)
    assert found.sentence == "it is not on the cluster: there is no namespace `archiv`"
    assert "`namespace` in the platform's file" in found.causes[0].remedy


def test_names_are_of_what_is_there_or_remembered() -> None:
    assert names_in(situation("quota"), NAMESPACE) == {"letters"}
    assert names_in(remembering(situation("finished"), None), NAMESPACE) == {"letters"}
    assert names_in(situation("quota"), "laboratory") == set()


def test_what_could_not_be_read_is_a_note_and_never_a_cause() -> None:
    snapshot = situation("quota")
    objects = tuple(each for each in snapshot.objects if each["kind"] != "Workload")
    found = only(replace(snapshot, objects=objects, missing=(Missing(WORKLOAD, "forbidden"),)))
    assert any("workloads.kueue.x-k8s.io could not be read (forbidden)" in note for note in found.notes)
    assert found.root is not None
    assert found.root.kind == "unknown"


def fleet(pods: list[dict[str, Any]]) -> Snapshot:
    labels = {
        "allotment/fleet": "reader",
        "allotment/team": "archive",
        "app.kubernetes.io/managed-by": "allotment",
    }
    owner = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "reader", "namespace": NAMESPACE, "uid": "f", "labels": labels},
        "spec": {"replicas": 2, "template": {"spec": {}}},
    }
    found = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"reader-{number}",
                "namespace": NAMESPACE,
                "uid": f"p{number}",
                "labels": labels,
            },
            **pod,
        }
        for number, pod in enumerate(pods)
    ]
    return Snapshot(1.8e9, (owner, *found))


def test_a_fleet_counts_its_copies_and_says_why_one_fails() -> None:
    well = {"spec": {"nodeName": "node-a"}, "status": {"phase": "Running"}}
    ended = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    status = {"name": "worker", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": ended}
    ill = {"spec": {"nodeName": "node-a"}, "status": {"phase": "Running", "containerStatuses": [status]}}
    found = only(fleet([well, ill]))
    assert found.kind == "fleet"
    assert found.state is State.RUNNING
    assert "used more memory than it may" in found.sentence
    assert [each.pod for each in found.indexes] == ["reader-0", "reader-1"]


def test_a_fleet_without_pods_says_no_more_than_it_knows() -> None:
    found = only(fleet([]))
    assert found.state is State.WAITING
    assert found.root is not None
    assert found.root.kind == "unknown"


def test_a_lost_node_needs_a_node_that_says_so() -> None:
    snapshot = situation("lost-node")
    objects = tuple(each for each in snapshot.objects if each["metadata"]["name"] != "node-b")
    found = only(replace(snapshot, objects=objects))
    assert not any(cause.kind == "lost-node" for cause in found.causes)
    assert len(situation("lost-node").of(POD)) == 2


@given(st.sets(st.integers(0, 400)))
def test_indexes_are_read_as_they_are_written(indexes: set[int]) -> None:
    assert indexes_of(written(indexes, most=1000).replace(" to ", "-").replace(" ", "")) == indexes


@pytest.mark.parametrize("text", ["", "x", "3-", "-3", "0-3-5", ",,", "1-99999999999"])
def test_lists_of_indexes_that_are_none_are_empty_or_cut(text: str) -> None:
    assert len(indexes_of(text)) <= 100_001
