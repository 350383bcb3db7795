"""On made-up quotas our model of Kueue decides what Kueue's own manager decides."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from allotment.scheduling.kueue import Settings
from allotment.scheduling.kueue.gates import Gate
from tests.controlplane.both_quotas import Agreed, Both
from tests.controlplane.conftest import needs
from tests.controlplane.kueue_manager import Kueue, can_be_apart
from tests.controlplane.plane import Plane
from tests.controlplane.random_queues import scenario

FEW = range(5)
MANY = range(100, 150)
AT_ONCE = 8
BY_CHANCE: Final = 2
"""Of the many: those in which it matters when Kueue wakes those who wait."""
AS_OF_0_17: Final = frozenset(
    {
        Gate.ADMISSION_FAIR_SHARING,
        Gate.ELASTIC,
        Gate.FAIL_FAST,
        Gate.FLAVOR_FUNGIBILITY,
        Gate.MIXED,
        Gate.NON_BORROWING_FIRST,
        Gate.PARTIAL,
        Gate.PRIORITIES,
        Gate.RECLAIMABLE,
        Gate.TOPOLOGY,
        Gate.WITHIN_NOMINAL,
    }
)
"""The gates that are on in the published version, and those that the tests switch on."""


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """A plane on which nothing runs but Kueue's manager as it is by default."""
    needs("etcd", "kubernetes", "kueue")
    if not can_be_apart():
        pytest.skip("Kueue needs an /etc of its own, and this machine does not let us make one (unshare)")
    plane = Plane(tmp_path_factory.mktemp("quotas"))
    plane.start()
    try:
        kueue = Kueue(plane, {})
        kueue.start()
        try:
            yield plane
        finally:
            kueue.stop()
    finally:
        plane.stop()


def compared(plane: Plane, seeds: range) -> list[Agreed]:
    settings = Settings(gates=AS_OF_0_17)
    with ThreadPoolExecutor(AT_ONCE) as workers:
        both = [Both(plane.client(), scenario(seed), settings) for seed in seeds]
        return list(workers.map(Both.compare, both))


def told(found: list[Agreed]) -> None:
    """How far they agree, for whoever runs it with `-s`."""
    for each in found:
        print(*filter(None, [each.difference, *each.otherwise]), sep="\n")
    print("scenarios", sum(not each.difference for each in found), "of", len(found))
    for name in ("rests", "admitted", "evicted", "waited", "in_part", "in_any_order"):
        print(name, sum(getattr(each, name) for each in found))
    print("otherwise", sum(len(each.otherwise) for each in found))


def test_few_scenarios(decided: Plane) -> None:
    found = compared(decided, FEW)
    told(found)
    assert [each.difference for each in found if each.difference] == []
    assert sum(each.admitted for each in found) > 10
    assert sum(each.waited for each in found) > 10


@pytest.mark.soak
def test_many_scenarios(decided: Plane) -> None:
    found = compared(decided, MANY)
    told(found)
    assert len([each.difference for each in found if each.difference]) <= BY_CHANCE
    assert sum(each.evicted for each in found) > 10
