"""Of nodes that are equally good kube-scheduler takes one by chance, and so does each draw of a course."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.simulation.outcome import Outcome
from allotment.simulation.setting import Scheduler, Setting
from tests.simulation.adapter_scenes import campaign, claim, described, gang, played, setting

DRAWS = 200
SURELY = 5.0
"""Standard deviations: further off than that is not chance."""
TEAMS = {"a": 8.0}
NODES = "1 nodes of 4 x H100-SXM, 2 nodes of 4 x A100-40"
DRAWN = pytest.mark.parametrize("scheduler", [Scheduler.DEFAULT, Scheduler.KUEUE], ids=str)


def renamed(made: Setting, names: Mapping[str, str]) -> Setting:
    """The setting with its nodes under other names, in their order."""
    nodes = {
        names[name]: replace(made.state.nodes[name], name=names[name])
        for name in sorted(names, key=names.__getitem__)
    }
    cards = {names[name]: card for name, card in made.card_of_node.items()}
    return replace(made, state=replace(made.state, nodes=nodes), card_of_node=cards)


def nodes_of(outcome: Outcome) -> list[str]:
    return [span.node for span in sorted(outcome.spans, key=lambda each: each.index)]


def by_card(made: Setting, seeds: Sequence[int], pods: int) -> Counter[str]:
    """How many pods of all draws had each kind of card."""
    work = campaign("w", "a", pods, (1, pods))
    return Counter(span.card for seed in seeds for span in played(made, work, seed=seed).spans)


@DRAWN
def test_every_node_of_equals_is_as_likely(scheduler: Scheduler) -> None:
    made = setting(scheduler, TEAMS, cards=(1, 1, 1, 1))
    found = Counter(
        nodes_of(played(made, campaign("w", "a", 1, (1, 1)), seed=seed))[0] for seed in range(DRAWS)
    )
    mean, deviation = DRAWS / 4, (DRAWS * 1 / 4 * 3 / 4) ** 0.5
    assert len(found) == 4
    assert max(abs(many - mean) for many in found.values()) < SURELY * deviation


@DRAWN
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_one_seed_is_one_course(scheduler: Scheduler, seed: int) -> None:
    made = setting(scheduler, TEAMS, cards=(2, 2, 2))
    works = [campaign("w", "a", 5, (1, 3)), campaign("v", "a", 3, (1, 3), arrival=1.0)]
    assert played(made, *works, seed=seed) == played(made, *works, seed=seed)


@DRAWN
def test_other_names_of_nodes_change_nothing_beyond_chance(scheduler: Scheduler) -> None:
    made = setting(scheduler, TEAMS, cards=(3, 3, 3))
    made = replace(made, card_of_node={"n0": "dear", "n1": "cheap", "n2": "cheap"})
    other = renamed(made, {"n0": "z0", "n1": "n1", "n2": "n2"})
    pods = 3
    one, two = by_card(made, range(DRAWS), pods), by_card(other, range(DRAWS), pods)
    deviation = (2 * DRAWS * pods * pods * 2 / 9) ** 0.5  # at most: pods of one draw may go together
    assert set(one) == set(two) == {"dear", "cheap"}
    assert abs(one["dear"] - two["dear"]) < SURELY * deviation


def test_claimed_cards_are_on_any_node_that_has_them() -> None:
    made = described(Scheduler.DEFAULT, NODES, TEAMS)
    work = replace(campaign("w", "a", 2, (1, 2)), ask=claim())
    found = {name for seed in range(40) for name in nodes_of(played(made, work, seed=seed))}
    assert len(found) == 3


def test_a_better_node_is_no_matter_of_chance() -> None:
    made = setting(Scheduler.DEFAULT, TEAMS, cards=(2, 2))
    small = replace(made.state.nodes["n0"], allocatable={**made.state.nodes["n0"].allocatable, "cpu": 4_000})
    made = replace(made, state=replace(made.state, nodes={**made.state.nodes, "n0": small}))
    assert {nodes_of(played(made, campaign("w", "a", 1, (1, 1)), seed=seed))[0] for seed in range(40)} == {
        "n1"
    }


def test_a_pod_draws_the_same_whatever_others_drew_before() -> None:
    made = setting(Scheduler.DEFAULT, TEAMS, cards=(8, 8, 8))
    alone = [played(made, campaign("w", "a", 1, (1, 1)), seed=seed) for seed in range(20)]
    beside = [
        played(made, campaign("v", "a", 4, (1, 4)), campaign("w", "a", 1, (1, 1), arrival=9_000.0), seed=seed)
        for seed in range(20)
    ]
    assert [each.spans[0].node for each in alone] == [
        next(span.node for span in each.spans if span.work == "w") for each in beside
    ]


def test_kai_takes_the_first_by_name() -> None:
    made = setting(Scheduler.KAI, TEAMS, cards=(2, 2, 2))
    found = {nodes_of(played(made, gang("w", "a", 1), seed=seed))[0] for seed in range(20)}
    assert found == {"n0"}
