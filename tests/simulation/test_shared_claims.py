"""Pods that share a claim count together as what it holds, as long as anybody holds it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.devices.claims import ClaimSpec
from allotment.scheduling.state.pods import PodClaim
from allotment.simulation.outcome import End, Span
from allotment.simulation.shared_claims import divided
from allotment.simulation.work import Ask, Kind, Work

SHARED = Ask(claims=(PodClaim("card", ClaimSpec(()), "team/card"),), gpus=0.25)
WORK = Work("w", "t", Kind.CAMPAIGN, SHARED, most=4)


def span(index: int, bound: float, ended: float, *, work: str = "w", device: str = "d0") -> Span:
    return Span(work, "t", index, 0, "n", (device,), "L4", 0.25, bound, bound, ended, End.COMPLETE)


def card_seconds(spans: tuple[Span, ...]) -> float:
    return sum(each.gpus * (each.ended - each.bound) for each in spans)


@pytest.mark.parametrize(
    ("spans", "held"),
    [
        ([span(0, 0, 100)], 100),
        ([span(0, 0, 100), span(1, 0, 100)], 100),
        ([span(0, 0, 100), span(1, 50, 150)], 150),
        ([span(0, 0, 100), span(1, 200, 300)], 200),
        ([span(0, 0, 100), span(1, 0, 100, device="d1")], 200),
        ([span(0, 10, 10)], 0),
    ],
)
def test_a_card_counts_whole_while_anybody_holds_it(spans: list[Span], held: float) -> None:
    assert card_seconds(divided(spans, [WORK])) == pytest.approx(held)


def test_work_with_claims_of_its_own_stays_as_it_is() -> None:
    alone = Work("w", "t", Kind.CAMPAIGN, Ask(claims=(PodClaim("card", ClaimSpec(())),), gpus=0.25), most=4)
    spans = (span(0, 0, 100), span(1, 0, 100))
    assert divided(spans, [alone]) == spans


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), min_size=1, max_size=8))
def test_what_is_held_is_the_time_in_which_anybody_runs(runs: list[tuple[int, int]]) -> None:
    spans = [span(number, begin, begin + length) for number, (begin, length) in enumerate(runs)]
    moments = {second for begin, length in runs for second in range(begin, begin + length)}
    found = divided(spans, [WORK])
    assert card_seconds(found) == pytest.approx(len(moments))
    assert all(0 < each.gpus <= 1 + 1e-9 for each in found)
