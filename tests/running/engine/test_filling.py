"""Filling goes on where the ledger refuses devices, and keeps nothing of what fails half-way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from allotment.devices.describe import parse_description
from allotment.devices.ledger import DevicesTakenError, Ledger
from allotment.devices.slices import DeviceId
from allotment.errors import WorldError
from allotment.needs import claim_for
from allotment.platform.need import Need
from allotment.repository.model import StepCall, Window
from allotment.running.assignment import Limits
from allotment.running.engine.bearing import MOST_FAILURES, MOST_SECONDS, Bearing
from allotment.running.engine.campaign_run import CampaignRun
from allotment.running.engine.filling import Filler
from allotment.running.engine.standing import IndexStanding, Standing, VolumeStanding
from allotment.running.engine.team_table import Sharer, TeamTable
from allotment.running.engine.work import Work
from allotment.scheduling.local import TeamQueue

WORLD = parse_description("1 nodes of 2 x L4")
FIRST, SECOND = (device for device, _ in WORLD.devices())


class Refusing:
    """A ledger that says a device is free, and gives it to nobody."""

    def __init__(self, refused: DeviceId) -> None:
        self.refused = refused

    @contextmanager
    def locked(self) -> Iterator[Any]:
        def take(ids: Sequence[DeviceId], *_: object) -> object:
            if self.refused in ids:
                raise DevicesTakenError("already in use", ids=(self.refused,))
            return SimpleNamespace(ids=tuple(ids), close=lambda: None)

        nothing: Mapping[DeviceId, Any] = {}
        yield SimpleNamespace(taken=lambda: nothing, shares=lambda: nothing, memory_held=lambda: 0, take=take)


def work() -> Work:
    return Work(
        team="t",
        campaign="c",
        pipeline="p",
        recipe="0" * 12,
        image=None,
        steps=(StepCall("checksum"),),
        environment={},
        claim=claim_for(Need()),
        cores=None,
        memory_bytes=0,
        window=Window(1, 1),
        lane="bulk",
        lane_value=0,
        suspended=False,
        volumes=cast("Any", ("v",)),
        pack=1,
        limits=Limits(),
        root=Path("/r"),
        path=Path("/r/c.yaml"),
    )


def test_a_device_that_the_ledger_refuses_counts_as_taken_and_another_is_given() -> None:
    standing = IndexStanding((VolumeStanding("v", Standing.OPEN),))
    filler = Filler(
        WORLD,
        cast("Ledger", Refusing(FIRST)),
        look=lambda *_: standing,
        clock=lambda: 0.0,
        wall=lambda: 0.0,
        user="anna",
    )
    run = CampaignRun(work(), 0)
    assert filler.fill([run], lambda *_: None).indexes == []
    (started,) = filler.fill([run], lambda *_: None).indexes
    assert started.allocation.ids == (SECOND,)


def test_what_was_taken_is_let_go_of_when_the_others_cannot_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, table = Ledger(tmp_path / "ledger"), TeamTable("e1", Sharer(TeamQueue("t"), True))
    standing = IndexStanding((VolumeStanding("v", Standing.OPEN),))
    filler = Filler(WORLD, ledger, lambda *_: standing, lambda: 0.0, lambda: 0.0, "anna", table)
    run = CampaignRun(work(), 0)
    with monkeypatch.context() as full:

        def write(*_: object) -> None:
            raise WorldError("no space is left")

        full.setattr(table.post.__class__, "write", write)
        with pytest.raises(WorldError):
            filler.fill([run], lambda *_: None)
    assert ledger.holders() == {}
    (started,) = filler.fill([run], lambda *_: None).indexes
    assert list(ledger.holders()) == list(started.allocation.ids)
    started.hold.close()
    table.post.close()


def test_a_failing_ledger_is_borne_with_while_something_runs() -> None:
    error, bearing = WorldError("it is full", "/ledger"), Bearing()
    told = [bearing.failed(error, float(turn), at_work=True) for turn in range(100)]
    assert [message for message in told if message] == [
        "nothing is started, and what runs goes on: it is full (/ledger)"
    ]
    with pytest.raises(WorldError, match="full"):
        bearing.failed(error, 100.0, at_work=False)
    bearing.answered()
    assert not bearing.is_early(100.0)
    for turn in range(MOST_FAILURES + 10):
        bearing.failed(error, 100.0 + turn * 0.001, at_work=False)
    assert bearing.is_early(100.04)
    with pytest.raises(WorldError, match="full"):
        bearing.failed(error, 100.0 + MOST_SECONDS, at_work=False)
