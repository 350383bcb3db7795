"""The numbers of an engine and its workers in a file that Prometheus' textfile collector reads.

It is one more that looks on (`Watcher`): counters from events, gauges from the read model and from the device
ledger. The file is replaced as a whole every few seconds, so that whoever reads it never finds half of it. A
file that cannot be written is said once and holds nothing up.
"""

from __future__ import annotations

import logging
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from allotment.devices.slices import DeviceId
from allotment.errors import AllotmentError, UsageError
from allotment.events.event import Event
from allotment.events.model import VolumeState
from allotment.running.engine.engine import Engine
from allotment.running.engine.exposition import Family, exposition
from allotment.running.engine.snapshot import Snapshot, Watcher

WRITE_SECONDS = 5.0

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Counters:
    """What is counted from events, since this engine began."""

    pages: Family = field(
        default_factory=lambda: Family(
            "allotment_pages_total", "counter", "Pages that ended in this run, by outcome."
        )
    )
    seconds: Family = field(
        default_factory=lambda: Family(
            "allotment_page_seconds_total", "counter", "Seconds that steps worked on pages."
        )
    )
    wait: Family = field(
        default_factory=lambda: Family(
            "allotment_page_wait_seconds_total", "counter", "Seconds that devices waited for pages."
        )
    )
    endings: Family = field(
        default_factory=lambda: Family(
            "allotment_volume_endings_total", "counter", "How often volumes ended or were interrupted."
        )
    )
    restarts: Family = field(
        default_factory=lambda: Family(
            "allotment_restarts_total", "counter", "How often a fleet's replicas were started again."
        )
    )

    def take(self, event: Event) -> None:
        """Count one event."""
        of = {"team": event.team, "campaign": event.campaign}
        if event.kind == "page.done":
            self.pages.add(1, outcome="done", **of)
            self.seconds.add(_number(event, "seconds"), **of)
            self.wait.add(_number(event, "wait_seconds"), **of)
        elif event.kind == "page.failed":
            self.pages.add(1, outcome="failed", **of)
        elif event.kind.startswith("volume.") and event.kind not in {"volume.started", "volume.held"}:
            self.endings.add(1, ending=event.kind.removeprefix("volume."), **of)
        elif event.kind == "replica.ended" and "pause" in event.data:
            self.restarts.add(1, team=event.team, fleet=event.campaign)


def families(
    counters: Counters, shown: Snapshot, devices: Iterable[DeviceId], held: Mapping[DeviceId, object]
) -> Iterator[Family]:
    """Every family as it stands."""
    yield from (counters.pages, counters.seconds, counters.wait, counters.endings, counters.restarts)
    volumes = Family("allotment_volumes", "gauge", "Volumes of a campaign by state.")
    pages = Family("allotment_pages", "gauge", "Pages of a campaign's volumes that have been begun.")
    rate = Family("allotment_pages_per_second", "gauge", "Pages per second of late.")
    for view in shown.campaigns:
        of = {"team": view.team, "campaign": view.name}
        for state in VolumeState:
            volumes.set(view.number(state), state=str(state), **of)
        pages.set(view.pages_done, state="done", **of)
        pages.set(view.pages_failed, state="failed", **of)
        pages.set(view.pages_total, state="counted", **of)
        rate.set(view.rate or 0.0, **of)
    yield from (volumes, pages, rate)
    workers = Family("allotment_workers", "gauge", "Worker processes by campaign, fleet or gang.")
    for name, number in Counter(worker.campaign for worker in shown.workers).items():
        workers.set(number, name=name)
    for run in shown.programs:
        workers.set(len(run.workers), name=run.program.name)
    yield workers
    yield _devices(devices, held)
    waiting = Family("allotment_waiting", "gauge", "1 for what waits for devices, memory or its preparation.")
    for name in shown.waits:
        waiting.set(1, name=name)
    yield waiting
    time = Family(
        "allotment_metrics_time_seconds", "gauge", "When these numbers were taken, in Unix seconds."
    )
    time.set(round(shown.now, 3))
    yield time


def _devices(devices: Iterable[DeviceId], held: Mapping[DeviceId, object]) -> Family:
    family = Family("allotment_devices", "gauge", "Devices of this machine, free or held by anybody.")
    for device in devices:
        for state in ("free", "held"):
            family.add(float((device in held) == (state == "held")), driver=device.driver, state=state)
    return family


class MetricsFile:
    """Looks on beside another one, and keeps the file; ``clock`` is monotonic."""

    def __init__(self, path: Path, beside: Watcher, clock: Callable[[], float]) -> None:
        _check_file(path)
        self._path = path
        self._beside = beside
        self._clock = clock
        self._counters = Counters()
        self._written = -WRITE_SECONDS
        self._complained = False

    def event(self, event: Event) -> None:
        """Count the event."""
        self._counters.take(event)
        self._beside.event(event)

    def turn(self, engine: Engine) -> None:
        """Write the file anew when it is time, and at the end."""
        self._beside.turn(engine)
        now = self._clock()
        over = all(run.ended for run in engine.runs) and not engine.workers and engine.programs.ended
        if not over and now - self._written < WRITE_SECONDS:
            return
        self._written = now
        try:
            whole, shares = engine.filler.ledger.state()
            held = {**{device: holders[0] for device, holders in shares.items()}, **whole}
        except AllotmentError:
            held = {}
        devices = [device for device, _ in engine.filler.world.devices()]
        self._write(exposition(families(self._counters, engine.snapshot(), devices, held)))

    def _write(self, text: str) -> None:
        new = self._path.with_name(f".{self._path.name}.{os.getpid()}.new")
        try:
            new.write_text(text, encoding="utf-8")
            new.replace(self._path)
        except OSError as error:
            if not self._complained:
                log.warning("the metrics cannot be written to %s: %s", self._path, error.strerror)
                self._complained = True


def _check_file(path: Path) -> None:
    """Refuse what would be replaced and is no file, and a name that is none."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        mode = stat.S_IFREG
    if not path.name or not stat.S_ISREG(mode):
        raise UsageError(
            f"{str(path)!r} is a folder, a link or a device, and the file of metrics is replaced as a whole",
            "--metrics",
            "name a plain file, or one that is not there yet",
        )


def _number(event: Event, key: str) -> float:
    value = event.data.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
