"""The loop: time goes from one event to the next, everything of one moment is taken in, then it is decided.

A scheduler may decide as often as it wants to at one moment; what it says is carried out at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, log1p
from typing import Any, Final

from allotment.simulation.adapters.adapter import Adapter, MayRun, Start, Stop, Waits
from allotment.simulation.agenda import Agenda, News, What
from allotment.simulation.closing import closed
from allotment.simulation.draws import Draws
from allotment.simulation.machines import node_names
from allotment.simulation.outcome import Outcome
from allotment.simulation.pages import Pages
from allotment.simulation.pods import Pods
from allotment.simulation.record import Record
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Setting
from allotment.simulation.work import Work
from allotment.simulation.works import Works

HOUR: Final = 3600.0
_ROUNDS: Final = 10_000  # at one moment; more would be going round in a circle
_IDLE: Final = 3600.0  # after so long and so many rounds without an event, trying again will not do otherwise
_IN_VAIN: Final = 10


class Loop:
    """One simulation under way."""

    def __init__(
        self,
        *,
        setting: Setting,
        works: Sequence[Work],
        run_times: RunTimes,
        draws: Draws,
        until: float,
        log: int,
        adapter: Adapter,
    ) -> None:
        self.setting, self.all, self.draws, self.until, self.adapter = setting, works, draws, until, adapter
        self.agenda, self.news, record = Agenda(), News(), Record(log)
        pages = Pages(run_times, draws, setting.chances)
        self.pods = Pods(setting, pages, self.agenda, self.news, record, heeded=adapter.heeds_ready)
        self.works = Works(
            works, adapter=adapter, pods=self.pods, agenda=self.agenda, news=self.news, record=record
        )
        self.last = -inf
        self.handlers: Mapping[int, Callable[[Any], None]] = {
            What.GANG: self.pods.gang_over,
            What.END: self.pods.due,
            What.NODE: self._node,
            What.SYNC: self.pods.synced,
            What.OVER: self.works.ends,
            What.ARRIVAL: self.works.arrives,
            What.RETRY: self.pods.retries,
            What.READY: self.pods.ready,
        }
        self.carry_out: Mapping[type, Callable[[Any], None]] = {
            Start: self.pods.start,
            Stop: self.pods.stop,
            MayRun: self.works.may_run,
            Waits: self.works.waits,
        }

    def play(self) -> Outcome:
        """The whole course."""
        if self.setting.chances.node_lost_per_hour > 0:
            for name in node_names(self.setting):
                self._next_loss(name, 0)
        agenda, due, ending = self.agenda, inf, bool(self.works.unfinished)
        since, in_vain = 0.0, 0
        while not (ending and not self.works.unfinished and not self.works.coming):
            idle = not agenda.heap
            now = min(agenda.next, due)
            if now > self.until or now == inf or (in_vain > _IN_VAIN and now - since > _IDLE):
                break
            agenda.now = now
            self._take_in()
            self.works.tell()
            due, changed = self._rounds()
            since, in_vain = (now, 0) if changed or not idle else (since, in_vain + 1)
        until = self.until if self.until < inf else agenda.now
        return closed(self.pods, self.all, self.draws.seed, until, self.adapter.notes())

    def _take_in(self) -> None:
        while (event := self.agenda.take()) is not None:
            self.handlers[event[0]](event[1])

    def _rounds(self) -> tuple[float, bool]:
        """Let the adapter decide; when it wants to again, and whether it changed anything."""
        now, changed = self.agenda.now, False
        for _ in range(_ROUNDS):
            due = self.adapter.due(now)
            if due is None:
                return inf, changed
            if self.last < now:  # rounds at one moment are one
                due = max(due, self.last + self.setting.pace.coarse)
            if due > now:
                return due, changed
            orders = self.adapter.round(now)
            self.last = now
            for order in orders:
                self.carry_out[type(order)](order)
                changed = changed or not isinstance(order, Waits)
            self._take_in()
            self.works.tell()
        raise RuntimeError(f"the scheduler {self.setting.scheduler} goes round in a circle at {now} s")

    def _next_loss(self, name: str, number: int) -> None:
        chances = self.setting.chances
        after = -log1p(-self.draws.number("node", name, number)) * HOUR / chances.node_lost_per_hour
        self.agenda.at(self.agenda.now + after, What.NODE, (name, False, number))

    def _node(self, payload: tuple[str, bool, int]) -> None:
        """A node is lost, with all that is on it, or back."""
        name, up, number = payload
        self.news.nodes.append((name, up))
        if up:
            self._next_loss(name, number + 1)
            return
        back = self.agenda.now + self.setting.chances.node_back_hours * HOUR
        self.agenda.at(back, What.NODE, (name, True, number))
        self.pods.lost_with(name)
