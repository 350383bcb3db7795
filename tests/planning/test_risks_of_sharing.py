"""Pods on one card are tried as taking turns, among what could make a plan wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from allotment.devices.claims import ClaimSpec, ExactRequest, Request
from allotment.planning.plan.courses import Course, WorkCourse
from allotment.planning.plan.risks import crowded, on_a_card, variants
from allotment.scheduling.state.pod_groups import PodRequest
from allotment.scheduling.state.pods import PodClaim
from allotment.simulation.distributions import Constant, Scaled
from allotment.simulation.work import Ask
from tests.planning.plan_scenes import CARD, campaign, scene

ONE = ClaimSpec((Request("card", ExactRequest("gpu.nvidia.com")),))


def shares(window: int, cards: float = 1.0) -> Ask:
    """Pods of a window that share one claim of so many cards."""
    return Ask((PodClaim("card", ONE, "archive/all"),), PodRequest(), gpus=cards / window)


def part(size: float) -> Ask:
    return Ask(request=PodRequest(fraction=size), gpus=size)


def course(pods: int) -> Course:
    """A course in which so many pods run at once."""
    steps = (*((float(place), 1.0) for place in range(pods)), (99.0, -1.0))
    return Course(1, {"letters": WorkCourse(steps=steps)})


@pytest.mark.parametrize(
    ("ask", "window", "pods", "expected"),
    [
        pytest.param(CARD, 8, 8, 1, id="a card each"),
        pytest.param(shares(8), 8, 8, 8, id="one claim"),
        pytest.param(shares(8), 8, 3, 3, id="one claim, of which fewer run"),
        pytest.param(shares(8, cards=2.0), 8, 8, 4, id="one claim of two cards"),
        pytest.param(shares(8), 8, 0, 1, id="nobody runs"),
        pytest.param(part(0.25), 8, 8, 4, id="quarters"),
        pytest.param(part(0.3), 8, 8, 3, id="parts with a rest"),
        pytest.param(part(0.25), 8, 2, 2, id="fewer than fit on a card"),
    ],
)
def test_how_many_are_on_a_card(ask: Ask, window: int, pods: int, expected: float) -> None:
    assert on_a_card(replace(campaign(most=window), ask=ask), course(pods)) == expected


@pytest.mark.parametrize(
    ("ask", "tried"),
    [
        pytest.param(CARD, False, id="a card each"),
        pytest.param(shares(8), True, id="one claim"),
        pytest.param(part(0.5), True, id="halves"),
    ],
)
def test_turns_are_tried_where_pods_share_a_card(ask: Ask, tried: bool) -> None:
    shown = scene(replace(campaign(most=8), ask=ask))
    words = [each.words for each in variants(shown, 1e6, course(8))]
    assert any("take turns" in each for each in words) == tried


def test_only_pages_of_those_that_share_are_slower() -> None:
    shown = scene(campaign(), campaign("maps", planned=False))
    slower = crowded(shown.run_times, {"letters": 4.0, "maps": 1.0})
    assert slower.otherwise["letters"].page == Scaled(Constant(100.0), 4.0)
    assert slower.otherwise["maps"].page == Constant(100.0)
