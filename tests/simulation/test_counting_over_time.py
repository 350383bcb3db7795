"""The simplest scheduler over time: first come, first served, on the first node with room, in whole cards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.simulation.outcome import Outcome
from allotment.simulation.setting import Scheduler
from allotment.simulation.work import Ask, Running, Work
from tests.simulation.adapter_scenes import (
    ask,
    campaign,
    claim,
    described,
    finish,
    fleet,
    gang,
    played,
    setting,
)

TEAM = {"a": 4.0}
SIMPLE = Scheduler.SIMPLE


def asking(cards: int, name: str, volumes: int = 1, **more: object) -> Work:
    """A campaign whose pods ask for so many cards, all of them at once."""
    return replace(campaign(name, "a", volumes, (1, volumes)), ask=ask(cards), **more)  # type: ignore[arg-type]


def starts(outcome: Outcome) -> list[tuple[str, float, str]]:
    """Who began when and where."""
    return [(each.work, each.at, each.node) for each in outcome.decisions if each.what == "started"]


@pytest.mark.parametrize(
    ("nodes", "works", "expected"),
    [
        pytest.param(
            (1, 2),
            [asking(1, "w", 4)],
            [("w", 0, "n0"), ("w", 0, "n1"), ("w", 0, "n1"), ("w", 600, "n0")],
            id="the first node with room",
        ),
        pytest.param(
            (1, 2),
            [asking(2, "big", 2), asking(1, "small")],
            [("big", 0, "n1"), ("big", 600, "n1"), ("small", 600, "n0")],
            id="nobody passes another",
        ),
        pytest.param(
            (1,),
            [asking(2, "never"), asking(1, "small")],
            [("small", 0, "n0")],
            id="what can never be served holds nobody up",
        ),
        pytest.param(
            (2,),
            [asking(1, "late", arrival=10.0), asking(1, "early", 3)],
            [("early", 0, "n0"), ("early", 0, "n0"), ("early", 600, "n0"), ("late", 600, "n0")],
            id="by arrival",
        ),
        pytest.param(
            (2, 1),
            [asking(1, "w", 2), gang("gang", "a", 2)],
            [("w", 0, "n0"), ("w", 0, "n0"), ("gang", 600, "n0"), ("gang", 600, "n0")],
            id="a gang starts whole",
        ),
        pytest.param(
            (1, 1),
            [replace(asking(1, "w", 2), ask=replace(ask(1), node_selector={"kubernetes.io/hostname": "n1"}))],
            [("w", 0, "n1"), ("w", 600, "n1")],
            id="nodes by their labels",
        ),
        pytest.param(
            (1,),
            [fleet("fleet", "a", 1, ends=100.0), asking(1, "w")],
            [("fleet", 0, "n0"), ("w", 100, "n0")],
            id="after a fleet that ends",
        ),
        pytest.param((1,), [replace(asking(1, "w"), ask=Ask())], [("w", 0, "n0")], id="no card at all"),
    ],
)
def test_who_begins_when_and_where(nodes: tuple[int, ...], works: list[Work], expected: list[object]) -> None:
    assert starts(played(setting(SIMPLE, TEAM, cards=nodes), *works)) == expected


def test_what_can_never_be_served_is_told() -> None:
    outcome = played(setting(SIMPLE, TEAM, cards=(1,)), asking(2, "never"), asking(1, "w"))
    assert [bool(each.never) for each in outcome.ends] == [True, False]


def test_waits_tell_who_is_in_front() -> None:
    outcome = played(setting(SIMPLE, TEAM, cards=(1,)), asking(1, "a", 2), asking(1, "b"))
    assert [(each.work, each.reason, each.since, each.until) for each in outcome.waits] == [
        ("a", "Insufficient cards", 0, 600),
        ("b", "In line", 0, 600),
        ("b", "Insufficient cards", 600, 1200),
    ]


def test_a_pod_that_runs_already_holds_its_card() -> None:
    made = described(SIMPLE, "1 nodes of 2 x H100-SXM", TEAM)
    running = (Running(0, "node-1", ("gpu.nvidia.com/node-1/gpu-0",)),)
    first = replace(campaign("first", "a", 1, (1, 1)), ask=claim(), running=running)
    second = replace(campaign("second", "a", 2, (1, 2)), ask=claim())
    outcome = played(made, first, second)
    assert next(each.devices for each in outcome.decisions) == ("gpu.nvidia.com/node-1/gpu-1",)
    assert (finish(outcome, "second") or 0) <= 1200


def test_cards_that_are_cut_on_demand_count_whole() -> None:
    made = described(SIMPLE, "1 nodes of 2 x H100-SXM mig=on-demand", TEAM)
    outcome = played(made, replace(campaign("w", "a", 3, (1, 3)), ask=claim()))
    assert [(each.bound, each.devices) for each in outcome.spans] == [
        (0, ("gpu.nvidia.com/node-1/gpu-0",)),
        (0, ("gpu.nvidia.com/node-1/gpu-1",)),
        (600, ("gpu.nvidia.com/node-1/gpu-0",)),
    ]
