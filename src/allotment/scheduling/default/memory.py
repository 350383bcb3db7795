"""What the default scheduler remembers: who failed and when, who holds a place for a gang, where it stopped.

All of it is derived from what was decided and from comparing the state with the one that was seen last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from allotment.devices.claims import Allocation
from allotment.scheduling.default.devices import DeviceIndex
from allotment.scheduling.default.settings import Settings
from allotment.scheduling.state.copying import copied
from allotment.scheduling.state.pods import Pod
from allotment.scheduling.state.state import State

if TYPE_CHECKING:
    from allotment.scheduling.default.ground import Ground

Change = tuple[str, Pod | None, Pod | None]
"""A pod by its key: as it was, and as it is."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A pod that was tried in vain; ``woken``: something has happened since that may help it.

    ``erred``: it was an error, after which the back-off always holds.
    """

    attempts: int
    at: float
    woken: bool = False
    erred: bool = False

    def awake(self) -> Failed:
        """The same after something has happened."""
        return Failed(self.attempts, self.at, woken=True, erred=self.erred)


@dataclass(frozen=True, slots=True)
class Held:
    """A place that a pod keeps until enough of its gang have one."""

    node: str
    allocations: tuple[Allocation, ...]
    since: float


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered; ``Memory(settings)`` remembers nothing yet. ``start`` is the number of a node,
    ``bound`` who got one in the last round, ``nominated`` for whom room is made on which node.

    ``ground`` saves work, and is as the last round left it only in that round's own memory: the one that
    knows its ``turn``.
    """

    settings: Settings = field(default_factory=Settings)
    start: int = 0
    seen: State | None = None
    failed: Mapping[str, Failed] = field(default_factory=dict)
    held: Mapping[str, Held] = field(default_factory=dict)
    bound: frozenset[str] = frozenset()
    nominated: Mapping[str, str] = field(default_factory=dict)
    index: DeviceIndex | None = field(default=None, compare=False)
    ground: Ground | None = field(default=None, compare=False, repr=False)
    turn: int = field(default=0, compare=False)

    def may_try(self, pod: str, now: float) -> bool:
        """Whether a pod is due."""
        known = self.failed.get(pod)
        if known is None:
            return True
        backed_off = now >= known.at + self._waits(known)
        return (known.woken and backed_off) or now >= known.at + self.settings.flush

    def _waits(self, known: Failed) -> float:
        """For how long one who failed is not tried again, though something has happened."""
        if self.settings.is_early and not known.erred:
            return 0.0
        return self.settings.back_off(known.attempts)

    def next_time(self, now: float) -> float | None:
        """When something may be tried or given up next, if nothing happens."""
        settings = self.settings
        times = [
            each.at + (self._waits(each) if each.woken else settings.flush) for each in self.failed.values()
        ]
        times += [each.since + settings.hold for each in self.held.values()]
        return min((each for each in times if each > now), default=None)

    def caught_up(self, state: State, changes: Iterable[Change]) -> Memory:
        """The memory after what has happened: room that is new wakes those who failed."""
        gone: set[str] = set()
        room = self.seen is None or any(
            getattr(self.seen, name) is not getattr(state, name) for name in ("nodes", "published", "gangs")
        )
        for key, old, new in changes:
            stood = key in self.bound or (old is not None and old.node is not None)
            room = room or (stood and (new is None or new.node is None))
            if new is None or new.node is not None:
                gone.add(key)
            elif old is not None and replace(old, node=None, allocations=()) != new:
                gone.add(key)  # it has changed, and is tried as if it were new
        failed = {key: each for key, each in self.failed.items() if key not in gone}
        nominated = {key: node for key, node in self.nominated.items() if key not in gone}
        if room or len(nominated) < len(self.nominated):
            failed = {key: each if each.woken else each.awake() for key, each in failed.items()}
        index = self.index
        if state.published is not None and (index is None or index.world is not state.published):
            index = DeviceIndex(state.published)
        held = {key: each for key, each in self.held.items() if key not in gone}
        return copied(self, seen=state, failed=failed, held=held, nominated=nominated, index=index)
