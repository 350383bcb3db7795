"""Faults put into a fake server's answers: what is refused, cut and slow, and that a seed repeats it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.asked import Request
from allotment.kubernetes.testing.faults import (
    BROKEN,
    CONFLICT,
    CUT_AFTER,
    CUT_BEFORE,
    SLOW,
    TOO_MANY,
    At,
    CutError,
    Fault,
    Seeded,
)

MAPS = "/api/v1/namespaces/team/configmaps"
FIRST = 2  # adding a namespace takes two requests
BODY = {"metadata": {"name": "a"}}


def faulty(fault: Fault, sleep: Callable[[float], None] = lambda _: None) -> FakeApiServer:
    server = FakeApiServer(plan=At({FIRST: fault}), sleep=sleep)
    server.add_namespace("team")
    return server


@pytest.mark.parametrize("fault", [CONFLICT, TOO_MANY, BROKEN])
def test_a_refusal_is_answered_in_the_place_of_the_true_answer_and_nothing_is_done(fault: Fault) -> None:
    server = faulty(fault)
    refused = server.request("POST", MAPS, body=BODY)
    assert (refused.status, refused.body["reason"]) == (fault.status, fault.reason)
    assert refused.headers.get("Retry-After") == (
        None if fault.retry_after is None else str(fault.retry_after)
    )
    assert server.request("GET", f"{MAPS}/a").status == 404


@pytest.mark.parametrize(("fault", "status"), [(CUT_BEFORE, 404), (CUT_AFTER, 200)])
def test_a_cut_leaves_open_whether_the_server_has_acted(fault: Fault, status: int) -> None:
    server = faulty(fault)
    with pytest.raises(CutError):
        server.request("POST", MAPS, body=BODY)
    assert server.request("GET", f"{MAPS}/a").status == status


def test_a_slow_answer_is_a_true_one() -> None:
    waited: list[float] = []
    server = faulty(SLOW, waited.append)
    assert server.request("POST", MAPS, body=BODY).status == 201
    assert waited == [SLOW.delay]


def test_a_seed_repeats_its_faults() -> None:
    def told(seed: int) -> list[object]:
        return [Seeded(seed, 0.3)(number, Request("GET", MAPS)) for number in range(50)]

    assert told(1) == told(1)
    assert told(1) != told(2)
    assert 5 < sum(fault is not None for fault in told(1)) < 30
