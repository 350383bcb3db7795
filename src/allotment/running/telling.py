"""What a worker says of a volume, to the log and as events: each thing in one place, so that both agree."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from allotment.running.endings import (
    COMPLETE,
    EXIT_FAILED,
    EXIT_PERMANENT,
    EXIT_TERMINATED,
    Outcome,
    VolumeFailedError,
)
from allotment.running.measure import rounded
from allotment.running.surroundings import Surroundings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Teller:
    """Tells of one volume; what ends it comes back as the outcome that it means."""

    around: Surroundings
    volume: str

    def started(self, attempt: int, *, total: int | None, done: int) -> None:
        """An attempt has begun; ``total`` is not known when the source cannot be opened."""
        log.info("volume %s: attempt %d, %s pages, %d done", self.volume, attempt, total or "no", done)
        data: dict[str, Any] = {} if total is None else {"pages_total": total}
        self.around.emit(
            "volume.started",
            self.volume,
            attempt=attempt,
            pages_done=done,
            devices=list(self.around.assignment.worker.devices),
            host=self.around.holder.host,
            pid=self.around.holder.pid,
            **data,
        )

    def complete(self, *, total: int, failed: int, seconds: float | None = None) -> Outcome:
        """Its manifest is in the bucket."""
        log.info("volume %s is complete: %d pages, %d failed", self.volume, total, failed)
        data: dict[str, Any] = {} if seconds is None else {"seconds": rounded(seconds)}
        self.around.emit(
            "volume.completed",
            self.volume,
            pages_total=total,
            pages_done=total - failed,
            pages_failed=failed,
            **data,
        )
        return COMPLETE

    def failed(self, why: VolumeFailedError, *, permanent: bool, **data: Any) -> Outcome:
        """It failed, for good or for now."""
        log.error("volume %s failed%s: %s", self.volume, "" if permanent else " for now", why.message)
        kind = "volume.failed" if permanent else "volume.retrying"
        self.around.emit(kind, self.volume, reason=why.reason, message=why.message, **data)
        return Outcome(EXIT_PERMANENT if permanent else EXIT_FAILED, why.reason, why.message)

    def reclaimed(self, why: VolumeFailedError, attempt: int | None = None) -> Outcome:
        """It was ended from outside."""
        log.info("volume %s: %s", self.volume, why.message)
        if attempt is not None:
            self.around.emit("volume.reclaimed", self.volume, attempt=attempt, message=why.message)
        return Outcome(EXIT_TERMINATED, why.reason, why.message)

    def held(self, reason: str, message: str) -> Outcome:
        """It is somebody else's."""
        log.info("volume %s is left alone: %s", self.volume, message)
        self.around.emit("volume.held", self.volume, reason=reason, message=message)
        return Outcome(EXIT_FAILED, reason, message)
