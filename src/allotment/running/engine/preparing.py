"""Recipes that have something to prepare: done once each, before a device is held for any of their volumes.

Campaigns of one recipe wait for one preparation. It is done by a worker of its own, without a claim. A
failure for now is tried again after a pause, as often as a volume is; one that somebody else prepares is
looked at again; what can never work stops the campaigns with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from allotment.events.event import Event
from allotment.running.assignment import Limits
from allotment.running.endings import EXIT_COMPLETE, EXIT_PERMANENT, EXIT_TERMINATED
from allotment.running.engine.campaign_run import CampaignRun
from allotment.running.engine.indexes import FIRST_BACK_OFF, LONGEST_BACK_OFF, LOOK_AGAIN
from allotment.running.engine.work import Work
from allotment.running.engine.worker import Worker
from allotment.scheduling.local import Wait, WaitReason

KILL_AFTER_GRACE = 10.0
WORDS = "its recipe is being prepared, with no device held"

Recipe = tuple[str, str, str]
Take = Callable[[CampaignRun, Event], None]


class Phase(StrEnum):
    """Where a preparation stands."""

    UNKNOWN = "unknown"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"


@dataclass(slots=True)
class Preparation:
    """One recipe's preparation in this engine."""

    phase: Phase = Phase.UNKNOWN
    worker: Worker | None = None
    run: CampaignRun | None = None
    until: float = 0.0
    failures: int = 0
    reclaims: int = 0
    held: bool = False
    message: str = ""
    log: Path | None = None


@dataclass(slots=True)
class Preparations:
    """All preparations of an engine.

    ``is_prepared`` asks the bucket and this machine, ``start`` starts a worker, ``take`` gets its events.
    """

    is_prepared: Callable[[Work], bool]
    start: Callable[[Work, float], Worker]
    take: Take = field(default=lambda _run, _event: None)
    _by_recipe: dict[Recipe, Preparation] = field(default_factory=dict)

    def ready(self, runs: Sequence[CampaignRun], now: float) -> list[CampaignRun]:
        """The campaigns whose volumes may start; of the others the preparations are begun."""
        return [run for run in runs if run.work.prepare is None or self._is_ready(run, now)]

    def failed(self, runs: Iterable[CampaignRun]) -> list[tuple[CampaignRun, str]]:
        """The campaigns whose recipe cannot be prepared, each with the reason."""
        found = ((run, self._of(run)) for run in runs if run.work.prepare is not None)
        return [
            (run, f"{one.message} (its log: {one.log})") for run, one in found if one.phase is Phase.FAILED
        ]

    @property
    def workers(self) -> tuple[Worker, ...]:
        """The processes that prepare."""
        return tuple(each.worker for each in self._by_recipe.values() if each.worker is not None)

    def listen(self, runs: Sequence[CampaignRun], now: float) -> None:
        """Take what they tell, and take note of those that have ended or that nobody wants any more."""
        for recipe, each in self._by_recipe.items():
            if each.worker is None:
                continue
            self._events(each, each.worker)
            if not any(run.halt is None for run in runs if _recipe(run.work) == recipe):
                each.worker.ask_to_end(now)
            code = each.worker.ended()
            if code is not None:
                self._events(each, each.worker)
                self._ended(each, each.worker, code, now)
                if each.phase in {Phase.DONE, Phase.FAILED}:
                    _wait_no_more(runs, recipe)

    def press(self, now: float) -> None:
        """Kill what was told to end and has not, past its grace."""
        for each in self._by_recipe.values():
            asked = None if each.worker is None else each.worker.asked_to_end
            grace = 0.0 if each.run is None else each.run.work.limits.grace_seconds
            if each.worker is not None and asked is not None and now > asked + grace + KILL_AFTER_GRACE:
                each.worker.kill()

    def kill_all(self) -> None:
        """End them all at once."""
        for each in self._by_recipe.values():
            if each.worker is not None:
                each.worker.kill()
                each.worker.process.wait()
                each.worker.close()
                each.worker = None

    def _is_ready(self, run: CampaignRun, now: float) -> bool:
        each = self._of(run)
        if each.phase is Phase.PAUSED and now >= each.until:
            each.phase = Phase.UNKNOWN
        if each.phase is Phase.UNKNOWN:
            each.phase = Phase.DONE if self.is_prepared(run.work) else Phase.RUNNING
            if each.phase is Phase.RUNNING:
                each.run, each.held = run, False
                each.worker = self.start(run.work, now)
        if each.phase is not Phase.DONE:
            run.wait = Wait(run.work.campaign, WaitReason.PREPARING, WORDS, now)
        return each.phase is Phase.DONE

    def _ended(self, each: Preparation, worker: Worker, code: int, now: float) -> None:
        """What the end of a preparation's worker means."""
        asked, limits = worker.asked_to_end, each.run.work.limits if each.run else Limits()
        words = each.message or worker.last_words() or f"its worker ended with exit code {code}"
        worker.close()
        each.worker, each.log = None, worker.log
        if code == EXIT_COMPLETE:
            each.phase = Phase.DONE
        elif code == EXIT_PERMANENT:
            each.phase, each.message = Phase.FAILED, words
        elif each.held or asked is not None:
            each.phase, each.until = Phase.PAUSED, now + LOOK_AGAIN
        elif code < 0 or code == EXIT_TERMINATED:
            each.reclaims += 1
            self._again(each, words, now, over=each.reclaims > limits.reclaims)
        else:
            each.failures += 1
            self._again(each, words, now, over=each.failures > limits.retries)

    def _again(self, each: Preparation, words: str, now: float, *, over: bool) -> None:
        if over:
            each.phase = Phase.FAILED
            each.message = f"{words}; this was the last attempt that is allowed"
            return
        pause = min(FIRST_BACK_OFF * 2.0 ** max(0, each.failures - 1), LONGEST_BACK_OFF)
        each.phase, each.until, each.message = Phase.PAUSED, now + pause, ""

    def _events(self, each: Preparation, worker: Worker) -> None:
        for event in worker.events():
            each.held = each.held or event.kind == "prepare.held"
            if event.kind in {"prepare.failed", "prepare.retrying"}:
                each.message = str(event.data.get("message", ""))
            if each.run is not None:
                self.take(each.run, event)

    def _of(self, run: CampaignRun) -> Preparation:
        return self._by_recipe.setdefault(_recipe(run.work), Preparation())


def no_preparations() -> Preparations:
    """What takes every recipe for prepared."""

    def start(work: Work, _now: float) -> Worker:
        raise AssertionError(f"{work.pipeline} has nothing to prepare")

    return Preparations(lambda _: True, start)


def _wait_no_more(runs: Iterable[CampaignRun], recipe: Recipe) -> None:
    for run in runs:
        waits = run.wait is not None and run.wait.reason is WaitReason.PREPARING
        if waits and _recipe(run.work) == recipe:
            run.wait = None


def _recipe(work: Work) -> Recipe:
    return (work.team, work.pipeline, work.recipe)
