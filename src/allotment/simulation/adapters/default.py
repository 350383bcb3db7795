"""The default scheduler alone: every pod of a work's window exists at once, and each is bound for itself.

It knows no teams; what it decides is its model's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from allotment.scheduling.default import Lot, Ties
from allotment.simulation.adapters.adapter import Order, PodId, Start
from allotment.simulation.adapters.binding import Binder
from allotment.simulation.setting import Setting
from allotment.simulation.work import Work


def adapter(setting: Setting, ties: Ties | Lot = Ties.FIRST, *, alike: bool = False) -> Default:
    """The adapter for a setting; ``alike``: pods have no priority, for their lanes are Kueue's business."""
    return Default(setting, ties, alike=alike)


class Default:
    """Works as pods for the model."""

    heeds_ready = False

    def __init__(self, setting: Setting, ties: Ties | Lot, *, alike: bool) -> None:
        self.binder, self.alike = Binder(setting, ties), alike
        self.works: dict[str, Work] = {}

    def arrived(self, work: Work, now: float) -> int:
        """All pods of a work's window may exist."""
        self.works[work.name] = work
        self.binder.add(replace(work, priority=0) if self.alike else work)
        return work.most

    def placed(self, starts: Sequence[Start], now: float) -> None:
        """These pods have a node."""
        self.binder.placed(starts)

    def created(self, pods: Sequence[PodId], now: float) -> None:
        """These pods have none."""
        self.binder.created(pods, now)

    def ready(self, pods: Iterable[PodId], now: float) -> None:
        """Nothing depends on it."""

    def ended(self, pods: Iterable[PodId], now: float) -> None:
        """What these pods had is free."""
        self.binder.ended(pods)

    def left(self, work: str, units: int, now: float) -> int:
        """As many pods as the work's window has."""
        return self.works[work].most

    def finished(self, work: str, now: float) -> None:
        """Nothing is kept of the work."""
        del self.works[work]

    def node(self, name: str, now: float, *, up: bool) -> None:
        """A node is lost, or back."""
        self.binder.node(name, up=up)

    def due(self, now: float) -> float | None:
        """When the model would do something."""
        return self.binder.due(now)

    def round(self, now: float) -> Sequence[Order]:
        """Decide, as it is now."""
        return self.binder.round(now)

    def notes(self) -> Sequence[str]:
        """Everything that is asked for can be said to it."""
        return ()
