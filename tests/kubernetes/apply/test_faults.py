"""Every call in turn is refused, fails, or is cut: no object is lost or doubled, and the next apply mends."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.errors import AllotmentError
from allotment.kubernetes.kinds import JOB, LEASE
from allotment.kubernetes.testing import faults
from allotment.kubernetes.testing.asked import Request
from allotment.platform.need import Need
from allotment.repository.model import Gang
from tests.kubernetes.apply.stage import IMAGE, Stage, campaign

WORK = (campaign(count=3), Gang("g", 2, 2, image=IMAGE, gpu=Need()))


@dataclass(frozen=True)
class From:
    """An outage: the same fault at every request from one on; a slow answer is no outage."""

    first: int
    fault: faults.Fault

    def __call__(self, number: int, _: Request) -> faults.Fault | None:
        return self.fault if number >= self.first else None


@cache
def clean(scheduler: str) -> tuple[Mapping[str, Any], tuple[int, ...]]:
    """What there is after an apply without faults, and which of its calls were no mere reads."""
    stage = Stage(scheduler)
    stage.apply(*WORK)
    asked = [number for number, each in enumerate(stage.server.requests) if each.method != "GET"]
    return stage.state(), (0, *asked)


def mended(stage: Stage, plan: faults.Plan) -> None:
    """Apply under faults, then without: it is as if there had been none."""
    with suppress(AllotmentError):
        stage.apply(*WORK, plan=plan)
    uids = {each["metadata"]["name"]: each["metadata"]["uid"] for each in stage.all(JOB)}
    stage.clock += 120  # whoever died holds no lease any more
    assert stage.apply(*WORK).is_fine
    assert stage.state() == clean(stage.scheduler)[0]
    now = {each["metadata"]["name"]: each["metadata"]["uid"] for each in stage.all(JOB)}
    assert uids.items() <= now.items(), "a Job that was there was made anew"
    assert stage.apply(*WORK).is_nothing


@pytest.mark.parametrize(
    ("scheduler", "fault"),
    [
        *(("kueue", each) for each in faults.EVERY if each not in {faults.SLOW, faults.UNAVAILABLE}),
        ("default", faults.CONFLICT),
        ("kai", faults.CUT_AFTER),
    ],
    ids=str,
)
def test_one_fault_at_any_call(scheduler: str, fault: faults.Fault) -> None:
    for number in clean(scheduler)[1]:
        mended(Stage(scheduler), faults.At({number: fault}))


@pytest.mark.parametrize("fault", [faults.BROKEN, faults.CUT_AFTER, faults.CONFLICT], ids=str)
def test_an_outage_from_any_call_on(fault: faults.Fault) -> None:
    for number in clean("default")[1]:
        mended(Stage("default"), From(number, fault))


def test_an_interrupt_anywhere_is_mended_at_once() -> None:
    def interrupt(at: int) -> faults.Plan:
        def plan(number: int, _: Request) -> faults.Fault | None:
            if number == at:
                raise KeyboardInterrupt
            return None

        return plan

    for number in clean("kueue")[1]:
        stage = Stage("kueue")
        with suppress(KeyboardInterrupt):  # before anything is sent, and after all is
            report = stage.apply(*WORK, plan=interrupt(number))
            assert isinstance(report.cut_short, KeyboardInterrupt)
        spec = (stage.get(LEASE, "allotment-apply") or {}).get("spec", {})
        stage.clock += 120 if spec.get("holderIdentity") else 0  # only where giving it back was interrupted
        assert stage.apply(*WORK).is_fine
        assert stage.state() == clean("kueue")[0]


@given(seed=st.integers(0, 10_000), scheduler=st.sampled_from(["default", "kueue", "kai", "both"]))
@settings(max_examples=15, deadline=None)
def test_faults_anywhere(seed: int, scheduler: str) -> None:
    mended(Stage(scheduler), faults.Seeded(seed, rate=0.35))
