"""One campaign while the engine runs it: its indexes, what its workers told, and how it ends."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from allotment.devices.claims import ClaimSpec
from allotment.events.event import Event
from allotment.events.model import CampaignReader, CampaignView
from allotment.running.engine.alike import FirstVolumes
from allotment.running.engine.indexes import Indexes, Phase
from allotment.running.engine.standing import Standing, VolumeStanding
from allotment.running.engine.work import Work
from allotment.scheduling.local import CampaignQueue, Wait

VOLUME_ENDINGS = frozenset(
    {"volume.completed", "volume.failed", "volume.retrying", "volume.reclaimed", "volume.held"}
)

STANDING_EVENTS = {
    Standing.COMPLETE: "volume.completed",
    Standing.FAILED: "volume.failed",
    Standing.HELD: "volume.held",
}


class Halt(StrEnum):
    """Why a campaign starts no more volumes."""

    ASKED = "asked"
    ALIKE = "alike"
    SUSPENDED = "suspended"
    NEVER_FITS = "never-fits"
    INTERRUPTED = "interrupted"
    NOT_PREPARED = "not-prepared"


@dataclass(slots=True)
class CampaignRun:
    """A campaign's state in this engine. ``arrival`` is its place on the command line."""

    work: Work
    arrival: int
    indexes: Indexes = field(init=False)
    first: FirstVolumes = field(init=False)
    reader: CampaignReader = field(init=False)
    halt: Halt | None = None
    message: str = ""
    ended: bool = False
    wait: Wait | None = None
    completed: set[str] = field(default_factory=set)
    failures: dict[str, tuple[str, str]] = field(default_factory=dict)
    open_volumes: set[str] = field(default_factory=set)
    never_began: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.indexes = Indexes(self.work.count)
        self.first = FirstVolumes(self.work.window.max)
        self.reader = CampaignReader(self.work.campaign)

    def queue(self, ready: list[int]) -> CampaignQueue:
        """The campaign as the scheduler sees it."""
        claim: ClaimSpec = self.work.claim
        return CampaignQueue(
            name=self.work.campaign,
            lane_value=self.work.lane_value,
            arrival=self.arrival,
            window=self.work.window,
            running=self.indexes.number(Phase.RUNNING),
            ready=ready,
            claim=claim,
            memory_bytes=self.work.memory_bytes,
        )

    @property
    def resting(self) -> bool:
        """Whether nothing of it runs and nothing more will start unless somebody changes something."""
        return self.indexes.number(Phase.RUNNING) == 0 and (self.halt is not None or self.indexes.ended)

    def take(self, event: Event) -> bool:
        """Take an event of a volume; returns whether the campaign should stop because its volumes fail
        alike."""
        self.reader.add(event)
        if event.volume is None:
            return False
        if event.kind == "volume.started":
            self.open_volumes.add(event.volume)
        if event.kind in VOLUME_ENDINGS:
            self.open_volumes.discard(event.volume)
        if event.kind == "volume.completed":
            self.completed.add(event.volume)
            self.first.completed()
        if event.kind == "volume.failed":
            reason, message = str(event.data.get("reason", "")), str(event.data.get("message", ""))
            self.failures[event.volume] = (reason, message)
            return self.first.failed(reason)
        return False

    def know(self, standing: VolumeStanding, now: float) -> None:
        """Take what the bucket says of a volume that no worker of this engine has run."""
        kind = STANDING_EVENTS.get(standing.standing)
        if kind is None or standing.volume in self.completed or standing.volume in self.failures:
            return
        data = {
            "reason": standing.reason,
            "message": standing.message,
            "pages_done": standing.pages_done,
            "pages_failed": standing.pages_failed,
        }
        self.reader.add(Event(kind, now, self.work.team, self.work.campaign, standing.volume, None, data))
        if standing.standing is Standing.COMPLETE:
            self.completed.add(standing.volume)
            self.first.completed()
        if standing.standing is Standing.FAILED:
            self.failures[standing.volume] = (standing.reason, standing.message)

    def view(self, now: float) -> CampaignView:
        """The campaign as people see it."""
        return self.reader.view(now)
