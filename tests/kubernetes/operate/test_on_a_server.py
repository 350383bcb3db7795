"""The controller against an API server: what it reads and writes, how it is stopped, started, contended."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from allotment.errors import AllotmentError
from allotment.kubernetes.apply.fields import owners_of
from allotment.kubernetes.apply.lease import Lease, LostLeaseError, TakenLeaseError
from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import CLUSTER_QUEUE, JOB, LEASE, WORKLOAD, Object
from allotment.kubernetes.operate import Decision, Pace, Verb
from allotment.kubernetes.operate.loop import RIGHT, Operator
from allotment.kubernetes.operate.reading import Scope
from allotment.kubernetes.testing import faults
from allotment.kubernetes.testing.transport import FakeTransport
from allotment.repository.model import Window
from tests.kubernetes.apply.stage import SPACE, TEAM, Stage, campaign, verbs
from tests.kubernetes.operate.world import FLAVOR, stamp

PACE = Pace(settle=20, patience=10, minimum_runtime=60)


class Heard:
    """What the controller told."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []
        self.moves: list[tuple[str, int, int]] = []
        self.refusals: list[str] = []
        self.troubles: list[str] = []

    def decided(self, decision: Decision) -> None:
        self.decisions.append(decision)

    def moved(self, decision: Decision) -> None:
        self.moves.append((str(decision.verb), decision.width, decision.to))

    def refused(self, decision: Decision, error: AllotmentError) -> None:
        self.refusals.append(f"{decision.name}: {error}")

    def troubled(self, error: AllotmentError) -> None:
        self.troubles.append(str(error))


class Scene:
    """A campaign that was applied, Kueue beside it, and controllers."""

    def __init__(self, scheduler: str = "kueue", window: Window | None = None, **more: Any) -> None:
        self.stage = Stage(scheduler, **more)
        self.heard = Heard()
        self.window = window or Window(2, 8)
        self.stage.apply(campaign("a", window=self.window))
        self.play()
        self.stage.apply(campaign("a", window=self.window))
        self.pass_time(60)

    def pass_time(self, seconds: float) -> None:
        self.stage.clock += seconds

    def operator(self, name: str = "one", plan: faults.Plan = faults.none, **more: Any) -> Operator:
        self.stage.server.plan = plan
        self.stage.server.requests.clear()
        client = Client(FakeTransport(self.stage.server), jitter=lambda: 0.0)
        lease = Lease(client, SPACE, None, name, lambda: self.stage.clock, right=RIGHT)
        return Operator(
            client, Scope(), lease, self.heard, lambda: self.stage.clock, self.pass_time, PACE, **more
        )

    def width(self) -> int:
        return int(self.stage.job()["spec"]["parallelism"])

    def play(self, *, grant: bool = True) -> None:
        """Kueue's turn: one admitted Workload for each Job, a second one for a growth."""
        if self.stage.scheduler not in {"kueue", "both"}:
            return
        client = self.stage.client
        job = self.stage.job()
        live = [each for each in self.stage.slices() if not _is_finished(each)]
        width = job["spec"]["parallelism"]
        granted = next((each for each in live if "admission" in each.get("status", {})), None)
        asked = next((each for each in live if "admission" not in each.get("status", {})), None)
        if granted is not None and width <= granted["spec"]["podSets"][0]["count"]:
            self._count(granted, width)
            if asked is not None:
                self._finish(asked, "OutOfSync")
        elif asked is None:
            asked = self._create(job, width)
        if asked is not None and grant and not _is_finished(asked):
            self._admit(asked, width)
            if granted is not None:
                self._finish(granted, "WorkloadSliceReplaced")
        if job["spec"].get("suspend"):
            client.patch(JOB, "a", SPACE, {"spec": {"suspend": False}}, manager="kueue")
        self._use(width)

    def _create(self, job: Object, width: int) -> Object:
        metadata = job["metadata"]
        number = len(self.stage.slices()) + 1
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": metadata["uid"]}
        template = {"spec": {"containers": [{"name": "worker", "image": "x"}]}}
        return self.stage.client.create(
            {
                "apiVersion": WORKLOAD.api_version,
                "kind": "Workload",
                "metadata": {
                    "name": f"job-a-{number}",
                    "namespace": SPACE,
                    "ownerReferences": [{**owner, "controller": True}],
                },
                "spec": {
                    "active": True,
                    "queueName": TEAM.name,
                    "podSets": [{"name": "main", "count": width, "template": template}],
                },
            },
            manager="kueue",
        )

    def _admit(self, workload: Object, count: int) -> None:
        usage = {"gpus": str(count)}
        assigned = {"name": "main", "count": count, "flavors": {"gpus": FLAVOR}, "resourceUsage": usage}
        admission = {"clusterQueue": TEAM.name, "podSetAssignments": [assigned]}
        self._status(workload, {"admission": admission}, ("QuotaReserved", "Admitted"))

    def _finish(self, workload: Object, reason: str) -> None:
        self._status(workload, {}, ("Finished",), reason)

    def _count(self, workload: Object, count: int) -> None:
        sets = [{**workload["spec"]["podSets"][0], "count": count}]
        name = workload["metadata"]["name"]
        self.stage.client.patch(WORKLOAD, name, SPACE, {"spec": {"podSets": sets}}, manager="kueue")

    def _status(
        self, workload: Object, status: dict[str, Any], kinds: tuple[str, ...], reason: str = "Yes"
    ) -> None:
        at = stamp(self.stage.clock)
        more = [
            {"type": kind, "status": "True", "reason": reason, "message": "", "lastTransitionTime": at}
            for kind in kinds
        ]
        before = (self.stage.get(WORKLOAD, workload["metadata"]["name"]).get("status") or {}).get(
            "conditions"
        )
        change = {"status": {**status, "conditions": [*(before or ()), *more]}}
        self.stage.client.patch(
            WORKLOAD, workload["metadata"]["name"], SPACE, change, manager="kueue", subresource="status"
        )

    def _use(self, total: int) -> None:
        used = {"name": FLAVOR, "resources": [{"name": "gpus", "total": str(total), "borrowed": "0"}]}
        change = {"status": {"flavorsReservation": [used]}}
        self.stage.client.patch(CLUSTER_QUEUE, TEAM.name, None, change, manager="kueue", subresource="status")


