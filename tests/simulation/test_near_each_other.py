"""Pods that are to be near each other under the default scheduler: the first chooses where, and the others
wait for room there, even where another place has room for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from allotment.simulation.outcome import Outcome
from allotment.simulation.setting import Scheduler, Setting
from allotment.simulation.work import Running, Work
from tests.simulation.adapter_scenes import ask, campaign, finish, gang, played, setting, started

RACK = "example.org/rack"
DEFAULT = Scheduler.DEFAULT


def racked(cards: Sequence[int], racks: Sequence[str]) -> Setting:
    """Nodes with so many cards each, in these racks (empty: in none that is told)."""
    made = setting(DEFAULT, {"a": 1.0}, cards=tuple(cards))
    state = made.state
    nodes = {
        name: replace(node, labels={**node.labels, **({RACK: rack} if rack else {})})
        for (name, node), rack in zip(state.nodes.items(), racks, strict=True)
    }
    return replace(made, state=replace(state, nodes=nodes))


def near(work: Work) -> Work:
    return replace(work, ask=replace(ask(), near=RACK))


def racks_of(outcome: Outcome, made: Setting, work: str) -> list[str]:
    nodes = made.state.nodes
    return sorted({nodes[span.node].labels.get(RACK, "") for span in outcome.spans if span.work == work})


def test_a_gang_is_in_one_rack() -> None:
    made = racked((2, 2, 2, 2), ("one", "two", "one", "two"))
    outcome = played(made, near(gang("g", "a", 4)))
    assert started(outcome, "g") == pytest.approx([0.0] * 4, abs=1.0)
    assert len(racks_of(outcome, made, "g")) == 1


def test_the_first_pod_chooses_and_the_others_wait_though_another_rack_had_room() -> None:
    made = racked((1, 4), ("small", "large"))
    large = list(made.state.nodes)[1]
    there = replace(
        campaign("first", "a", 3, (1, 3), seconds=100.0),
        ask=ask(),
        running=tuple(Running(number, large) for number in range(3)),
    )
    outcome = played(made, there, near(gang("g", "a", 4)), until=9000.0)
    assert started(outcome, "g") == [0.0]
    assert racks_of(outcome, made, "g") == ["small"]
    assert [wait.message for wait in outcome.waits if wait.work == "g"][-1] == (
        "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) didn't match pod affinity rules."
    )


def test_once_none_of_them_has_a_node_the_next_chooses_anew() -> None:
    made = racked((1, 2), ("small", "large"))
    first = replace(campaign("first", "a", 1, (1, 1), seconds=100.0), ask=ask())
    books = near(campaign("books", "a", 3, (1, 3), seconds=100.0, arrival=1.0))
    outcome = played(made, first, books)
    assert finish(outcome, "books") is not None
    assert len(started(outcome, "books")) == 3
    for moment in {span.bound for span in outcome.spans if span.work == "books"}:
        beside = {
            made.state.nodes[span.node].labels[RACK]
            for span in outcome.spans
            if span.work == "books" and span.bound <= moment < span.ended
        }
        assert len(beside) == 1


def test_nodes_that_do_not_say_where_they_are_take_none_of_them() -> None:
    made = racked((4, 1), ("", "told"))
    outcome = played(made, near(campaign("books", "a", 3, (1, 3), seconds=100.0)))
    assert racks_of(outcome, made, "books") == ["told"]
    assert started(outcome, "books") == [0.0, 100.0, 200.0]


@pytest.mark.parametrize("works", [1, 2])
def test_works_do_not_choose_for_each_other(works: int) -> None:
    made = racked((1, 1), ("one", "two"))
    outcome = played(made, *(near(gang(f"g{number}", "a", 1)) for number in range(works)))
    assert [started(outcome, f"g{number}") for number in range(works)] == [[0.0]] * works
