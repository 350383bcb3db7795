"""A source that cannot be reached: never a hole in a complete volume, tried again later and later, told."""

from __future__ import annotations

from pathlib import Path

import pytest

from allotment.buckets.bucket import BucketUnavailable, ObjectRefused
from allotment.events.event import Event
from allotment.events.model import fold
from allotment.running.attempts import mark_retry
from allotment.running.endings import EXIT_FAILED, EXIT_PERMANENT
from allotment.running.engine.completed import read_completed
from allotment.running.engine.indexes import Indexes
from allotment.running.engine.source_pauses import PAUSES, source_pause
from allotment.running.page import Page, PageRefused
from allotment.running.sources.source import NotNowError
from tests.running.world import World, refusing

OUT_OF_REACH = NotNowError("http://a.example/2: nobody answers there (tried 4 times)")


def world_with(error: Exception, retries: int = 2) -> World:
    world = World()
    world.limited(retries=retries)
    world.files["v1"][1] = ("p2.txt", error)
    return world


@pytest.mark.parametrize("error", [OUT_OF_REACH, BucketUnavailable("the bucket does not answer")])
def test_a_page_that_could_not_be_reached_never_becomes_a_hole(error: Exception) -> None:
    world = world_with(error)
    assert [world.run().code for _ in range(3)] == [EXIT_FAILED, EXIT_FAILED, EXIT_PERMANENT]
    assert world.keys().manifest not in world.bucket.objects
    outcome = world.run()
    assert (outcome.code, outcome.reason) == (EXIT_PERMANENT, "source-unreachable")
    assert outcome.message.startswith(f"its source could not be reached: {error}")
    assert "this was the last attempt" in outcome.message
    assert world.done == ["0001", "0003"], "what could be reached is done, once"


def test_after_a_retry_a_volume_whose_source_is_back_is_whole() -> None:
    world = world_with(OUT_OF_REACH, retries=0)
    assert world.run().code == EXIT_PERMANENT
    mark_retry(world.bucket, world.keys(), by="somebody", now=world.now)
    world.give("v1", pages=3)
    assert world.run().code == 0
    assert world.manifest()["counts"] == {"pages": 3, "done": 3, "failed": 0}
    assert world.done == ["0001", "0003", "0002"]


def test_what_will_not_change_stays_a_hole_beside_what_may() -> None:
    world = world_with(PageRefused("it is not there: the server answers 404 (Not Found)"), retries=0)
    assert world.run().code == 0
    assert world.manifest()["counts"] == {"pages": 3, "done": 2, "failed": 1}


def test_an_object_that_is_none_is_a_hole_in_the_end() -> None:
    world = world_with(ObjectRefused("it is a link"), retries=0)
    assert world.run().code == 0
    assert world.manifest()["counts"]["failed"] == 1


def test_that_a_source_is_out_of_reach_comes_before_what_a_step_makes_of_its_pages() -> None:
    world = world_with(OUT_OF_REACH)
    world.files["v1"][2] = ("p3.txt", OUT_OF_REACH)

    def step(page: Page, earlier: object) -> dict[str, bytes]:
        raise ValueError

    outcome = world.run(step=step)
    assert outcome.reason == "source-unreachable"
    assert "(and 1 more of its pages)" in outcome.message


def test_pages_that_a_step_refuses_do_not_hide_that_others_are_out_of_reach() -> None:
    world = world_with(OUT_OF_REACH, retries=0)
    assert world.run(step=refusing("0001", "0003")(world)).reason == "source-unreachable"


def retrying(reason: str = "source-unreachable", **data: object) -> Event:
    return Event("volume.retrying", 100.0, "t", "c", "v1", None, {"reason": reason, **data})


@pytest.mark.parametrize(
    ("event", "pause"),
    [
        (retrying(failures=1), 10.0),
        (retrying(failures=2), 60.0),
        (retrying(failures=3), 300.0),
        (retrying(failures=9), 300.0),
        (retrying(), 10.0),
        (retrying("page-error", failures=1), 0.0),
        (Event("volume.failed", 100.0, "t", "c", "v1", None, {"reason": "source-unreachable"}), 0.0),
    ],
)
def test_the_pauses_grow_and_are_spread_by_chance(event: Event, pause: float) -> None:
    assert source_pause(event, 0.5) == pause
    assert source_pause(event, 0.0) == 0.75 * pause
    assert source_pause(event, 1.0) == 1.25 * pause


def test_an_index_waits_no_less_than_its_source_needs() -> None:
    indexes = Indexes(1)
    now = 0.0
    for pause in PAUSES:
        indexes.started(0)
        assert indexes.failed_for_now(0, now, at_least=pause) == pause
        indexes.wake(now + pause - 0.1)
        assert indexes.next_waiting(1) == []
        now += pause
        indexes.wake(now)
        assert indexes.next_waiting(1) == [0]


def test_who_looks_on_sees_when_the_next_try_is() -> None:
    view = fold([retrying(next_try=158.0)]).volumes["v1"]
    assert view.next_try == 158.0
    started = Event("volume.started", 158.0, "t", "c", "v1", None, {"attempt": 2})
    assert fold([retrying(next_try=158.0), started]).volumes["v1"].next_try is None


def test_an_address_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    world = world_with(PageRefused("p2.txt: it is not there"))
    assert world.run().code == 0
    (event,) = (event for event in world.sink.events if event.kind == "page.failed")
    assert event.data["message"] == "p2.txt: it is not there"
    assert "page 0002 (p2.txt) failed: it is not there" in caplog.text
    completed = read_completed(world.bucket, world.keys(), Path(), None)
    assert [(fault.source, fault.message) for fault in completed.faults] == [("p2.txt", "it is not there")]
