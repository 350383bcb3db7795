"""Fleets and gangs in virtual time, without a process: pauses, what is given back, who ends whom."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from allotment.devices.claims import AllocatedDevice, Allocation
from allotment.devices.slices import DeviceId
from allotment.events.event import Event
from allotment.events.programs import ProgramState, fold_program
from allotment.running.engine.fleet_run import FleetRun
from allotment.running.engine.gang_run import GangRun
from allotment.running.engine.program import Kind, Program
from allotment.running.engine.programs import Programs
from allotment.running.engine.worker import Worker
from tests.devices.worlds import one


def program(kind: Kind = Kind.FLEET, least: int = 1, most: int = 2) -> Program:
    return Program(
        kind=kind,
        team="t",
        name="p",
        command=("serve",),
        environment={},
        claim=one("cpu"),
        cores=None,
        memory_bytes=0,
        lane="bulk",
        lane_value=0,
        least=least,
        most=most,
        lends=True,
        grace_seconds=5,
        root=Path(),
        path=Path(),
    )


@dataclass
class Process:
    """A worker in name only."""

    started: float
    allocation: Allocation = field(
        default_factory=lambda: Allocation((AllocatedDevice("r", DeviceId("cpu", "p", "c0")),))
    )
    asked_to_end: float | None = None

    def ask_to_end(self, now: float) -> None:
        self.asked_to_end = now

    def last_words(self, lines: int = 1) -> str:
        return "bad luck"


def process(started: float = 0.0) -> Worker:
    return cast("Worker", Process(started))


def test_pauses_double_up_to_a_minute_and_a_steady_replica_begins_anew() -> None:
    run, now, pauses = FleetRun(program(), 0), 0.0, []
    for _ in range(9):
        run.up[0] = process(now)
        end = run.ended(0, 1, now)
        pauses.append(end.pause)
        now += end.pause or 0
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    run.up[0] = process(now)
    assert run.ended(0, 0, now + 60).pause == 1
    assert run.restarts == 10


def test_a_pausing_replica_counts_and_is_ready_after_its_pause() -> None:
    run = FleetRun(program(), 0, up={0: process()})
    run.ended(0, 1, 10.0)
    during, after = run.queue(10.5), run.queue(11.0)
    assert during is not None
    assert after is not None
    assert (during.paused, list(during.ready)) == (1, [1])
    assert (after.paused, list(after.ready)) == (0, [0, 1])


def test_what_is_given_back_is_no_failure() -> None:
    run = FleetRun(program(), 0, up={0: process(), 1: process()})
    run.give_back(1, 5.0)
    queue = run.queue(5.0)
    assert queue is not None
    assert [replica.ending for replica in queue.up] == [False, True]
    assert run.ended(1, 143, 6.0).reason == "given-back"
    assert (run.restarts, run.paused) == (0, {})


def test_a_halted_fleet_starts_nothing_and_rests_when_nothing_is_up() -> None:
    run = FleetRun(program(), 0, up={0: process()}, halted="stopped")
    assert run.queue(0.0) is None
    assert not run.resting
    assert run.ended(0, 143, 1.0).reason == "stopped"
    assert run.resting


@pytest.mark.parametrize(
    ("endings", "told", "complete"),
    [
        ([(0, 0), (1, 0), (2, 0)], [], True),
        ([(1, 1)], [0, 2], False),
        ([(0, 0), (2, 13)], [1], False),
        ([(0, -9)], [1, 2], False),
    ],
)
def test_a_gang_ends_together(endings: list[tuple[int, int]], told: list[int], *, complete: bool) -> None:
    run = GangRun(program(Kind.GANG, 3, 3), 0)
    assert run.queue(0.0) is not None
    run.started({rank: process() for rank in range(3)})
    assert run.queue(0.0) is None, "it is started once"
    for rank, code in endings:
        run.ended(rank, code, 1.0)
    assert [rank for rank, worker in run.up.items() if worker.asked_to_end is not None] == told
    assert (run.complete, run.failed) == (complete, not complete)


def told(*kinds: tuple[str, dict[str, Any]]) -> list[Event]:
    return [Event(kind, float(place), "t", "p", None, None, data) for place, (kind, data) in enumerate(kinds)]


def test_the_read_model_of_a_fleet() -> None:
    events = told(
        ("fleet.started", {"replicas": {"min": 1, "max": 2}}),
        ("replica.started", {"rank": 0, "devices": ["cpu/p/c0"]}),
        ("replica.started", {"rank": 1, "devices": ["cpu/p/c1"]}),
        ("replica.ended", {"rank": 0, "pause": 1.0, "message": "bad luck"}),
        ("unknown.kind", {}),
    )
    view = fold_program(events, "p", "fleet")
    assert (view.state, view.up, view.restarts, view.most) == (ProgramState.RUNNING, {1: ("cpu/p/c1",)}, 1, 2)
    assert view.message == "bad luck"
    ended = fold_program([*events, *told(("fleet.stopped", {"message": "asked"}))], "p", "fleet")
    assert (ended.state, ended.up, ended.message) == (ProgramState.STOPPED, {}, "asked")


@pytest.mark.parametrize("data", [{"rank": "x"}, {"rank": True}, {"rank": 0, "devices": 7}, {}])
def test_damaged_events_do_no_harm(data: dict[str, Any]) -> None:
    fold_program(
        told(("replica.started", data), ("replica.ended", data), ("fleet.started", data)), "p", "gang"
    )


def test_a_gang_that_has_ended_is_not_halted_any_more() -> None:
    gang, fleet = GangRun(program(Kind.GANG, 1, 1), 0), FleetRun(replace(program(), name="web"), 1)
    gang.started({0: process()})
    gang.ended(0, 0, 1.0)
    programs = Programs((gang, fleet))
    programs.halt_all("interrupted", 2.0)
    assert (gang.complete, gang.halted, fleet.halted) == (True, None, "interrupted")
