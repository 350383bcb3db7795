"""Who looks on while an engine works, and what they see: the engine at one moment, and its events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from allotment.events.event import Event
from allotment.events.model import CampaignView
from allotment.running.engine.campaign_run import CampaignRun
from allotment.running.engine.programs import ProgramRun
from allotment.running.engine.worker import Worker
from allotment.scheduling.local import WaitReason

if TYPE_CHECKING:
    from allotment.running.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Campaigns as people see them, who works, who waits for what.

    ``waits`` are sentences by name; ``ending`` says why nothing more is started; ``programs`` are the fleets
    and gangs.
    """

    now: float
    campaigns: tuple[CampaignView, ...]
    workers: tuple[Worker, ...]
    waits: Mapping[str, str]
    ending: str = ""
    programs: tuple[ProgramRun, ...] = ()


def waits_of(runs: Iterable[CampaignRun], programs: Iterable[ProgramRun]) -> dict[str, str]:
    """Why those wait that do; one that is as wide as its window lets it waits for nothing."""
    waits = {
        run.work.campaign: run.wait.message
        for run in runs
        if run.wait is not None and run.halt is None and not run.ended
        if run.wait.reason is not WaitReason.WINDOW
    }
    return waits | {
        run.program.name: run.wait.message for run in programs if run.wait is not None and run.halted is None
    }


class Log(Protocol):
    """Where a campaign's events are kept."""

    def emit(self, event: Event) -> None:
        """Take an event."""

    def flush(self) -> None:
        """Write what was taken."""


class Watcher(Protocol):
    """Somebody who looks on while the engine works."""

    def event(self, event: Event) -> None:
        """Something happened."""

    def turn(self, engine: Engine) -> None:
        """The engine has done one turn of its loop; ``engine.snapshot()`` shows where it stands."""