def _is_finished(workload: Object) -> bool:
    return any(each["type"] == "Finished" for each in workload.get("status", {}).get("conditions") or ())


def test_it_grows_step_by_step_to_its_window_and_rests() -> None:
    scene = Scene()
    operator = scene.operator()
    for _ in range(5):
        operator.once()
        scene.play()
        scene.pass_time(30)
    assert scene.heard.moves == [("grows", 2, 4), ("grows", 4, 8)]
    assert owners_of(scene.stage.job(), "spec", "parallelism") == ("allotment-window",)
    assert verbs(scene.stage.apply(campaign("a")))["campaigns/a"] == "unchanged"
    assert scene.width() == 8


def test_a_growth_that_is_not_granted_is_taken_back_by_another_controller_that_starts_anew() -> None:
    scene = Scene()
    first = scene.operator("first")
    first.once()
    scene.play(grant=False)
    assert scene.width() == 4
    scene.pass_time(31)  # the first one was killed, and its lease has run out
    second = scene.operator("second")
    second.once()
    assert scene.heard.moves[-1] == ("is taken back", 4, 2)
    scene.play()
    assert scene.width() == 2


def test_a_changed_window_is_read_from_what_apply_wrote() -> None:
    scene = Scene()
    scene.stage.apply(campaign("a", window=Window(1, 3)))
    scene.operator().once()
    assert scene.heard.moves == [("grows", 2, 3)]


def test_what_somebody_else_moves_is_left_alone() -> None:
    scene = Scene()
    scene.stage.client.patch(JOB, "a", SPACE, {"spec": {"parallelism": 3}}, manager="scaler")
    operator = scene.operator()
    for _ in range(3):
        operator.once()
        scene.pass_time(60)
    assert scene.heard.moves == []
    assert [each.reason for each in scene.heard.decisions] == ["scaler moves its width"]
    assert scene.width() == 3


def test_what_changed_since_it_was_looked_at_is_refused_and_looked_at_again() -> None:
    scene = Scene()
    operator = scene.operator()
    write = operator.client.apply

    def late(value: Object, **more: Any) -> Object:
        scene.stage.status("a", {"active": 1})
        return write(value, **more)

    operator.client.apply = late  # type: ignore[method-assign]
    operator.once()
    assert (scene.width(), scene.heard.moves) == (2, [])
    assert len(scene.heard.refusals) == 1
    operator.client.apply = write  # type: ignore[method-assign]
    operator.once()
    assert scene.heard.moves == [("grows", 2, 4)]


