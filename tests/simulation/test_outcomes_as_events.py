"""What a simulation came to, told in the one format of events."""

from __future__ import annotations

from allotment.events.event import KINDS, parse_line
from allotment.simulation.as_events import events_of
from allotment.simulation.draws import Draws
from allotment.simulation.run_times import RunTimes
from allotment.simulation.setting import Scheduler
from allotment.simulation.simulate import simulate
from allotment.simulation.traces.clusters import alike, even_shares, setting_of
from allotment.simulation.traces.jobs import Job, JobEnd, JobKind
from allotment.simulation.traces.works import works_of

JOBS = (
    Job("one", 0, seconds=100),
    Job("bad", 0, seconds=50, end=JobEnd.FAILED),
    Job("gang", 10, pods=2, gpus=2, seconds=30),
    Job("web", 0, kind=JobKind.FLEET, pods=2),
    Job("late", 20, kind=JobKind.CAMPAIGN, pods=2, volumes=3, seconds=10),
)


def told() -> list[tuple[str, str, str | None]]:
    works = works_of(JOBS)
    setting = setting_of(Scheduler.SIMPLE, alike(1), even_shares({work.team for work in works}, 8))
    outcome = simulate(setting, works, RunTimes(), Draws(1), 10_000)
    events = events_of(outcome, works, since=1_800_000_000)
    assert all(parse_line(event.to_line()) == event for event in events)
    assert [event.time for event in events] == sorted(event.time for event in events)
    return [(event.kind, event.campaign, event.volume) for event in events]


def test_every_run_and_every_end_is_told_in_kinds_that_readers_know() -> None:
    found = told()
    assert {kind for kind, _, _ in found} <= set(KINDS)
    assert ("volume.completed", "one", "one") in found
    assert ("volume.failed", "bad", "bad") in found
    assert ("campaign.finished", "bad", None) in found
    assert ("gang.completed", "gang", None) in found
    assert sum(kind == "replica.started" for kind, name, _ in found if name == "gang") == 2
    assert ("fleet.started", "web", None) in found
    assert [volume for kind, name, volume in found if (kind, name) == ("volume.started", "late")] == [
        "late-1", "late-2", "late-3",
    ]  # fmt: skip
