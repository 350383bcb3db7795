"""Filling goes on where the ledger refuses devices: they count as taken, and others are tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from allotment.devices.describe import parse_description
from allotment.devices.ledger import DevicesTakenError, Ledger
from allotment.devices.slices import DeviceId
from allotment.needs import claim_for
from allotment.platform.need import Need
from allotment.repository.model import StepCall, Window
from allotment.running.assignment import Limits
from allotment.running.engine.campaign_run import CampaignRun
from allotment.running.engine.filling import Filler
from allotment.running.engine.standing import IndexStanding, Standing, VolumeStanding
from allotment.running.engine.work import Work

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
            return SimpleNamespace(ids=tuple(ids))

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
