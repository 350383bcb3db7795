"""Small campaigns that are planned, and then run on a real control plane, come out as the plan says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from allotment.kubernetes.render.platform import render_platform
from allotment.platform.file import scan_platform
from tests.controlplane.conftest import running_with_kueue
from tests.controlplane.plan_and_course import Agreement, compared, together
from tests.controlplane.plane import Plane
from tests.controlplane.plans_that_are_run import Paces, planned_and_run, platform_words, write
from tests.controlplane.small_campaigns import small
from tests.controlplane.what_happened import TEAMS

FEW: Final = (7, 4)
AGAIN: Final = 3
"""How often a seed is run at most in which Kueue overlooks a pod (`overlooked.py`)."""
MANY: Final = range(20)
AGREE: Final[Mapping[str, float]] = {
    "runs": 0.95,
    "order": 0.95,
    "cards": 0.95,
    "nodes": 0.95,
    "victims": 0.95,
    "starts": 0.9,
    "ends": 0.9,
    "campaigns": 0.9,
}
"""The part of each that agrees at least."""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """A plane with Kueue and no nodes."""
    folder = tmp_path_factory.mktemp("plans")
    file = folder / "platform.yaml"
    write(file, platform_words("kueue", {team: {"namespace": team, "queue": {"quota": 1}} for team in TEAMS}))
    platform, findings = scan_platform(file, file.name)
    assert not findings, findings
    (setting,) = render_platform(platform).settings
    yield from running_with_kueue(folder / "plane", configuration=setting.value)


def agreement(plane: Plane, seed: int, folder: Path) -> Agreement:
    """That of one seed, with a line for whoever runs it with `-s`."""
    made = small(seed)
    planned, happened = planned_and_run(plane, made, folder / "0", Paces())
    attempt = 1
    while happened.overlooked and attempt < AGAIN:
        planned, happened = planned_and_run(plane, made, folder / f"{attempt}", Paces())
        attempt += 1
    cards = {f"node-{number}": node.card for number, node in enumerate(made.nodes, 1)}
    found = compared(planned, happened, cards)
    told(f"{seed} {made.scheduler}", found)
    if attempt > 1:
        print(f"  run {attempt} times, for Kueue overlooked pods")
    print(*(f"  {each}" for each in found.differences), sep="\n")
    return found


def told(name: str, found: Agreement) -> None:
    """A line of the table."""
    print(f"{name:12}", *(f"{key} {count}" for key, count in found.counts.items()), sep="  ")


def test_few_seeds(bare: Plane, tmp_path: Path) -> None:
    found = together(agreement(bare, seed, tmp_path / f"seed-{seed}") for seed in FEW)
    told("all", found)
    parts = {name: count.part for name, count in found.counts.items()}
    assert {name: parts[name] for name in ("runs", "cards", "victims")} == {
        "runs": 1,
        "cards": 1,
        "victims": 1,
    }
    assert parts["order"] >= 0.9  # of so few one or two are luck


@pytest.mark.soak
def test_many_seeds(bare: Plane, tmp_path: Path) -> None:
    found = together([agreement(bare, seed, tmp_path / f"seed-{seed}") for seed in MANY])
    told("all", found)
    parts = {name: count.part for name, count in found.counts.items()}
    assert {name: part for name, part in parts.items() if part < AGREE.get(name, 0)} == {}
    assert found.victims.of > 2
