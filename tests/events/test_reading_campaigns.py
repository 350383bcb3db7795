from __future__ import annotations

from typing import Any

import pytest

from allotment.events.event import Event
from allotment.events.model import CampaignReader, CampaignState, VolumeState, fold


def event(kind: str, time: float, volume: str | None = None, page: str | None = None, **data: Any) -> Event:
    return Event(kind, time, "team", "letters", volume, page, data)


STARTED = [
    event("campaign.started", 0, volumes=3),
    event("volume.started", 10, "a", attempt=1, pages_total=4, pages_done=0, devices=["d/p/0"]),
]


def test_a_campaign_counts_its_volumes_and_pages() -> None:
    view = fold([*STARTED, event("page.done", 20, "a", "0001", pages_done=1, pages_total=4)])
    assert view.name == "letters"
    assert view.team == "team"
    assert view.state is CampaignState.RUNNING
    assert (view.pages_done, view.pages_total, view.volumes_total) == (1, 4, 3)
    assert view.number(VolumeState.RUNNING) == 1
    assert view.number(VolumeState.WAITING) == 2
    assert view.volumes["a"].devices == ("d/p/0",)
    assert view.volumes["a"].rate == pytest.approx(0.1)


@pytest.mark.parametrize("number", [1e999, 10**400, -1, True, "9", [], None])
def test_numbers_that_count_nothing_are_passed_over(number: object) -> None:
    garbage = {"pages_done": number, "pages_total": number, "pages_failed": number}
    last = [event("page.done", 20, "a", "0001", **garbage), event("page.failed", 30, "a", "0002", **garbage)]
    assert fold([*STARTED, *last]).volumes["a"].pages_total == 4


def test_lost_and_repeated_events_do_not_change_the_count() -> None:
    third = event("page.done", 30, "a", "0003", pages_done=3, pages_total=4)
    view = fold([*STARTED, third, third])
    assert view.pages_done == 3


@pytest.mark.parametrize(
    ("last", "state", "reason"),
    [
        (event("volume.completed", 50, "a", pages_done=3, pages_failed=1), VolumeState.COMPLETE, None),
        (event("volume.failed", 50, "a", reason="deadline", message="m"), VolumeState.FAILED, "deadline"),
        (event("volume.retrying", 50, "a", reason="bucket", message="m"), VolumeState.RETRYING, "bucket"),
        (event("volume.reclaimed", 50, "a", attempt=1), VolumeState.RECLAIMED, None),
        (event("volume.held", 50, "a", message="m"), VolumeState.HELD, None),
    ],
)
def test_how_a_volume_ended(last: Event, state: VolumeState, reason: str | None) -> None:
    volume = fold([*STARTED, last]).volumes["a"]
    assert volume.state is state
    assert volume.reason == reason
    assert volume.ended == 50
    assert volume.devices == ()


def test_a_new_attempt_forgets_why_the_last_one_failed() -> None:
    view = fold(
        [
            *STARTED,
            event("volume.retrying", 20, "a", reason="bucket", message="m"),
            event("volume.started", 30, "a", attempt=2, pages_total=4, pages_done=2),
            event("page.done", 34, "a", "0003", pages_done=3, pages_total=4),
        ]
    )
    volume = view.volumes["a"]
    assert (volume.state, volume.reason, volume.ended, volume.attempt) == (VolumeState.RUNNING, None, None, 2)
    assert volume.rate == pytest.approx(1 / 4)
    assert (volume.done_at_start, volume.done_before) == (2, 0)


def test_the_expected_end_takes_uncounted_volumes_for_average_ones() -> None:
    pages = [event("page.done", 10 + n, "a", f"{n:04d}", pages_done=n, pages_total=4) for n in (1, 2, 3)]
    view = fold([*STARTED, *pages])
    assert view.rate == pytest.approx(1.0)
    assert view.expected_end == pytest.approx(13 + 1 + 2 * 4)


def test_the_rate_sinks_while_nothing_comes() -> None:
    reader = CampaignReader("letters")
    for step in (
        *STARTED,
        event("page.done", 20, "a", pages_done=1),
        event("page.done", 30, "a", pages_done=2),
    ):
        reader.add(step)
    early, late = reader.view(30).rate, reader.view(110).rate
    assert early is not None
    assert late is not None
    assert late < early
    assert reader.view(1000).rate is None


def test_nothing_is_expected_of_a_campaign_that_does_not_run() -> None:
    pages = [event("page.done", 10 + n, "a", pages_done=n, pages_total=4) for n in (1, 2)]
    assert fold([*STARTED, *pages, event("campaign.stopped", 13, reason="asked")]).expected_end is None


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        ("campaign.finished", CampaignState.FINISHED),
        ("campaign.stopped", CampaignState.STOPPED),
        ("campaign.suspended", CampaignState.SUSPENDED),
        ("something.new", CampaignState.RUNNING),
    ],
)
def test_how_a_campaign_stands(kind: str, state: CampaignState) -> None:
    assert fold([*STARTED, event(kind, 99)]).state is state


def test_what_others_do_in_one_stream_changes_nothing() -> None:
    mixed = [*STARTED, Event("campaign.started", 1, "team", "other", data={"volumes": 1})]
    assert fold(mixed) == fold(STARTED)


def test_a_campaign_of_which_nothing_is_told_waits() -> None:
    assert fold([]).state is CampaignState.WAITING


def test_a_campaign_waits_until_something_of_it_starts() -> None:
    def event(kind: str, volume: str | None = None, **data: object) -> Event:
        return Event(kind, 1.0, "t", "c", volume, None, data)

    begun = [event("campaign.started", volumes=3), event("campaign.waiting", message="no card is free")]
    assert fold(begun).waits == "no card is free"
    for more in (
        event("volume.started", "v1", attempt=1),
        event("campaign.stopped"),
        event("campaign.started"),
    ):
        assert fold([*begun, more]).waits is None


@pytest.mark.parametrize(
    ("last", "word"),
    [
        ([], "reclaimed"),
        ([event("campaign.stopped", 60)], "stopped"),
        ([event("campaign.finished", 60)], "reclaimed"),
    ],
)
def test_what_was_told_to_end_as_all_of_it_was_stopped_is_stopped(last: list[Event], word: str) -> None:
    view = fold([*STARTED, event("volume.reclaimed", 50, "a", attempt=1), *last])
    assert view.word_of(view.volumes["a"]) == word
    assert view.volumes["a"].state is VolumeState.RECLAIMED
