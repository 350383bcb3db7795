"""On made-up scenarios our allocator says what the published one says: devices, errors, numbers of steps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.go_programs import NoProgram
from tests.oracle.differing import differences
from tests.oracle.go_oracle import MODULES, Oracle, program
from tests.oracle.scenarios import OFTEN, scenario
from tests.oracle.shrinking import shrunk

FEW = range(60)
MANY = range(10_000, 13_000)


@pytest.fixture(params=list(MODULES))
def behaviour(request: pytest.FixtureRequest) -> str:
    named: str = request.param
    return named


def asked(behaviour: str, *, download: bool) -> Oracle:
    try:
        return Oracle(program(behaviour, download=download), limit_seconds=1)
    except NoProgram as fault:
        pytest.skip(str(fault))


@pytest.fixture
def at_hand(behaviour: str) -> Iterator[Oracle]:
    with asked(behaviour, download=False) as oracle:
        yield oracle


@pytest.fixture
def published(behaviour: str) -> Iterator[Oracle]:
    with asked(behaviour, download=True) as oracle:
        yield oracle


def test_few_scenarios(behaviour: str, at_hand: Oracle) -> None:
    assert {seed: found for seed in FEW if (found := differences(at_hand, behaviour, scenario(seed)))} == {}


@pytest.mark.soak
@pytest.mark.network
def test_many_scenarios(behaviour: str, published: Oracle) -> None:
    assert {
        seed: found for seed in MANY if (found := differences(published, behaviour, scenario(seed)))
    } == {}


def test_a_seed_makes_one_scenario_and_features_come_and_go() -> None:
    made = [scenario(seed) for seed in FEW]
    assert made == [scenario(seed) for seed in FEW]
    for feature in OFTEN:
        assert {each["features"].get(feature, False) for each in made} == {True, False}


def test_every_way_to_ask_and_to_publish_is_made() -> None:
    everything = repr([scenario(seed) for seed in range(300)])
    words = (
        "firstAvailable",
        "'All'",
        "adminAccess",
        "matchAttribute",
        "distinctAttribute",
        "sharedCounters",
        "consumesCounters",
        "allowMultipleAllocations",
        "requestPolicy",
        "taints",
        "tolerations",
        "bindingConditions",
        "bindsToNode",
        "perDeviceNodeSelection",
        "nodeSelector",
        "allNodes",
        "ints",
        "aggregatedCapacity",
        "claim-2",
        "config",
    )
    assert [word for word in words if word not in everything] == []


def test_a_difference_is_made_small() -> None:
    whole = next(made for seed in FEW if len((made := scenario(seed))["slices"]) > 2)
    wanted = whole["slices"][1]["metadata"]["name"]
    small = shrunk(whole, lambda tried: wanted in repr(tried["slices"]))
    assert [each["metadata"]["name"] for each in small["slices"]] == [wanted]
    assert small["claims"] == small["classes"] == []
