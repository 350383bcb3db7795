"""Two who apply at once: one holds the lease, the other is told who; who loses it sends nothing further."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from allotment.errors import AllotmentError, WorldError
from allotment.kubernetes.apply.lease import SECONDS, Lease, LostLeaseError
from allotment.kubernetes.kinds import JOB, LEASE
from allotment.kubernetes.testing import faults
from allotment.kubernetes.testing.asked import Request
from tests.kubernetes.apply.stage import SPACE, Stage, campaign, verbs


def lease_of(stage: Stage, holder: str) -> Lease:
    return Lease(stage.client, SPACE, "library", holder, lambda: stage.clock)


def test_the_second_is_told_who_has_it() -> None:
    stage = Stage()
    lease_of(stage, "ada@there").take()
    with pytest.raises(WorldError, match="`ada@there` is applying in namespace `books`") as told:
        stage.apply(campaign())
    assert told.value.exit_code == 3
    assert stage.all(JOB) == []


def test_one_that_has_expired_is_taken_over() -> None:
    stage = Stage()
    first = lease_of(stage, "ada")
    first.take()
    stage.clock += SECONDS + 1
    assert verbs(stage.apply(campaign()))["campaigns/a"] == "created"
    stage.clock += SECONDS
    with pytest.raises(LostLeaseError):
        first.keep()


def test_it_is_given_back() -> None:
    stage = Stage()
    stage.apply(campaign())
    spec = stage.get(LEASE, "allotment-apply")["spec"]
    assert spec["holderIdentity"] == ""
    lease_of(stage, "ada").take()


def test_it_is_renewed_while_it_is_held() -> None:
    stage = Stage()
    lease = lease_of(stage, "ada")
    lease.take()
    for _ in range(5):
        stage.clock += SECONDS / 2
        lease.keep()
    with pytest.raises(WorldError):
        lease_of(stage, "bob").take()
    spec = stage.get(LEASE, "allotment-apply")["spec"]
    assert (spec["holderIdentity"], spec["leaseTransitions"]) == ("ada", 0)


def test_nothing_is_sent_once_it_is_lost() -> None:
    stage = Stage()

    def stolen(_: int, request: Request) -> faults.Fault | None:
        if request.method == "PATCH" and request.path.endswith("a-volumes") and "dryRun" not in request.query:
            stage.clock += SECONDS + 1
            lease_of(stage, "bob").take()  # whose client has no faults, so this happens once
        return None

    report = stage.apply(campaign(), plan=stolen)
    assert isinstance(report.cut_short, LostLeaseError)
    assert stage.all(JOB) == []
    assert stage.get(LEASE, "allotment-apply")["spec"]["holderIdentity"] == "bob"
    stage.clock += SECONDS + 1
    assert stage.apply(campaign()).is_fine


@pytest.mark.parametrize("scheduler", ["default", "kueue"])
def test_two_threads_make_every_job_once(scheduler: str) -> None:
    stage = Stage(scheduler)
    found: list[Any] = []

    def run(holder: str) -> None:
        try:
            found.append(stage.apply(campaign(), campaign("b"), holder=holder))
        except AllotmentError as error:
            found.append(error)

    threads = [threading.Thread(target=run, args=(name,)) for name in ("ada", "bob")]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    stage.kueue()
    assert len(found) == 2
    assert stage.apply(campaign(), campaign("b")).is_fine
    assert sorted(each["metadata"]["name"] for each in stage.all(JOB)) == ["a", "b"]
    assert stage.apply(campaign(), campaign("b")).is_nothing
