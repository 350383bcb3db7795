"""The workers of an engine's campaigns: listened to, told to end, pressed, and let go of.

Everything that the engine waits for, it waits for in one selector: the workers' pipes, signals, and the time
of the next look. A worker that was told to end and has not, past its grace, is killed; so is one of which
nothing works any more, and which has not ended, because it has been stopped.
"""

from __future__ import annotations

import random
import selectors
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from allotment.events.event import Event
from allotment.running.engine.signals import Signals
from allotment.running.engine.source_pauses import NEXT_TRY, source_pause
from allotment.running.engine.worker import Worker
from allotment.scheduling.local import Reclaim

TURN_SECONDS = 0.25
KILL_AFTER_GRACE = 10.0
KILL_AFTER_SILENCE = 5.0


@dataclass(slots=True)
class Crew:
    """The workers that are up; ``take`` hears what each of them tells."""

    wall: Callable[[], float]
    take: Callable[[Worker, Event], None]
    chance: Callable[[], float] = random.random
    workers: list[Worker] = field(default_factory=list)
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)

    def begin(self, signals: Signals) -> None:
        """Listen to signals too."""
        self._selector.register(signals, selectors.EVENT_READ)

    def close(self) -> None:
        """End every worker, at once, and listen no more."""
        for worker in self.workers:
            worker.kill()
        for worker in self.workers:
            worker.process.wait()
            self._hear(worker)
            worker.close()
        self.workers.clear()
        self._selector.close()

    def add(self, worker: Worker) -> None:
        """Listen to another worker."""
        self.workers.append(worker)
        self._selector.register(worker.pipe, selectors.EVENT_READ)

    def listen(self, signals: Signals) -> None:
        """Wait until somebody tells something, but not for long."""
        for key, _ in self._selector.select(TURN_SECONDS):
            if key.fileobj is signals:
                signals.drain()
        for worker in self.workers:
            self._hear(worker)

    def ask_to_end(self, campaign: str, now: float) -> None:
        """Tell the workers of a campaign to end after the page in hand."""
        for worker in self.workers:
            if worker.campaign == campaign:
                worker.ask_to_end(now)

    def reclaim(self, reclaims: Iterable[Reclaim], now: float) -> None:
        """Tell volumes to end after their pages, for a team whose share their devices are."""
        workers = {(worker.campaign, worker.index): worker for worker in self.workers}
        for each in reclaims:
            worker = workers.get((each.campaign, each.index))
            if worker is not None and worker.asked_to_end is None:
                worker.whom, worker.why = each.whom, each.reason
                worker.ask_to_end(now)

    def reap(self) -> Iterator[Worker]:
        """Those that have ended, with all heard that they told."""
        for worker in [worker for worker in self.workers if worker.ended() is not None]:
            self._hear(worker)
            if worker.silent_since is None:
                self._selector.unregister(worker.pipe)
            worker.close()
            self.workers.remove(worker)
            yield worker

    def press(self, grace_seconds: Callable[[str], float], now: float) -> None:
        """Kill what was asked to end and has not, past the grace of its campaign."""
        for worker in self.workers:
            grace = grace_seconds(worker.campaign)
            asked = worker.asked_to_end
            if asked is not None and now > asked + grace + KILL_AFTER_GRACE:
                worker.kill()
            self._press_silent(worker, now)

    def _press_silent(self, worker: Worker, now: float) -> None:
        if worker.at_end and worker.silent_since is None:
            worker.silent_since = now
            self._selector.unregister(worker.pipe)
        if worker.silent_since is not None and now > worker.silent_since + KILL_AFTER_SILENCE:
            worker.kill()

    def _hear(self, worker: Worker) -> None:
        for event in worker.events():
            self.take(worker, _for_whom(worker, self._with_pause(worker, event)))
            if event.kind == "volume.held":
                worker.held = True
            if event.kind == "volume.started":
                worker.begun = True

    def _with_pause(self, worker: Worker, event: Event) -> Event:
        """The event, with the time of the next try where that is a while from now."""
        pause = source_pause(event, self.chance())
        if not pause:
            return event
        worker.pause = max(worker.pause, pause)
        return replace(event, data={**event.data, NEXT_TRY: round(self.wall() + pause, 3)})


def _for_whom(worker: Worker, event: Event) -> Event:
    """The end of a volume that was told to end for another team says for which."""
    if event.kind != "volume.reclaimed":
        return event
    return replace(event, data={**event.data, **whom_data(worker)})


def whom_data(worker: Worker) -> dict[str, str]:
    """For which team it was told to end, if for one."""
    return {"whom": worker.whom, "message": worker.why} if worker.whom else {}
