"""What Kueue would do next: recorded situations, small clusters, and objects that nobody foresaw."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.cli import invoke
from allotment.errors import EXIT_FINE
from allotment.kubernetes.cluster.file import snapshot_text
from allotment.kubernetes.cluster.kueue_config import configured
from allotment.kubernetes.cluster.kueue_state import scene_of
from allotment.kubernetes.cluster.snapshot import Missing, Snapshot
from allotment.kubernetes.kinds import SLICE, WORKLOAD
from allotment.kubernetes.render.platform import render_platform
from allotment.planning.outlook.kueue import outlook
from allotment.planning.outlook.kueue_asked import next_of, next_of_queues
from allotment.planning.outlook.values import Next, Outlook
from allotment.platform.find import find_platform
from tests.kubernetes.cluster.queue_objects import local_queue, made, of_kueue, workload
from tests.kubernetes.follow.told import NAMES, situation, told

EXAMPLES = Path(__file__).parents[2] / "examples" / "cluster"
QUOTA = Path(__file__).parents[1] / "kubernetes" / "follow" / "situations" / "quota.yaml"
OF_ONE_CAUSE = ("WaitingForQuota", "ExceedsMaxQuota", "Misconfigured")
PARTLY_DRAWN = {"prepare-failed", "reclaimed", "taken-for-another"}
"""Situations that leave out who holds the quota that their conditions tell of."""


def waiting() -> Iterator[tuple[str, str, str, str]]:
    """Each recorded condition of what waits: situation, workload, reason and message."""
    for name in NAMES:
        for each in situation(name).of(WORKLOAD):
            key = f"{each['metadata']['namespace']}/{each['metadata']['name']}"
            for said in (each.get("status") or {}).get("conditions") or ():
                recorded = said["type"] == "QuotaReserved" and said["status"] == "False"
                if recorded and said["reason"] in OF_ONE_CAUSE and name not in PARTLY_DRAWN:
                    yield name, key, said["reason"], said["message"]


RECORDED = tuple(waiting())


def held(name: str, namespace: str, count: int, **rest: Any) -> dict[str, Any]:
    """A Workload that is admitted."""
    given = {
        "name": "main",
        "count": count,
        "flavors": {"gpus": "any"},
        "resourceUsage": {"gpus": str(count)},
    }
    admission = {"clusterQueue": namespace, "podSetAssignments": [given]}
    done = ("QuotaReserved", "Admitted")
    return workload(name, namespace, count, conditions=done, status={"admission": admission}, **rest)


def cluster(*objects: dict[str, Any], **rest: Any) -> Snapshot:
    return Snapshot(1.8e9, objects, name="prod", **rest)


def queue(name: str, nominal: int, **spec: Any) -> list[dict[str, Any]]:
    """A queue that all namespaces may use, and a LocalQueue of its name in the namespace of its name."""
    found = of_kueue(name, nominal)
    found["spec"] |= {"namespaceSelector": {}, **spec}
    return [found, local_queue(name, name, name)]


def asked(snapshot: Snapshot, key: str) -> Outlook:
    found = outlook(scene_of(snapshot), key)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "key", "reason", "message"), RECORDED, ids=[f"{name}-{key}" for name, key, *_ in RECORDED]
)
def test_the_model_says_what_kueue_has_said(name: str, key: str, reason: str, message: str) -> None:
    found = asked(situation(name), key)
    assert found.reason == reason
    if reason != "Misconfigured":  # Kueue puts what its client says around the fault
        assert found.message == message


def test_all_reasons_are_among_the_situations() -> None:
    assert {reason for _, _, reason, _ in RECORDED} == set(OF_ONE_CAUSE)


def test_what_is_free_is_given() -> None:
    found = asked(cluster(*queue("archive", 4), workload("letters", "archive", 3)), "archive/letters")
    assert (found.next, found.cycle, found.ends) == (Next.ADMITTED, 1, None)


def test_the_smallest_end_that_does_is_named() -> None:
    snapshot = cluster(
        *queue("archive", 8),
        held("large", "archive", 5),
        held("middle", "archive", 2),
        held("small", "archive", 1),
        workload("letters", "archive", 2),
    )
    assert asked(snapshot, "archive/letters").ends == ("Workload archive/middle",)


def test_several_must_end_and_none_more_than_needed() -> None:
    holders = [held(f"w{number}", "archive", 1 + number % 2) for number in range(4)]
    snapshot = cluster(*queue("archive", 6), *holders, workload("letters", "archive", 4))
    ends = asked(snapshot, "archive/letters").ends
    assert ends is not None
    assert len(ends) in {2, 3}


def test_what_never_fits_is_let_in_by_nobodys_end() -> None:
    snapshot = cluster(*queue("archive", 2), held("maps", "archive", 2), workload("letters", "archive", 9))
    found = asked(snapshot, "archive/letters")
    assert (found.next, found.ends, found.tried_all) == (Next.WAITS, None, True)
    assert found.reason == "ExceedsMaxQuota"


def test_who_is_evicted_is_named_with_the_reason() -> None:
    snapshot = cluster(
        *queue("archive", 4, preemption={"reclaimWithinCohort": "Any"}),
        *queue("laboratory", 2),
        held("spectra", "laboratory", 6),
        workload("letters", "archive", 4),
    )
    found = asked(snapshot, "archive/letters")
    assert found.next is Next.PREEMPTS
    assert [(each.name, each.why) for each in found.victims] == [
        ("Workload laboratory/spectra", "reclamation within the cohort")
    ]
    assert found.cycle > 1


def test_who_asks_for_the_same_waits_for_the_same_reason() -> None:
    works = [workload(f"w{number}", "archive", 2) for number in range(3)]
    said = next_of_queues(cluster(*queue("archive", 3), held("maps", "archive", 3), *works))
    told = {(each.reason, each.message) for each in said.queues["archive"]}
    assert len(told) == 1
    assert "2 more needed" in told.pop()[1]


def test_a_strict_queue_waits_for_its_first() -> None:
    works = [workload("large", "archive", 3, priority=5), workload("small", "archive", 1)]
    objects = queue("archive", 4, queueingStrategy="StrictFIFO")
    snapshot = cluster(*objects, held("maps", "archive", 3), *works)
    assert asked(snapshot, "archive/large").ends == ("Workload archive/maps",)
    assert asked(snapshot, "archive/small").next is Next.NOT_TRIED


def test_a_wider_window_waits_for_others_and_not_for_itself() -> None:
    elastic = {"kueue.x-k8s.io/elastic-job": "true"}
    wider = {**elastic, "kueue.x-k8s.io/workload-slice-replacement-for": "archive/letters"}
    snapshot = cluster(
        *queue("archive", 4),
        held("letters", "archive", 2, metadata={"annotations": elastic}),
        held("maps", "archive", 2),
        workload("wider", "archive", 4, metadata={"annotations": wider}),
    )
    assert asked(snapshot, "archive/wider").ends == ("Workload archive/maps",)


def test_admission_checks_come_after_the_quota() -> None:
    checks = {"admissionChecks": [{"name": "provisioned"}]}
    objects = queue("archive", 4, admissionChecksStrategy=checks)
    found = asked(cluster(*objects, workload("letters", "archive", 1)), "archive/letters")
    assert found.next is Next.ADMITTED
    assert "admission checks" in " ".join(found.notes)


def test_a_queue_that_stands_is_told() -> None:
    snapshot = cluster(*queue("archive", 4, stopPolicy="Hold"), workload("letters", "archive", 1))
    found = asked(snapshot, "archive/letters")
    assert (found.next, found.notes) == (Next.NOT_TRIED, ("ClusterQueue archive is inactive: Stopped",))


def test_the_line_of_a_queue_is_by_priority() -> None:
    works = [workload(name, "archive", 1, priority=value) for name, value in (("a", 1), ("b", 9), ("c", 5))]
    said = next_of_queues(cluster(*queue("archive", 2), *works))
    assert [(each.workload, each.next) for each in said.queues["archive"]] == [
        ("archive/b", Next.ADMITTED),
        ("archive/c", Next.ADMITTED),
        ("archive/a", Next.WAITS),
    ]


@pytest.mark.parametrize(
    ("image", "version", "model"),
    [("kueue:v0.17.3", "0.17", "0.19"), ("kueue:v0.20.0", "0.20", "0.20"), ("kueue:main", "", "0.19")],
)
def test_the_models_version_is_the_nearest(image: str, version: str, model: str) -> None:
    spec = {"template": {"spec": {"containers": [{"name": "manager", "image": f"registry.k8s.io/{image}"}]}}}
    manager = made("apps/v1", "Deployment", "kueue-controller-manager", spec, "kueue-system")
    found = configured(cluster(manager))
    assert (found.version, found.model) == (version, model)


def test_nothing_is_told_where_workloads_of_others_are_not_seen() -> None:
    snapshot = situation("quota")
    hidden = Snapshot(snapshot.time, snapshot.objects, partly=(Missing(WORKLOAD, "forbidden"),))
    said = next_of(hidden, told("quota"))
    assert said.outlooks == ()
    assert "workloads.kueue.x-k8s.io are forbidden" in said.notes[0]


@pytest.mark.parametrize("name", NAMES)
def test_every_situation_is_answered_or_left(name: str) -> None:
    snapshot = situation(name)
    next_of(snapshot, told(name))
    next_of_queues(snapshot)


ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**20) | st.text(max_size=4) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in an object, but what every object of an API has."""
    if path and path[0] not in {"apiVersion", "kind"} and path[:2] != ("metadata", "name"):
        yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in pairs:
        yield from places(each, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_odd_objects_break_nothing(data: st.DataObject) -> None:
    snapshot = situation("waiting-for-reclaim")
    kinds = {"ClusterQueue", "Cohort", "LocalQueue", "Workload", "ResourceFlavor", "ResourceClaimTemplate"}
    numbers = [number for number, each in enumerate(snapshot.objects) if each["kind"] in kinds]
    number = data.draw(st.sampled_from(numbers))
    value = snapshot.objects[number]
    path = data.draw(st.sampled_from([each for each in places(value) if each != ("metadata",)]))
    odd = changed(value, path, data.draw(ODD))
    objects = (*snapshot.objects[:number], odd, *snapshot.objects[number + 1 :])
    said = next_of_queues(Snapshot(snapshot.time, objects))
    assert said.queues or said.notes or not said.model


def platform_there(*more: dict[str, Any]) -> Snapshot:
    platform, _ = find_platform(EXAMPLES, option=EXAMPLES / "cluster.yaml", environ={})
    objects = [dict(each) for each in render_platform(platform).objects]
    objects += [dict(each) for each in situation("quota").of(SLICE)]
    return cluster(*objects, *more, version="1.36")


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_was_never_sent_is_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(snapshot_text(platform_there()))
    words = ["-C", str(EXAMPLES), "--snapshot", str(path), "--team", "archive"]
    words += ["--platform", str(EXAMPLES / "cluster.yaml")]
    assert invoke(["why", "church-books", *words, "-o", form]) == EXIT_FINE
    shown = capsys.readouterr().out
    if form == "text":
        assert "what Kueue would do if it were sent (a model of Kueue" in shown
        assert "it lets it in in its next cycle" in shown
        return
    (found,) = json.loads(shown)["next"]["workloads"]
    assert (found["next"], found["cycle"]) == ("admitted", 1)


def test_what_was_never_sent_tells_whom_it_would_evict(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["-C", str(EXAMPLES), "--snapshot", str(QUOTA), "--team", "archive"]
    words += ["--platform", str(EXAMPLES / "cluster.yaml")]
    assert invoke(["why", "church-books", *words]) == EXIT_FINE
    shown = capsys.readouterr().out
    assert "it evicts Workload archive/job-maps-77aa1 (prioritization in the ClusterQueue)" in shown


def test_the_commands_tell_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["why", "letters", "--snapshot", str(QUOTA)]) == EXIT_FINE
    shown = capsys.readouterr().out
    assert shown.index("to do:") < shown.index("what Kueue would do next")
    assert "it lets it in once Workload laboratory/job-spectra-99bb2 ends" in " ".join(shown.split())
    assert invoke(["queues", "--snapshot", str(QUOTA), "-o", "json"]) == EXIT_FINE
    (found,) = json.loads(capsys.readouterr().out)["next"]["queues"]
    assert [each["workload"] for each in found["waiting"]] == [
        "archive/job-registers-55cd3",
        "archive/job-letters-1f0e2",
    ]
