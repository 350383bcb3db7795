"""The workloads of one line by kind: those of a kind are put aside and woken together, whatever their number.

Of one kind are workloads of one shape and one namespace. Those that may be tried although their shape is
parked, or that are in line without being ready, are loose: they are never moved with the others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from allotment.scheduling.kueue.assignment import Progress
from allotment.scheduling.kueue.charges import Info
from allotment.scheduling.state.shelf import Shelf

Rank = tuple[int, float, str, str]
Kind = tuple[str | None, str, bool]
FEW = 8


@dataclass(frozen=True, slots=True)
class Queued:
    """A workload in line: its totals, its place, and how far its flavors were tried."""

    info: Info
    rank: Rank
    progress: Progress | None = None
    seen: int = 0


_NOBODY: Shelf[str, Queued] = Shelf()
_NO_KINDS: Shelf[str, Kind] = Shelf()


@dataclass(frozen=True, slots=True)
class Lane:
    """Workloads of one kind, in order."""

    ranks: tuple[Rank, ...] = ()
    members: Shelf[str, Queued] = _NOBODY

    def with_all(self, queued: dict[str, Queued]) -> Lane:
        """The lane with more workloads."""
        ranks = self.ranks
        if len(queued) < FEW:
            for each in queued.values():
                index = bisect_left(ranks, each.rank)
                ranks = (*ranks[:index], each.rank, *ranks[index:])
        else:
            ranks = tuple(sorted((*ranks, *(each.rank for each in queued.values()))))
        return Lane(ranks, self.members.put(queued))

    def without(self, key: str) -> Lane:
        """The lane without a workload."""
        index = bisect_left(self.ranks, self.members[key].rank)
        return Lane(self.ranks[:index] + self.ranks[index + 1 :], self.members.put({key: None}))


_NO_LANES: Shelf[Kind, Lane] = Shelf()


@dataclass(frozen=True, slots=True)
class Lanes:
    """All lanes of a line. ``fronts`` are the first of those that are tried; the rest of the lanes rests."""

    lanes: Shelf[Kind, Lane] = _NO_LANES
    kinds: Shelf[str, Kind] = _NO_KINDS
    fronts: tuple[tuple[Rank, Kind], ...] = ()
    resting: frozenset[str] = frozenset()
    spaces: frozenset[str] = frozenset()

    def find(self, key: str) -> Queued | None:
        """A workload, in line or at rest."""
        kind = self.kinds.get(key)
        return None if kind is None else self.lanes[kind].members[key]

    def rests(self, key: str) -> bool:
        """Whether a workload is here but not in line."""
        kind = self.kinds.get(key)
        return kind is not None and self._rests(kind)

    def _rests(self, kind: Kind) -> bool:
        return kind[0] in self.resting and not kind[2]

    def first(self) -> Queued | None:
        """The first in line."""
        if not self.fronts:
            return None
        rank, kind = self.fronts[0]
        return self.lanes[kind].members[rank[3]]

    def members(self, *, resting: bool) -> Iterator[tuple[str, Queued]]:
        """Those in line, or those at rest, by lane."""
        for kind, lane in self.lanes.items():
            if self._rests(kind) is resting:
                yield from lane.members.items()

    def with_all(self, queued: Iterable[Queued], *, loose: bool = False) -> Lanes:
        """The lanes with workloads that are to be tried and are not here yet."""
        new: dict[Kind, dict[str, Queued]] = {}
        for each in queued:
            shape = each.info.shape
            kind = shape, each.info.workload.namespace, loose or shape in self.resting
            new.setdefault(kind, {})[each.info.key] = each
        changed = self
        for kind, members in new.items():
            lane = self.lanes.get(kind) or Lane()
            changed = replace(
                changed._put(kind, lane.with_all(members)),
                kinds=changed.kinds.put(dict.fromkeys(members, kind)),
                spaces=changed.spaces | {kind[1]},
            )
        return changed

    def without(self, key: str) -> Lanes:
        """The lanes without a workload."""
        kind = self.kinds.get(key)
        if kind is None:
            return self
        changed = self._put(kind, self.lanes[kind].without(key))
        return replace(changed, kinds=changed.kinds.put({key: None}))

    def _put(self, kind: Kind, lane: Lane) -> Lanes:
        fronts = self.fronts
        if not self._rests(kind):
            old = self.lanes.get(kind)
            fronts = _replaced(fronts, kind, old.ranks if old else (), lane.ranks)
        return replace(self, lanes=self.lanes.put({kind: lane if lane.ranks else None}), fronts=fronts)

    def _of_shape(self, shape: str, *, loose: bool) -> Iterator[tuple[Kind, Lane]]:
        for space in sorted(self.spaces):
            lane = self.lanes.get((shape, space, loose))
            if lane is not None:
                yield (shape, space, loose), lane

    def rested(self, shape: str) -> tuple[Lanes, dict[str, Queued]]:
        """The lanes while a shape rests, and the loose ones of it, which are not in them any more."""
        changed = self
        if shape not in self.resting:
            fronts = self.fronts
            for kind, lane in self._of_shape(shape, loose=False):
                fronts = _replaced(fronts, kind, lane.ranks, ())
            changed = replace(self, fronts=fronts, resting=self.resting | {shape})
        loose: dict[str, Queued] = {}
        for _kind, lane in self._of_shape(shape, loose=True):
            loose.update(lane.members)
        for key in loose:
            changed = changed.without(key)
        return changed, loose

    def woken(self, opens: Callable[[str], bool]) -> tuple[Lanes, dict[str, Queued]]:
        """The lanes while nothing rests; those of namespaces that are closed are not in them any more."""
        fronts = self.fronts
        closed: dict[str, Queued] = {}
        for shape in sorted(self.resting):
            for kind, lane in self._of_shape(shape, loose=False):
                fronts = _replaced(fronts, kind, (), lane.ranks)
                if not opens(kind[1]):
                    closed.update(lane.members)
        changed = replace(self, fronts=fronts, resting=frozenset())
        for key in closed:
            changed = changed.without(key)
        return changed, closed


def _replaced(
    fronts: tuple[tuple[Rank, Kind], ...], kind: Kind, old: tuple[Rank, ...], new: tuple[Rank, ...]
) -> tuple[tuple[Rank, Kind], ...]:
    """The fronts when a lane begins with another workload."""
    if old[:1] == new[:1]:
        return fronts
    if old:
        index = bisect_left(fronts, (old[0], kind))
        fronts = fronts[:index] + fronts[index + 1 :]
    if new:
        index = bisect_left(fronts, (new[0], kind))
        fronts = (*fronts[:index], (new[0], kind), *fronts[index:])
    return fronts
