"""Lines with lanes beside the plainest line that could be right: two dictionaries, gone through each time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from allotment.scheduling.kueue.charges import info_of
from allotment.scheduling.kueue.decisions import Reason, Requeue
from allotment.scheduling.kueue.pending import Pending, Queued, pop, push, requeue, wake
from allotment.scheduling.kueue.settings import Settings
from allotment.scheduling.state.queues import Strategy
from tests.scheduling.kueue.scenes import job

REASONS = st.sampled_from([Requeue.NO_FIT, Requeue.GENERIC, Requeue.AFTER_NOMINATION, Requeue.PREEMPTION])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["push", "push", "push", "head", "head", "wake", "without"]),
        st.integers(0, 7),  # which workload
        st.integers(0, 2),  # its shape
        st.integers(0, 2),  # its priority
        st.booleans(),  # ready
        REASONS,
    ),
    max_size=40,
)


@dataclass
class Plain:
    """A best-effort line, without anything that makes it fast."""

    active: dict[str, Queued] = field(default_factory=dict)
    aside: dict[str, Queued] = field(default_factory=dict)
    parked: set[str | None] = field(default_factory=set)
    cycle: int = 0
    woken: int = -1
    sticky: str | None = None

    def push(self, queued: Queued, *, ready: bool) -> None:
        key = queued.info.key
        old = self.aside.pop(key, None)
        here = key in self.active
        same = old is not None and old.info.workload == queued.info.workload
        if same or (not here and (not ready or queued.info.shape in self.parked)):
            self.aside[key] = queued
        else:
            self.active[key] = queued

    def pop(self) -> Queued | None:
        self.cycle += 1
        if not self.active:
            return None
        if self.sticky in self.active:
            return self.active.pop(self.sticky or "")
        return self.active.pop(min(self.active.values(), key=lambda each: each.rank).info.key)

    def requeue(self, queued: Queued, why: Requeue, *, ready: bool) -> None:
        key = queued.info.key
        self.sticky = key if why is Requeue.PREEMPTION else self.sticky
        at_once = why in {Requeue.AFTER_NOMINATION, Requeue.PREEMPTION}
        if ready and (at_once or self.woken >= self.cycle):
            self.active[key] = queued
            return
        self.aside[key] = queued
        if why is Requeue.NO_FIT:
            self.parked.add(queued.info.shape)
            for other in [each for each in self.active.values() if each.info.shape == queued.info.shape]:
                self.aside[other.info.key] = self.active.pop(other.info.key)

    def wake(self, ready: set[str]) -> None:
        self.woken, self.parked = self.cycle, set()
        for key in [key for key in self.aside if key in ready]:
            self.active[key] = self.aside.pop(key)

    def without(self, key: str) -> None:
        self.active.pop(key, None)
        self.aside.pop(key, None)
        self.sticky = None if self.sticky == key else self.sticky


def queued_of(number: int, shape: int, priority: int) -> Queued:
    info = replace(
        info_of(job(f"j{number}", cpu=shape, priority=priority), "a", Settings()), shape=str(shape)
    )
    return Queued(info, (-priority, float(number), "", info.key))


@given(STEPS)
@settings(deadline=None, max_examples=150)
def test_lanes_say_what_the_plainest_line_says(steps: list[tuple[Any, ...]]) -> None:
    line, plain, best = Pending(), Plain(), Strategy.BEST_EFFORT
    readiness: dict[str, bool] = {}
    for step, number, shape, priority, ready, why in steps:
        queued = queued_of(number, shape, priority)
        key = queued.info.key
        if step == "push":
            readiness[key] = ready
            line = push(line, queued, best, ready=ready)
            plain.push(queued, ready=ready)
        elif step == "head":
            head, line = pop(line)
            assert head == plain.pop()
            if head is not None:
                able = readiness[head.info.key]
                line = requeue(line, head, best, why, Reason.WAITING, ready=able)
                plain.requeue(head, why, ready=able)
        elif step == "wake":
            line = wake(line, lambda _: True, lambda info: readiness[info.key])
            plain.wake({name for name, able in readiness.items() if able})
        else:
            line = line.without(key)
            plain.without(key)
        assert line.active == plain.active
        assert line.aside == plain.aside
