"""What a worker's end means for its index and its volumes.

FORMATS, "The runner": 0 complete, 13 permanent, 143 after SIGTERM, 1 everything else; a signal is a
reclaim. A worker tells the endings of its volumes itself; what it could not tell (it was killed, it never
began) is told here for it. Failures are counted in the bucket by the worker, but a worker that never
begins cannot count, so those are counted here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from allotment.running.engine.campaign_run import CampaignRun
from allotment.running.engine.indexes import Indexes
from allotment.running.engine.worker import Worker

NEVER_BEGAN = "worker-never-began"
COMPLETE, FAILED, PERMANENT, RECLAIMED = 0, 1, 13, 143

TellEvent = tuple[str, str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Ending:
    """Events to tell for the worker (kind, volume, data), and where its index goes (``move``)."""

    events: tuple[TellEvent, ...]
    move: Callable[[Indexes, int, float], object]


def _completed(indexes: Indexes, index: int, _: float) -> None:
    indexes.completed(index)


def _failed(indexes: Indexes, index: int, _: float) -> None:
    indexes.failed(index)


def _again(indexes: Indexes, index: int, _: float) -> None:
    indexes.reclaimed(index)


def ending_of(run: CampaignRun, worker: Worker) -> Ending:
    """What the end of this worker means."""
    code = worker.process.returncode
    limits = run.work.limits
    if code == COMPLETE:
        return Ending(_untold(run, worker, "volume.completed"), _completed)
    if code == PERMANENT:
        message = f"the worker gave up (exit code {code}): {worker.last_words()}"
        return Ending(
            _untold(run, worker, "volume.failed", reason="worker-gave-up", message=message), _failed
        )
    if code == RECLAIMED or code < 0:
        data = {"message": _how(worker, code)}
        volumes = _open(run, worker) or (worker.volumes[:1] if worker.whom and not worker.begun else ())
        events = tuple(("volume.reclaimed", volume, data) for volume in volumes)
        if worker.begun or worker.asked_to_end is not None:
            return Ending(events, _again)
        return _never_began(run, worker, code, limits.reclaims)
    if not worker.held and not worker.begun:
        return _never_began(run, worker, code, limits.retries)
    later = partial(Indexes.failed_for_now, at_least=worker.pause)
    return Ending((), Indexes.held_elsewhere if worker.held else later)


def never_began(run: CampaignRun) -> bool:
    """Whether all that failed did so before it began: the bucket or the machine is at fault, not a volume."""
    return bool(run.failures) and all(reason == NEVER_BEGAN for reason, _ in run.failures.values())


def _never_began(run: CampaignRun, worker: Worker, code: int, most: int) -> Ending:
    run.never_began[worker.index] += 1
    times = run.never_began[worker.index]
    if times <= most:
        return Ending((), Indexes.failed_for_now)
    message = (
        f"its worker ended {times} times before it began, last {_how(worker, code)}: {worker.last_words()}"
    )
    return Ending(_untold(run, worker, "volume.failed", reason=NEVER_BEGAN, message=message), _failed)


def _how(worker: Worker, code: int) -> str:
    if code >= 0:
        return f"with exit code {code}"
    return f"killed by signal {-code}" + (" after its grace" if worker.killed else "")


def _open(run: CampaignRun, worker: Worker) -> tuple[str, ...]:
    return tuple(volume for volume in worker.volumes if volume in run.open_volumes)


def _untold(run: CampaignRun, worker: Worker, kind: str, **data: str) -> tuple[TellEvent, ...]:
    """The event for each volume of the worker whose end nobody has told."""
    untold = (v for v in worker.volumes if v not in run.completed and v not in run.failures)
    return tuple((kind, volume, data) for volume in untold)
