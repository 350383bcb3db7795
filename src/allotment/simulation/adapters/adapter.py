"""What stands between the event loop and a scheduler's model, as a protocol.

The loop owns time, and plays what is no scheduler: the Job controller that makes pods, the kubelet that runs
them. An adapter owns the ``State`` and the model's memory. It is told what happened, and when asked to run a
round it calls ``decide`` and says in orders what came of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from allotment.simulation.outcome import End
from allotment.simulation.work import Work


class PodId(NamedTuple):
    """A pod: the ``attempt``-th of one of a work's indexes. Of a fleet that is the replica's number."""

    work: str
    number: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Start:
    """The pod gets this node and these devices (``driver/pool/name``; empty where GPUs are only counted).

    ``shared`` are the cards of the node of which it has a part each, by whatever name its scheduler has for
    them while somebody is on them.
    """

    pod: PodId
    node: str
    devices: tuple[str, ...] = ()
    reason: str = ""
    shared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stop:
    """The pod has to leave: SIGTERM now, its grace period after that; for the work ``by``, if for any.

    ``end`` is what that counts as: reclaimed, or shrunk where its own work is cut for nobody's sake.
    ``by_its_job``: its Job's controller deletes it, and takes no notice any more of how it ends; another pod
    of its index has to find that nothing is left to do.
    """

    pod: PodId
    by: str = ""
    reason: str = ""
    message: str = ""
    end: End = End.RECLAIMED
    by_its_job: bool = False


@dataclass(frozen=True, slots=True)
class MayRun:
    """So many pods of the work may exist from now on: admitted, grown, cut, or (0) evicted.

    Pods above it that run are stopped by ``Stop`` orders of their own; those without a node are let go by
    whoever made them, the highest numbers first, and ``ended`` tells of them.
    """

    work: str
    pods: int
    by: str = ""
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Waits:
    """The work gets no more now; ``never`` says that it will not in this cluster, whatever ends."""

    work: str
    reason: str
    message: str
    never: bool = False


Order = Start | Stop | MayRun | Waits


class Adapter(Protocol):
    """One scheduler over one setting.

    At one moment it hears first what ended, then what is left, finished or arrived, then what was created or
    is ready; after that it is asked for rounds as long as one is due. What ``left`` and ``arrived`` answer
    holds until a ``MayRun`` says otherwise. ``heeds_ready``: it does otherwise for hearing that pods run.
    """

    heeds_ready: bool

    def arrived(self, work: Work, now: float) -> int:
        """A work is handed in; how many of its pods may exist at once (0: not yet)."""

    def placed(self, starts: Sequence[Start], now: float) -> None:
        """These pods of a work that has just arrived have a place already, and are not to be asked about."""

    def created(self, pods: Sequence[PodId], now: float) -> None:
        """The Job controller made these pods, which have no node yet."""

    def ready(self, pods: Iterable[PodId], now: float) -> None:
        """These pods run."""

    def ended(self, pods: Iterable[PodId], now: float) -> None:
        """These pods are gone, and what they had is free."""

    def left(self, work: str, units: int, now: float) -> int:
        """So few indexes (pods to come) are left that are not over; how many pods may exist from now on."""

    def finished(self, work: str, now: float) -> None:
        """The work is over."""

    def node(self, name: str, now: float, *, up: bool) -> None:
        """A node is lost, or back."""

    def due(self, now: float) -> float | None:
        """When it wants a round, if nothing else happens; None: not before something does."""

    def round(self, now: float) -> Sequence[Order]:
        """Decide, as it is now."""

    def notes(self) -> Sequence[str]:
        """What it could not say as it is, for whoever reads the outcome."""
