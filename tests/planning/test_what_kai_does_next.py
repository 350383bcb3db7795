"""What KAI would do next by its model: who starts, who loses what for whom, who waits for what and how long.

Where the folder of recorded cases is given, KAI's own are asked about as well: what is told of a round is
what the round decides.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.kubernetes.cluster.kai_state import kai_scene_of
from allotment.kubernetes.cluster.snapshot import Missing, Snapshot
from allotment.kubernetes.kinds import KAI_POD_GROUP, KAI_SHARD, PRIORITY_CLASS, Kind
from allotment.planning.outlook.asked import next_of_queues
from allotment.planning.outlook.kai import kai_outlooks, kai_outlooks_of_queues
from allotment.planning.outlook.kai_asked import kai_next_of_queues
from allotment.planning.outlook.values import Next, Outlook
from allotment.scheduling.kai import Bound, Evicted, Memory, decide
from allotment.scheduling.state.pod_groups import PodRequest
from allotment.scheduling.state.shelf import Shelf
from tests.conformance.kai_scene import state_of
from tests.kubernetes.cluster.kai_as_objects import objects_of
from tests.kubernetes.cluster.queue_objects import local_queue, made, of_kueue
from tests.kubernetes.cluster.test_kai_read_back import can_be_written
from tests.planning.kai_clusters import kai, work
from tests.scheduling.kai.kai_world import NOW, node, queue

QUEUES = (queue("archive", 4), queue("laboratory", 4, created=1.0))
IMAGE = {"containers": [{"name": "scheduler", "image": "example.org/kai/scheduler:v0.16.2"}]}


def asked(snapshot: Snapshot, key: str) -> Outlook:
    (found,) = kai_outlooks(kai_scene_of(snapshot), [key])
    return found


def test_what_is_free_is_given() -> None:
    found = asked(kai([node("n1")], QUEUES, [work("letters", "archive", 3)]), "archive/letters")
    assert (found.next, found.cycle, found.started, found.pods) == (Next.STARTS, 1, 3, 3)


def test_of_some_pods_the_others_wait_with_kais_reason() -> None:
    queues = (queue("archive", 2, limit=2),)
    found = asked(kai([node("n1")], queues, [work("letters", "archive", 3)]), "archive/letters")
    assert (found.next, found.started, found.pods, found.reason) == (Next.STARTS, 2, 3, "OverLimit")
    assert "archive quota has reached the allowable limit of GPUs" in found.message


def test_what_was_lent_is_reclaimed_and_the_victim_is_named() -> None:
    works = [
        work("spectra", "laboratory", 8, on=["n1"] * 8),
        work("letters", "archive", 3),
    ]
    found = asked(kai([node("n1")], QUEUES, works), "archive/letters")
    assert (found.next, found.started, found.cycle) == (Next.PREEMPTS, 3, 2)
    (victim,) = found.victims
    assert (victim.name, victim.pods, victim.wide) == ("PodGroup laboratory/spectra", 3, 8)
    assert victim.why.startswith("reclaim")


def test_who_has_its_fair_share_waits_and_is_told_what_that_is() -> None:
    works = [
        work("spectra", "laboratory", 4, on=["n1"] * 4),
        work("books", "archive", 4, on=["n1"] * 4),
        work("letters", "archive", 3, created=NOW - 1),
    ]
    queues = (queue("archive", 2), queue("laboratory", 2, weight=1.0, created=1.0))
    found = asked(kai([node("n1")], queues, works), "archive/letters")
    assert found.next is Next.WAITS
    words = "queue `archive` has 4 GPUs of a fair share of 4 (quota 2), and asks for 3 more"
    assert found.notes == (words,)


def test_who_would_lose_pods_is_told_so() -> None:
    works = [work("spectra", "laboratory", 8, on=["n1"] * 8), work("letters", "archive", 3)]
    found = asked(kai([node("n1")], QUEUES, works), "laboratory/spectra")
    assert found.next is Next.EVICTED
    (note,) = found.notes
    begin = "3 of its 8 running pods would be evicted for PodGroup archive/letters"
    assert note == f"{begin} (reclaim: its queue has more than its share)"


def test_a_lower_priority_of_the_same_queue_goes() -> None:
    works = [
        work("books", "archive", 4, on=["n1"] * 4, priority=50),
        work("urgent", "archive", 1, priority=75),
    ]
    found = asked(kai([node("n1", 4)], (queue("archive", 4),), works), "archive/urgent")
    assert [(each.name, each.pods) for each in found.victims] == [("PodGroup archive/books", 1)]
    assert found.victims[0].why.startswith("preempted by a higher priority")


def test_the_smallest_end_that_does_is_named() -> None:
    works = [
        work("large", "archive", 3, on=["n1"] * 3, least=3),
        work("small", "archive", 1, on=["n1"]),
        work("letters", "archive", 1),
    ]
    found = asked(kai([node("n1", 4)], (queue("archive", 4),), works), "archive/letters")
    assert (found.next, found.ends, found.tried_all) == (Next.WAITS, ("PodGroup archive/small",), True)


def test_several_must_end_for_a_gang() -> None:
    works = [work(f"w{number}", "archive", on=["n1"], created=NOW - number) for number in range(4)]
    works.append(work("gang", "archive", 3, least=3))
    found = asked(kai([node("n1", 4)], (queue("archive", 4),), works), "archive/gang")
    assert found.ends is not None
    assert len(found.ends) == 3


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (work("letters", "archive", 1, request=PodRequest(1000, 1e9, gpus=9)), "PodSchedulingErrors"),
        (work("letters", "nowhere"), "QueueDoesNotExist"),
    ],
    ids=["too large for any node", "no queue"],
)
def test_what_never_fits_is_let_in_by_nobodys_end(what: Any, reason: str) -> None:
    works = [work("maps", "archive", 2, on=["n1"] * 2), what]
    found = asked(kai([node("n1", 4)], QUEUES, works), f"{what.namespace}/{what.name}")
    assert (found.next, found.ends) == (Next.WAITS, None)
    assert found.reason in {reason, "Not enough resources for the workload"}
    assert found.message


def test_a_gang_without_all_of_its_pods_is_not_tried() -> None:
    found = asked(kai([node("n1")], QUEUES, [work("gang", "archive", 2, least=3)]), "archive/gang")
    assert (found.next, found.notes[0]) == (Next.NOT_TRIED, "it needs 3 pods together, and has 2")


def test_the_line_of_a_queue_is_by_priority_and_then_by_age() -> None:
    works = [
        work("young", "archive", created=NOW - 10),
        work("old", "archive", created=NOW - 20),
        work("first", "archive", created=NOW - 1, priority=75),
    ]
    said = kai_next_of_queues(kai([node("n1")], QUEUES, works))
    assert [each.name for each in said.queues["archive"]] == [
        f"PodGroup archive/{name}" for name in ("first", "old", "young")
    ]


def test_pods_that_are_deleted_stop_first() -> None:
    held = work("books", "archive", 1, on=["n1"])
    snapshot = kai([node("n1", 1)], QUEUES, [held, work("letters", "archive")])
    gone = "2001-09-09T01:46:40Z"
    objects = tuple(
        {**each, "metadata": {**each["metadata"], "deletionTimestamp": gone}}
        if each["kind"] == "Pod" and each["spec"].get("nodeName")
        else each
        for each in snapshot.objects
    )
    found = asked(replace(snapshot, objects=objects), "archive/letters")
    assert (found.next, found.cycle) == (Next.STARTS, 2)
    assert found.notes == ("pods that are being deleted have to stop first",)


def test_what_kai_has_refused_and_the_model_starts_is_said() -> None:
    snapshot = kai([node("n1")], QUEUES, [work("letters", "archive")])
    condition = {"type": "UnschedulableOnNodePool", "status": "True", "reason": "PodSchedulingErrors"}
    objects = tuple(
        {**each, "status": {"schedulingConditions": [condition]}} if each["kind"] == "PodGroup" else each
        for each in snapshot.objects
    )
    said = kai_next_of_queues(replace(snapshot, objects=objects))
    (found,) = said.queues["archive"]
    assert "something that was not seen holds what it needs" in found.notes[0]


def test_the_release_of_the_cluster_is_read_from_its_scheduler() -> None:
    scheduler = made("v1", "Pod", "kai-scheduler-default-7d9", IMAGE, "kai-scheduler")
    said = kai_next_of_queues(kai([node("n1")], QUEUES, [work("letters", "archive")], scheduler))
    assert (said.scheduler, said.version, said.model) == ("KAI", "0.16", "0.17")


@pytest.mark.parametrize(
    ("kind", "words"),
    [(KAI_SHARD, "KAI's settings were not read"), (PRIORITY_CLASS, "priorities were not read")],
)
def test_what_is_taken_for_granted_is_said(kind: Kind, words: str) -> None:
    hidden = (Missing(kind, "forbidden"),)
    said = kai_next_of_queues(kai([node("n1")], QUEUES, [work("letters", "archive")], missing=hidden))
    assert said.queues
    assert said.notes[0].startswith(words)


def test_nothing_is_told_where_groups_of_others_cannot_be_seen() -> None:
    hidden = (Missing(KAI_POD_GROUP, "forbidden"),)
    said = kai_next_of_queues(kai([node("n1")], QUEUES, [work("letters", "archive")], missing=hidden))
    assert not said.queues
    assert "forbidden" in said.notes[0]


def test_with_both_who_admits_comes_before_who_places() -> None:
    clusterqueue = of_kueue("archive", 4)
    clusterqueue["spec"] |= {"namespaceSelector": {}}
    kueue = [clusterqueue, local_queue("archive", "archive", "archive")]
    waiting = made(
        "kueue.x-k8s.io/v1beta2",
        "Workload",
        "maps",
        {"queueName": "archive", "podSets": [{"name": "main", "count": 9, "template": {"spec": {}}}]},
        "archive",
    )
    snapshot = kai([node("n1")], QUEUES, [work("letters", "archive")], *kueue, waiting)
    assert [each.scheduler for each in next_of_queues(snapshot)] == ["Kueue", "KAI"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("archive", "laboratory")),
            st.integers(1, 4),
            st.integers(0, 2),
            st.sampled_from((50, 75, 125)),
        ),
        min_size=1,
        max_size=5,
    )
)
@settings(max_examples=40, deadline=None)
def test_everything_that_waits_is_told_of(drawn: list[tuple[str, int, int, int]]) -> None:
    works = [
        work(f"w{number}", of, count, on=["n1", "n2"][: min(count, running)], priority=priority)
        for number, (of, count, running, priority) in enumerate(drawn)
    ]
    snapshot = kai([node("n1", 4), node("n2", 4)], QUEUES, works)
    told = {each.workload: each for line in kai_next_of_queues(snapshot).queues.values() for each in line}
    waiting = {f"{each.namespace}/{each.name}" for each in works if any(not pod.node for pod in each.pods)}
    assert set(told) == waiting
    for each in told.values():
        assert 0 <= each.started <= each.pods
        assert each.next in {Next.STARTS, Next.PREEMPTS} or each.message or each.notes


def test_recorded_cases_are_told_of_as_they_are_decided(data_folder: Path) -> None:
    looked_at = 0
    for case in json.loads((data_folder / "kai/kai_cases.json").read_text())["cases"]:
        state = state_of(case)
        groups = list(state.pod_groups.values())
        if case.get("dra") or not all(can_be_written(pod) for group in groups for pod in group.pods):
            continue
        named = {
            f"{group.namespace}/{group.name}": replace(
                group, pods=tuple(replace(pod, id=f"{group.namespace}/{pod.id}") for pod in group.pods)
            )
            for group in groups
        }
        state = replace(state, pod_groups=Shelf(named))
        scene = kai_scene_of(Snapshot(NOW, tuple(objects_of(state)), name="prod"))
        decisions, _ = decide(scene.state, Memory(scene.settings), scene.now)
        told = {each.workload: each for line in kai_outlooks_of_queues(scene).values() for each in line}
        for key in {each.group for each in decisions if isinstance(each, Bound)}:
            if key in told:
                assert told[key].next in {Next.STARTS, Next.PREEMPTS}, case["id"]
                assert told[key].cycle == 1, case["id"]
        takers = {each.by for each in decisions if isinstance(each, Evicted)}
        assert all(each.victims for key, each in told.items() if key in takers), case["id"]
        looked_at += 1
    assert looked_at > 300
