"""How the teams of a machine stood over time, from what their engines told: the value of a picture.

An engine tells how its team stands whenever that changes, and every five minutes (`campaign.share`), on each
of its works' records. A team has nothing once all of its works have ended. A killed engine tells no end, and
its team has nothing from its last word on where nothing was told for a while, or where the next engine begins
with nothing; what others have by then, it has not: the newer word holds. Reclaims are those events that say
for whom.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from allotment.events.event import Event
from allotment.pictures.over_time import QueueOverTime, Reclaimed, SharesOverTime, Steps

SHARE: Final = "campaign.share"
ENDS: Final = frozenset(
    {
        "campaign.finished",
        "campaign.stopped",
        "campaign.suspended",
        "fleet.stopped",
        "gang.completed",
        "gang.failed",
        "gang.stopped",
    }
)
BEGINS: Final = frozenset({"campaign.started", "fleet.started"})
HEARD_SECONDS: Final = 600.0
"""For how long a team stands as it was told last."""
NOISE: Final = 0.01
"""Engines tell amounts to the thousandth, so that sums are no nearer."""
TAKEN: Final = frozenset({"volume.reclaimed", "replica.given-back"})
Point = tuple[float, float, float, float]
"""A moment, and what a team had, was to have and asked for."""


@dataclass(slots=True)
class _Course:
    """One team while its events are read."""

    points: list[Point] = field(default_factory=list)
    open: set[str] = field(default_factory=set)
    data: Mapping[str, Any] = field(default_factory=dict)
    heard: float = 0.0
    silent: float | None = None
    """The last word before an engine began that has not told yet how the team stands."""

    @property
    def has(self) -> float:
        """What it has, as far as events are read."""
        return self.points[-1][1] if self.points else 0.0

    def take(self, event: Event) -> None:
        """Take one of its events."""
        self.listen(event.time)
        if event.kind in BEGINS and self.silent is None:
            self.silent = self.heard
        self.heard = event.time
        if event.kind == SHARE:
            self.data = event.data
            had, fair, asked = (_number(event, key) for key in ("team_held", "fair", "team_asked"))
            if self.silent is not None and not had:
                self._gone(self.silent)
            self.silent = None
            self.open.add(event.campaign)
            self.points.append((event.time, had, fair, asked))
        elif event.kind in ENDS:
            self.open.discard(event.campaign)
            if not self.open and self.points:
                self.points.append((event.time, 0.0, 0.0, 0.0))

    def listen(self, now: float) -> None:
        """Let it have nothing from its last word on, if that is long ago."""
        if now > self.heard + HEARD_SECONDS:
            self._gone(self.heard)

    def _gone(self, since: float) -> None:
        """Nobody tells for it from that moment on."""
        if self.points and any(self.points[-1][1:]):
            self.points = [*(each for each in self.points if each[0] <= since), (since, 0.0, 0.0, 0.0)]
            self.open.clear()

    def lose(self, most: float, now: float) -> float:
        """Let it have less by so much, if it has that; how much less it has."""
        less = min(most, self.has)
        if less > 0:
            _, had, fair, asked = self.points[-1]
            self.points.append((now, had - less, fair, asked))
        return less

    def bound(self, key: str) -> float | None:
        """A number of its queue, as it was told last."""
        value = self.data.get(key)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def shares_over_time(
    name: str, events: Mapping[str, Iterable[Event]], *, since: float, until: float
) -> SharesOverTime:
    """The teams' shares from their events (by team, in any order) between two moments of Unix time."""
    courses = {team: _Course() for team in events}
    reclaims: list[Reclaimed] = []
    listed = [(event, team) for team, told in events.items() for event in told]
    for event, team in sorted(listed, key=lambda each: each[0].time):
        courses[team].take(event)
        if event.kind == SHARE:
            _hold_to_total(courses.values(), courses[team], event.time)
        whom = event.data.get("whom")
        if event.kind in TAKEN and isinstance(whom, str) and since <= event.time <= until:
            reclaims.append(Reclaimed(event.time, team, whom, said=str(event.data.get("message", ""))))
    for course in courses.values():
        course.listen(until)
    courses = {team: course for team, course in courses.items() if course.points}
    moments = [point[0] for course in courses.values() for point in course.points]
    first = max(since, min(moments, default=since))
    last = min(until, max(moments, default=until))
    totals = [total for course in courses.values() if (total := course.bound("total")) is not None]
    units = [unit for course in courses.values() if isinstance(unit := course.data.get("unit"), str)]
    return SharesOverTime(
        name,
        tuple(_queue(team, course, first, last) for team, course in courses.items()),
        until=max(0.0, last - first),
        total=max(totals, default=None),
        unit=units[0] if units else "GPUs",
        reclaims=tuple(
            Reclaimed(each.at - first, each.queue, each.by, each.amount, each.said)
            for each in sorted(reclaims, key=lambda each: each.at)
            if each.at >= first
        ),
        clock=datetime.fromtimestamp(first, UTC),
        is_past=True,
    )


def _hold_to_total(courses: Iterable[_Course], teller: _Course, now: float) -> None:
    """Take what is told beyond all there is from those who have been silent for longest."""
    total, others = teller.bound("total"), [each for each in courses if each is not teller]
    if total is None:
        return
    for each in others:
        each.listen(now)
    beyond = teller.has + sum(each.has for each in others) - total
    for each in sorted(others, key=lambda each: each.heard):
        if beyond > NOISE:
            beyond -= each.lose(beyond, now)


def _queue(team: str, course: _Course, first: float, last: float) -> QueueOverTime:
    had, fair, asked = (tuple(_steps(course.points, place, first, last)) for place in (1, 2, 3))
    return QueueOverTime(
        team,
        course.bound("quota"),
        course.bound("limit"),
        course.bound("weight"),
        fair=fair,
        allocated=had,
        asked=asked,
    )


def _steps(points: Sequence[Point], place: int, first: float, last: float) -> Iterator[tuple[float, float]]:
    """Where a value changes, from the first moment on."""
    before = [point for point in points if point[0] <= first]
    value = before[-1][place] if before else 0.0
    yield 0.0, value
    for point in points:
        if first < point[0] <= last and point[place] != value:
            value = point[place]
            yield point[0] - first, value


def mean(steps: Steps, until: float) -> float:
    """The mean of a value over the time."""
    if until <= 0:
        return steps[-1][1] if steps else 0.0
    ends = [moment for moment, _ in steps[1:]] + [until]
    return sum(value * (end - begin) for (begin, value), end in zip(steps, ends, strict=True)) / until


def _number(event: Event, key: str) -> float:
    value = event.data.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
