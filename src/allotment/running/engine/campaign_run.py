"""One campaign while the engine runs it: its indexes, what its workers told, and how it ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from allotment.devices.claims import ClaimSpec
from allotment.events.event import Event
from allotment.events.model import CampaignReader, CampaignView
from allotment.running.engine.alike import FirstVolumes
from allotment.running.engine.completed import Completed
from allotment.running.engine.indexes import Indexes, Phase
from allotment.running.engine.standing import Standing, VolumeStanding
from allotment.running.engine.work import Work
from allotment.scheduling.local import CampaignQueue, Wait, WaitReason

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
    waits_told: str = ""
    completed: set[str] = field(default_factory=set)
    found_complete: int = 0
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
            shared=bool(self.work.shares),
            ready=ready,
            claim=claim,
            memory_bytes=self.work.memory_bytes,
            lends=self.work.lends,
        )

    @property
    def resting(self) -> bool:
        """Whether nothing of it runs and nothing more will start unless somebody changes something."""
        return self.indexes.number(Phase.RUNNING) == 0 and (self.halt is not None or self.indexes.ended)

    @property
    def over(self) -> bool:
        """Whether it has ended, and nothing that its file may say brings it back."""
        return self.ended and self.halt is not Halt.SUSPENDED

    def news_of_waiting(self) -> str:
        """Why nothing of it runs, when that has not been told yet."""
        still = self.halt is None and not self.ended and self.indexes.number(Phase.RUNNING) == 0
        waits = (
            still and self.wait is not None and self.wait.reason not in {WaitReason.WINDOW, WaitReason.NEVER}
        )
        now = self.wait.message if waits and self.wait is not None else ""
        news, self.waits_told = now if now != self.waits_told else "", now
        return news

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

    def know(self, standing: VolumeStanding, completed: Completed, now: float) -> Event | None:
        """Take what the bucket says of a volume that no worker of this engine has run.

        Returns a warning that everybody should hear, or None.
        """
        volume = standing.volume
        kind = STANDING_EVENTS.get(standing.standing)
        if kind is None or volume in self.completed or volume in self.failures:
            return None
        data = {
            "reason": standing.reason,
            "message": standing.message,
            "pages_done": standing.pages_done or completed.pages_done,
            "pages_failed": standing.pages_failed or len(completed.faults),
        }
        if completed.pages_total:
            data["pages_total"] = completed.pages_total
        self.reader.add(self._event(kind, now, volume, data))
        if standing.standing is Standing.FAILED:
            self.failures[volume] = (standing.reason, standing.message)
        if standing.standing is not Standing.COMPLETE:
            return None
        self.completed.add(volume)
        self.found_complete += 1
        self.first.completed()
        if not completed.change:
            return None
        return self._event("warning", now, volume, {"reason": "source-changed", "message": completed.change})

    def _event(self, kind: str, now: float, volume: str, data: Mapping[str, object]) -> Event:
        return Event(kind, now, self.work.team, self.work.campaign, volume, None, data)

    def view(self, now: float) -> CampaignView:
        """The campaign as people see it."""
        return self.reader.view(now)
