"""Which Job grows by a step, and by how much: one in a tree of queues at a time, the narrowest first.

A step at most doubles a Job, and never asks for more than is free without a victim: in its queue, and of
devices. Nobody grows while somebody of the same queue waits, or by borrowing while anybody of the tree does;
nor while what has just changed may not be told yet. So what was free for two is not asked for twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.kinds import Object
from allotment.kubernetes.operate.bounds import decision
from allotment.kubernetes.operate.devices import Devices
from allotment.kubernetes.operate.part import Cell, Part, pod_costs
from allotment.kubernetes.operate.queued import Wish
from allotment.kubernetes.operate.queues import Queues
from allotment.kubernetes.operate.values import Decision, Memory, Pace, Verb

NO_QUEUES: Final = "no queues"


@dataclass(frozen=True)
class Growing:
    """What growth is decided on. ``open`` are trees in which a growth is on its way, and whose it is."""

    queues: Queues
    devices: Devices
    pace: Pace
    memory: Memory
    now: float
    open: Mapping[str, str]

    def decided(self, wishes: Sequence[Wish]) -> list[Decision]:
        """What becomes of all that would grow."""
        taken = dict(self.open)
        found = []
        for wish in sorted(wishes, key=_turn):
            tree, bounded = self._tree(wish), self._bounded(wish, taken)
            if isinstance(bounded, str):
                found.append(decision(wish.part, Verb.STAYS, bounded))
                continue
            step, why = bounded
            taken[tree] = f"{wish.part.namespace}/{wish.part.name}"
            found.append(decision(wish.part, Verb.GROWS, why, wish.part.width + step))
        return found

    def _tree(self, wish: Wish) -> str:
        queue = None if wish.granted is None else self.queues.queue_of(wish.granted)
        return NO_QUEUES if queue is None else self.queues.tree_of(queue)

    def _bounded(self, wish: Wish, taken: Mapping[str, str]) -> tuple[int, str] | str:
        """By how many pods, and why so many; or why it does not grow."""
        part, tree = wish.part, self._tree(wish)
        held_up = self._held_up(part) or (f"{taken[tree]} grows first" if tree in taken else None)
        if held_up is not None:
            return held_up
        most = min(wish.bounds.most - part.width, max(1, part.width))
        why = f"up to {wish.bounds.most}, as {wish.bounds.because}"
        if wish.granted is not None:
            room = self._in_queue(wish.granted, tree, most)
            if isinstance(room, str):
                return room
            most, why = room
        devices = self.devices.pods(part, most)
        if devices is None:
            return (most, why) if wish.granted is not None else "which devices are free cannot be told"
        if devices == 0:
            return "no device that its pods could have is free"
        return min(most, devices), why

    def _held_up(self, part: Part) -> str | None:
        pause = self.memory.pauses.get(part.uid)
        if not self.pace.grows and part.is_queued:
            return "this release of Kueue does not start a Job again that has grown and is evicted"
        if pause is not None and self.now < pause.until:
            return f"it was refused more, and asks again in {pause.until - self.now:.0f} s"
        if self.now - part.stepped < self.pace.settle:
            return "it has just been moved"
        if part.unplaced:
            return f"{part.unplaced} of its pods have no place yet"
        return None

    def _in_queue(self, granted: Object, tree: str, most: int) -> tuple[int, str] | str:
        queue, costs = self.queues.queue_of(granted) or "", pod_costs(granted)
        changing = self.queues.hindered(queue)
        if changing is not None:
            return changing
        room = self.queues.pods(queue, costs)
        if room is None:
            return "what its queue has free cannot be told"
        pods, why = room
        if pods < 1:
            return why
        waiting = next((each for each in self.queues.waiters if each.queue == queue), None)
        if waiting is not None:
            return f"{waiting.words} waits in its queue"
        return self._unborrowed(queue, costs, tree, (min(pods, most), why))

    def _unborrowed(
        self, queue: str, costs: Mapping[Cell, Fraction], tree: str, room: tuple[int, str]
    ) -> tuple[int, str] | str:
        """So much of it as needs no borrowing, while somebody of the tree waits."""
        waiting = next(
            (each for each in self.queues.waiters if self.queues.tree_of(each.queue) == tree), None
        )
        if waiting is None:
            return room
        own = next((n for n in range(room[0], 0, -1) if not self.queues.borrows(queue, costs, n)), 0)
        return (own, room[1]) if own else f"it would borrow, and {waiting.words} waits"


def _turn(wish: Wish) -> tuple[int, float, str, str]:
    return wish.part.width, fields.created(wish.part.job) or 0.0, wish.part.namespace, wish.part.name
