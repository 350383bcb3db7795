"""Writing down what happens, while it happens: runs of pods, waits with their reasons, decisions."""

from __future__ import annotations

from dataclasses import dataclass, field

from allotment.simulation.outcome import Decided, Span, WaitSpan


@dataclass(slots=True)
class _Wait:
    """A wait that goes on."""

    reason: str
    message: str
    since: float
    pods: int


@dataclass(slots=True)
class Record:
    """The record of a simulation; of the decisions the first ``most``."""

    most: int
    spans: list[Span] = field(default_factory=list)
    waits: list[WaitSpan] = field(default_factory=list)
    decisions: list[Decided] = field(default_factory=list)
    waiting: dict[str, _Wait] = field(default_factory=dict)

    @property
    def full(self) -> bool:
        """Whether no more decisions are written down."""
        return len(self.decisions) >= self.most

    def decided(self, decision: Decided) -> None:
        """A decision was made."""
        if len(self.decisions) < self.most:
            self.decisions.append(decision)

    def waits_for(self, work: str, reason: str, message: str, now: float, pods: int) -> bool:
        """A work waits; whether it did not wait for that before."""
        known = self.waiting.get(work)
        if known is not None and known.reason == reason:
            known.pods = max(known.pods, pods)
            return False
        self.waits_no_more(work, now)
        self.waiting[work] = _Wait(reason, message, now, pods)
        return True

    def waits_no_more(self, work: str, now: float) -> None:
        """A work does not wait any longer for what it waited for."""
        known = self.waiting.pop(work, None)
        if known is not None and now > known.since:
            self.waits.append(WaitSpan(work, known.reason, known.message, known.since, now, known.pods))

    def close(self, until: float) -> None:
        """It is over; whoever waits has waited until now."""
        for work in list(self.waiting):
            self.waits_no_more(work, until)
