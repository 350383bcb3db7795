"""What cannot be started (no space, no process, no pipe is left) holds nothing, and of a gang none stays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from allotment.devices.claims import Allocation
from allotment.devices.describe import parse_description
from allotment.devices.holders import Holder
from allotment.devices.ledger import Hold, Ledger
from allotment.errors import WorldError
from allotment.running.engine.campaign_run import CampaignRun
from allotment.running.engine.filling import Filled, Started
from allotment.running.engine.gang_run import GangRun
from allotment.running.engine.program import Program
from allotment.running.engine.program_start import Place, ProgramStarter
from allotment.running.engine.programs import Held, Programs
from allotment.running.engine.starting import Starter, start_all
from allotment.running.engine.worker import start_worker

CARDS = [device for device, _ in parse_description("4 x L4").devices()]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger")


@pytest.fixture
def holds(ledger: Ledger) -> Iterator[list[Hold]]:
    with ledger.locked() as view:
        taken = [view.take([card], Holder(pid=os.getpid())) for card in CARDS]
    yield taken
    for hold in taken:
        hold.close()


class Failing:
    """Starts some, and then no more."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.killed: list[int] = []

    def start(self, *about: Any) -> Any:
        place = about[-2]
        place.hold.close()
        if not self.most:
            raise WorldError("cannot start a process")
        self.most -= 1
        return SimpleNamespace(
            kill=lambda: self.killed.append(place.rank),
            process=SimpleNamespace(wait=lambda: -9),
            close=lambda: None,
        )


def test_the_devices_of_what_cannot_be_started_are_let_go_of(ledger: Ledger, holds: list[Hold]) -> None:
    run = cast("CampaignRun", None)
    indexes = [Started(run, place, ("v",), Allocation(()), hold, "") for place, hold in enumerate(holds)]
    started = start_all(Filled(indexes, ()), cast("Starter", Failing(1)), Programs(), 0.0)
    assert next(started)[0].index == 0
    with pytest.raises(WorldError):
        next(started)
    assert ledger.holders() == {}


def test_of_a_gang_of_which_one_cannot_be_started_none_stays(ledger: Ledger, holds: list[Hold]) -> None:
    failing = Failing(2)
    gang = GangRun(cast("Program", SimpleNamespace(name="train")), 0)
    places = tuple(Place(rank, 4, Allocation(()), hold) for rank, hold in enumerate(holds))
    programs = Programs((gang,), cast("ProgramStarter", failing))
    with pytest.raises(WorldError):
        list(start_all(Filled((), [Held(gang, places)]), cast("Starter", failing), programs, 0.0))
    assert (gang.up, gang.size, failing.killed) == ({}, 0, [0, 1])
    assert ledger.holders() == {}


def test_a_worker_without_a_place_for_its_files_is_one_clear_error(
    tmp_path: Path, ledger: Ledger, holds: list[Hold]
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WorldError, match="cannot start a worker: Not a directory"):
        start_worker(
            cast("Any", None),
            campaign="c",
            index=0,
            allocation=Allocation(()),
            hold=holds[0],
            folder=tmp_path / "file" / "assignments",
            log=tmp_path / "log",
            now=0.0,
            environment={},
        )
    assert CARDS[0] not in ledger.holders()
