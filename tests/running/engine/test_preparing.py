"""Preparations in virtual time, without a process: once a recipe, pauses, somebody else's, the last try."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from allotment.events.event import Event
from allotment.repository.model import StepCall, Window
from allotment.running.assignment import Limits
from allotment.running.engine.campaign_run import CampaignRun, Halt
from allotment.running.engine.preparing import Preparations
from allotment.running.engine.work import Work
from allotment.running.engine.worker import Worker
from allotment.scheduling.local import WaitReason
from tests.devices.worlds import one


def run(campaign: str, recipe: str = "0123456789ab", *, prepare: bool = True) -> CampaignRun:
    work = Work(
        team="t",
        campaign=campaign,
        pipeline="p",
        recipe=recipe,
        image=None,
        steps=(StepCall("copy"),),
        environment={},
        claim=one("cpu"),
        cores=None,
        memory_bytes=0,
        window=Window(1, 2),
        lane="bulk",
        lane_value=0,
        suspended=False,
        volumes=(),
        pack=1,
        limits=Limits(retries=2, reclaims=1, grace_seconds=5),
        root=Path(),
        path=Path(),
        prepare=StepCall("models:fetch") if prepare else None,
    )
    return CampaignRun(work, 0)


@dataclass
class Process:
    """A worker in name only: what it tells, and how it ends."""

    code: int | None = None
    told: list[tuple[str, str]] = field(default_factory=list)
    asked_to_end: float | None = None
    killed: bool = False
    log: Path = Path("prepare.log")

    def events(self) -> Iterator[Event]:
        while self.told:
            kind, message = self.told.pop(0)
            yield Event(kind, 0.0, "t", "c", None, None, {"message": message})

    def ended(self) -> int | None:
        return self.code

    def ask_to_end(self, now: float) -> None:
        self.asked_to_end = self.asked_to_end or now

    def kill(self) -> None:
        self.killed = True

    def last_words(self, lines: int = 1) -> str:
        return ""

    def close(self) -> None: ...


@dataclass
class World:
    """A bucket that is prepared or not, and the processes that were started."""

    prepared: bool = False
    started: list[Process] = field(default_factory=list)

    def start(self, work: Work, now: float) -> Worker:
        self.started.append(Process())
        return cast("Worker", self.started[-1])

    def preparations(self) -> Preparations:
        return Preparations(lambda _: self.prepared, self.start)


def test_what_is_prepared_or_has_nothing_to_prepare_is_ready_at_once() -> None:
    world = World(prepared=True)
    runs = [run("a"), run("b", prepare=False)]
    assert world.preparations().ready(runs, 0.0) == runs
    assert world.started == []


def test_campaigns_of_one_recipe_wait_for_one_preparation() -> None:
    world = World()
    runs = [run("a"), run("b"), run("c", "ffffffffffff"), run("d", prepare=False)]
    preparations = world.preparations()
    assert preparations.ready(runs, 0.0) == [runs[3]]
    assert len(world.started) == 2
    assert [each.wait.reason if each.wait else None for each in runs[:3]] == [WaitReason.PREPARING] * 3
    world.started[0].code = 0
    preparations.listen(runs, 1.0)
    assert [each.wait is None for each in runs[:3]] == [True, True, False]
    assert preparations.ready(runs, 1.0) == [runs[0], runs[1], runs[3]]
    assert len(world.started) == 2


@pytest.mark.parametrize(
    ("code", "told", "tries", "message"),
    [
        (13, [("prepare.failed", "no such model")], 1, "no such model"),
        (1, [("prepare.retrying", "no answer")], 3, "no answer; this was the last attempt that is allowed"),
        (1, [], 3, "its worker ended with exit code 1; this was the last attempt that is allowed"),
        (-9, [], 2, "its worker ended with exit code -9; this was the last attempt that is allowed"),
    ],
)
def test_how_often_it_is_tried(code: int, told: list[tuple[str, str]], tries: int, message: str) -> None:
    world, runs, now = World(), [run("a")], 0.0
    preparations = world.preparations()
    while not preparations.failed(runs):
        assert preparations.ready(runs, now) == []
        if world.started[-1].code is None:
            world.started[-1].told, world.started[-1].code = list(told), code
        preparations.listen(runs, now)
        now += 0.5
        assert now < 100
    assert len(world.started) == tries
    assert preparations.failed(runs) == [(runs[0], f"{message} (its log: prepare.log)")]
    assert runs[0].wait is None, "it waits for nothing any more"


def test_what_somebody_else_prepares_is_looked_at_again_for_as_long_as_it_takes() -> None:
    world, runs = World(), [run("a")]
    preparations = world.preparations()
    for second in range(50):
        assert preparations.ready(runs, float(second)) == []
        world.started[-1].told, world.started[-1].code = [("prepare.held", "process 7")], 1
        preparations.listen(runs, float(second))
    world.prepared = True
    assert preparations.ready(runs, 60.0) == runs
    assert preparations.failed(runs) == []


def test_nobody_prepares_for_campaigns_that_are_stopped() -> None:
    world, runs = World(), [run("a"), run("b")]
    preparations = world.preparations()
    preparations.ready(runs, 0.0)
    runs[0].halt = Halt.ASKED
    preparations.listen(runs, 1.0)
    assert world.started[0].asked_to_end is None, "the other one still wants it"
    runs[1].halt = Halt.ASKED
    preparations.listen(runs, 2.0)
    assert world.started[0].asked_to_end == 2.0
    preparations.press(2.0 + 5 + 9)
    assert not world.started[0].killed
    preparations.press(2.0 + 5 + 11)
    assert world.started[0].killed
    world.started[0].code = 143
    preparations.listen(runs, 20.0)
    assert preparations.workers == ()
    assert preparations.failed(runs) == []


def test_events_of_a_preparation_are_passed_on() -> None:
    world, runs = World(), [run("a")]
    seen: list[tuple[Any, str]] = []
    preparations = world.preparations()
    preparations.take = lambda each, event: seen.append((each, event.kind))
    preparations.ready(runs, 0.0)
    world.started[0].told = [("prepare.started", "")]
    preparations.listen(runs, 0.5)
    assert seen == [(runs[0], "prepare.started")]
