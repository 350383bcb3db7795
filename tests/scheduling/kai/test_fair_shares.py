"""How a cluster is divided among queues: the worked examples, and what always holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.scheduling.kai.accounts import open_accounts, share_out
from allotment.scheduling.kai.division import Claimant, divide
from allotment.scheduling.state.share_queues import NO_LIMIT, Allotted, ShareQueue

UNBOUNDED = 1e9


def claimant(
    name: str,
    quota: float,
    weight: float,
    request: float = UNBOUNDED,
    limit: float = NO_LIMIT,
    **more: object,
) -> Claimant:
    return Claimant(name, quota, limit, weight, request, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("total", "claimants", "shares"),
    [
        pytest.param(
            100,
            [claimant("a", 10, 3), claimant("b", 10, 1)],
            {"a": 70, "b": 30},
            id="quota first, then three to one of what is left",
        ),
        pytest.param(
            10,
            [claimant("a", 8, 1), claimant("b", 8, 1)],
            {"a": 8, "b": 8},
            id="quota is handed out beyond what there is",
        ),
        pytest.param(
            10, [claimant("a", 2, 0), claimant("b", 0, 1)], {"a": 2, "b": 8}, id="no weight, nothing beyond"
        ),
        pytest.param(
            10,
            [claimant("a", 0, 1, request=2), claimant("b", 0, 1)],
            {"a": 2, "b": 8},
            id="no more than asked",
        ),
        pytest.param(
            10,
            [claimant("a", 0, 1, limit=3), claimant("b", 0, 1)],
            {"a": 3, "b": 7},
            id="no more than the limit",
        ),
        pytest.param(
            10,
            [claimant("a", 0, 1, priority=200), claimant("b", 2, 9)],
            {"a": 8, "b": 2},
            id="the higher priority is served to the full first",
        ),
        pytest.param(
            10,
            [claimant("a", 0, 1, created=2), claimant("b", 0, 1, created=1), claimant("c", 0, 1, created=3)],
            {"a": 3, "b": 4, "c": 3},
            id="what rounding leaves goes to the older",
        ),
        pytest.param(
            10,
            [claimant("a", 0, 1, used=0.5), claimant("b", 0, 1, used=0.0)],
            {"a": 3, "b": 7},
            id="past use takes away from weight",
        ),
        pytest.param(
            10,
            [claimant("a", NO_LIMIT, 1), claimant("b", 0, 1)],
            {"a": 10, "b": 0},
            id="unlimited quota is all",
        ),
    ],
)
def test_worked_examples(total: float, claimants: list[Claimant], shares: dict[str, float]) -> None:
    assert divide(total, claimants) == pytest.approx(shares)


claimants = st.lists(
    st.builds(
        Claimant,
        name=st.uuids().map(str),
        quota=st.sampled_from([NO_LIMIT, 0, 1, 5]),
        limit=st.sampled_from([NO_LIMIT, 0, 2, 8]),
        weight=st.sampled_from([0, 0.5, 1, 3]),
        request=st.sampled_from([0, 0.3, 1, 7, 100]),
        used=st.floats(0, 1),
        priority=st.sampled_from([50, 100]),
        created=st.integers(0, 5),
    ),
    max_size=8,
)


@given(st.integers(0, 40), claimants)
def test_nobody_gets_less_than_quota_or_more_than_asked(total: int, claimants: list[Claimant]) -> None:
    shares = divide(total, claimants)
    guaranteed = 0.0
    for each in claimants:
        least = min(total if each.quota == NO_LIMIT else each.quota, each.requestable)
        guaranteed += least
        assert least - 1e-9 <= shares[each.name] <= each.requestable + 1e-9 or each.requestable < 1
    assert sum(shares.values()) <= max(total, guaranteed) + 1e-6


def test_children_divide_what_their_parent_may_have() -> None:
    unlimited = Allotted(NO_LIMIT, NO_LIMIT, 1)
    queues = {
        name: ShareQueue(name, parent, cpu=unlimited, memory=unlimited, gpu=Allotted(0, NO_LIMIT, weight))
        for name, parent, weight in (
            ("a", None, 3),
            ("b", None, 1),
            ("a1", "a", 1),
            ("a2", "a", 2),
            ("b1", "b", 1),
        )
    }
    accounts = open_accounts(queues)
    for name in ("a1", "a2", "b1"):
        accounts[name].ask((0.0, 0.0, 50.0))
    share_out(accounts.values(), (0.0, 0.0, 40.0), 1.0)
    assert {name: account.fair[2] for name, account in accounts.items()} == {
        "a": 30,
        "b": 10,
        "a1": 10,
        "a2": 20,
        "b1": 10,
    }


def test_a_queue_without_its_parent_does_not_count() -> None:
    queues = {
        "lost": ShareQueue("lost", "nobody"),
        "below": ShareQueue("below", "lost"),
        "top": ShareQueue("top"),
    }
    assert set(open_accounts(queues)) == {"top"}
