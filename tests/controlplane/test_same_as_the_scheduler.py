"""On made-up fleets our allocator and Kubernetes' own scheduler choose the same nodes and devices."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from allotment.devices.allocation import search
from tests.controlplane.both_allocators import Both, Compared
from tests.controlplane.conftest import needs
from tests.controlplane.plane import Plane
from tests.controlplane.random_fleets import fleet

FEW = range(20)
MANY = range(1000, 1200)
AT_ONCE = 6
TOGETHER = 20
LONGEST = 50_000
"""Devices that ours looks for in one search: more are for the oracle, which has nobody waiting."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """A plane without a kubelet: what has a node keeps it."""
    needs("etcd", "kubernetes")
    plane = Plane(tmp_path_factory.mktemp("fleets"))
    plane.start()
    try:
        yield plane
    finally:
        plane.stop()


@pytest.fixture(autouse=True)
def long_searches_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "LONGEST", LONGEST)


def compared(plane: Plane, seeds: range) -> Iterator[Compared]:
    """Some at a time, all of those published first, so that nobody asks before everything is there."""
    with ThreadPoolExecutor(AT_ONCE) as workers:
        for first in range(0, len(seeds), TOGETHER):
            asked = [Both(plane.client(), fleet(seed)) for seed in seeds[first : first + TOGETHER]]
            list(workers.map(Both.publish, asked))
            yield from workers.map(Both.ask, asked)
            list(workers.map(Both.withdraw, asked))


def test_few_fleets(played: Plane) -> None:
    found = list(compared(played, FEW))
    assert [told for each in found for told in each.differences] == []
    assert sum(each.placed for each in found) > 10
    assert sum(each.unplaced for each in found) > 10


@pytest.mark.soak
def test_many_fleets(played: Plane) -> None:
    found = list(compared(played, MANY))
    for name in ("placed", "unplaced", "failed", "refused", "gave_up"):
        print(name, sum(getattr(each, name) for each in found))
    assert [told for each in found for told in each.differences] == []
