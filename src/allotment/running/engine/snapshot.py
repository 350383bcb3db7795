"""The engine at one moment, for people who look on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from allotment.events.model import CampaignView
from allotment.running.engine.programs import ProgramRun
from allotment.running.engine.worker import Worker


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