def test_only_one_is_at_work() -> None:
    scene = Scene()
    first, second = scene.operator("first"), scene.operator("second")
    first.once()
    with pytest.raises(TakenLeaseError, match="moves windows"):
        second.once()
    first.end()
    second.once()
    scene.pass_time(20)
    first.is_leading = True
    with pytest.raises(LostLeaseError):
        first.once()


def test_a_dry_run_writes_nothing_and_takes_no_lease() -> None:
    scene = Scene()
    scene.stage.server.requests.clear()
    scene.operator(dry_run=True).once()
    assert [each.to for each in scene.heard.decisions] == [4]
    assert {each.method for each in scene.stage.server.requests} == {"GET"}
    assert scene.stage.client.get(LEASE, RIGHT.name, SPACE) is None


def test_without_a_campaign_it_asks_for_jobs_alone() -> None:
    scene = Scene()
    scene.stage.end()
    scene.stage.server.requests.clear()
    scene.operator(dry_run=True).once()
    assert len(scene.stage.server.requests) == 1


def test_a_campaign_at_its_most_costs_no_look_at_devices() -> None:
    scene = Scene(window=Window(2, 2))
    scene.stage.server.requests.clear()
    scene.operator(dry_run=True).once()
    kinds = [each.path.rpartition("/")[2] for each in scene.stage.server.requests]
    assert sorted(kinds) == ["clusterqueues", "cohorts", "jobs", "localqueues", "workloads"]


@pytest.mark.parametrize("fault", [faults.CUT_BEFORE, faults.CUT_AFTER])
def test_whatever_call_is_cut_nothing_is_doubled(fault: Any) -> None:
    calls = _calls()
    for number in range(calls):
        scene = Scene()
        with suppress(AllotmentError):
            scene.operator("first", faults.At({number: fault})).once()
        scene.stage.server.plan = faults.none
        scene.play()
        scene.pass_time(31)
        scene.operator("second").once()
        scene.play()
        assert scene.width() in {4, 8}
        assert len([each for each in scene.stage.slices() if not _is_finished(each)]) == 1


def _calls() -> int:
    scene = Scene()
    scene.stage.server.requests.clear()
    scene.operator().once()
    return len(scene.stage.server.requests)


def test_by_default_it_narrows_when_told_and_not_below_the_least() -> None:
    scene = Scene("default")
    assert scene.width() == 8
    note = {"metadata": {"annotations": {"allotment/at-most": "1"}}}
    scene.stage.client.patch(JOB, "a", SPACE, note, manager="somebody")
    operator = scene.operator()
    operator.once()
    assert scene.heard.moves == [("shrinks", 8, 2)]
    report = scene.stage.apply(campaign("a"))
    assert scene.width() == 2
    assert "whoever wrote allotment/at-most made Job a 2 wide" in str(report.outcomes)
    none = {"metadata": {"annotations": {"allotment/at-most": None}}}
    scene.stage.client.patch(JOB, "a", SPACE, none, manager="somebody")
    scene.pass_time(60)
    operator.once()
    assert scene.heard.decisions[-1].reason == "which devices are free cannot be told"


def test_under_kai_alone_nothing_is_written() -> None:
    scene = Scene("kai", Window(4, 8))
    scene.stage.status("a", {"succeeded": 18, "completedIndexes": "0-17", "active": 2})
    scene.stage.server.requests.clear()
    scene.operator().once()
    assert not [each for each in scene.stage.server.requests if each.method == "PATCH"]
    assert [each.verb for each in scene.heard.decisions] == [Verb.ASKS]


def test_trouble_is_told_once_for_each_look_and_it_goes_on() -> None:
    scene = Scene()
    refusal = faults.Fault(403, "Forbidden", "not now")
    operator = scene.operator("one", faults.At({1: refusal}))
    left = [3]

    def sleep(seconds: float) -> None:
        scene.pass_time(seconds)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    operator.sleep = sleep
    with pytest.raises(KeyboardInterrupt):
        operator.forever(1)
    assert len(scene.heard.troubles) == 1
    assert "not now" in scene.heard.troubles[0]
    assert scene.heard.moves == [("grows", 2, 4)]


def test_between_two_looks_it_listens_and_looks_again_when_something_happens() -> None:
    scene = Scene()
    operator = scene.operator()
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            raise KeyboardInterrupt
        scene.play()

    operator.sleep = sleep
    with pytest.raises(KeyboardInterrupt):
        operator.forever(10)
    assert pauses == [2, 2]
    watches = [each for each in scene.stage.server.requests if "watch" in each.query]
    assert [each.path.rpartition("/")[2] for each in watches] == ["workloads"]
