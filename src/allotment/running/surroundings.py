"""Everything around a volume's run that is passed in: bucket, clocks, interrupts, events, who we are.

The flow of a volume knows nothing else of the world, so that tests run it in memory, with clocks of their
own and with buckets that fail, and kill it at any operation.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol

from allotment.buckets.bucket import Bucket
from allotment.buckets.once import Patience, PatientBucket
from allotment.events.event import Event
from allotment.events.sinks import Sink
from allotment.running.assignment import Assignment
from allotment.running.device_memory import DeviceMemory, NoDeviceMemory
from allotment.running.holder import Holder, is_dead
from allotment.running.interrupts import Interrupts
from allotment.running.lease import Lease
from allotment.running.sources.source import Source
from allotment.running.steps_once import StepsOnce

OpenSource = Callable[[Mapping[str, Any]], Source]
KeepRenewed = Callable[[Lease], AbstractContextManager[None]]


class AttemptNotice(Protocol):
    """Hears which attempt is under way; for whoever must say how it ended when the worker cannot."""

    def begin_volume(self, about: Mapping[str, Any], /) -> None:
        """An attempt has begun."""

    def end_volume(self) -> None:
        """It is over, and its end is written."""


class NoNotice:
    """Nobody needs to hear of attempts."""

    def begin_volume(self, about: Mapping[str, Any], /) -> None:
        """An attempt has begun."""

    def end_volume(self) -> None:
        """It is over, and its end is written."""


def _not_renewed(_lease: Lease) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a worker works with; `clock` gives Unix seconds, `monotonic` seconds that never jump.

    `pause` waits in any thread, where the pauses of `interrupts` are the main thread's alone.
    """

    assignment: Assignment
    bucket: Bucket
    steps: StepsOnce
    open_source: OpenSource
    holder: Holder
    sink: Sink
    clock: Callable[[], float]
    monotonic: Callable[[], float]
    interrupts: Interrupts = field(default_factory=Interrupts)
    is_dead: Callable[[Holder], bool] = is_dead
    pause: Callable[[float], object] = time.sleep
    keep_renewed: KeepRenewed = _not_renewed
    notice: AttemptNotice = field(default_factory=NoNotice)
    patience: Patience = field(default_factory=Patience)
    device_memory: DeviceMemory = field(default_factory=NoDeviceMemory)

    def patient(self, patience: Patience | None = None) -> PatientBucket:
        """The bucket, tried again when it fails; its pauses can be broken into."""
        return PatientBucket(self.bucket, sleep=self.interrupts.sleep, patience=patience or self.patience)

    def for_leases(self) -> PatientBucket:
        """The bucket for who renews a lease, in whatever thread."""
        return PatientBucket(self.bucket, sleep=self.pause, patience=self.patience)

    def emit(self, kind: str, volume: str | None = None, page: str | None = None, **data: Any) -> None:
        """Say that something happened, now."""
        assignment = self.assignment
        self.sink.emit(Event(kind, self.clock(), assignment.team, assignment.campaign, volume, page, data))
