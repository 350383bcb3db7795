"""How teams stood over time, where engines were killed: nobody has what others had by then."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.events.event import Event
from allotment.pictures.curves import value_at
from allotment.pictures.over_time import Steps
from allotment.planning.shares_over_time import shares_over_time

TOTAL = 8.0


def share(team: str, at: float, had: float, asked: float = 8.0, campaign: str = "c") -> Event:
    data = {"team_held": had, "fair": 4.0, "team_asked": asked, "total": TOTAL, "unit": "GPUs"}
    return Event("campaign.share", at, team, campaign, data=data)


def had(events: dict[str, list[Event]], until: float = 100.0) -> dict[str, Steps]:
    value = shares_over_time("here", events, since=0.0, until=until)
    return {queue.name: queue.allocated for queue in value.queues}


def begins(at: float, campaign: str = "c") -> Event:
    return Event("campaign.started", at, "letters", campaign)


def page(at: float) -> Event:
    return Event("page.done", at, "letters", "c", "v", "1")


@pytest.mark.parametrize(
    ("later", "shown"),
    [
        ([page(8), begins(20), share("letters", 20, 0), share("letters", 21, 3)], ((0, 5), (8, 0), (21, 3))),
        ([page(8), begins(20, "d"), share("letters", 20, 0, campaign="d")], ((0, 5), (8, 0))),
        # another of its engines lives: the new one tells what that has
        ([page(8), begins(20, "d"), share("letters", 20, 5, campaign="d")], ((0, 5),)),
        # it lives, and its last volume ended
        ([page(8), share("letters", 20, 0)], ((0, 5), (20, 0))),
    ],
)
def test_an_engine_that_begins_with_nothing_shows_that_the_last_one_was_killed(
    later: list[Event], shown: Steps
) -> None:
    assert had({"letters": [share("letters", 0, 5), *later]})["letters"] == shown


def test_what_others_have_by_then_a_killed_engine_has_not() -> None:
    events = {
        "archive": [share("archive", 0, 3), share("archive", 12, 8), share("archive", 30, 6)],
        "letters": [share("letters", 1, 5), page(10)],
    }
    assert had(events) == {"archive": ((0, 3), (12, 8), (30, 6)), "letters": ((0, 0), (1, 5), (12, 0))}
    events["letters"] += [begins(20), share("letters", 20, 0)]
    assert had(events)["letters"] == ((0, 0), (1, 5), (10, 0))


def test_of_several_the_one_silent_for_longest_had_it() -> None:
    events = {
        "archive": [share("archive", 0, 2), share("archive", 12, 4)],
        "letters": [share("letters", 0, 3), page(11)],
        "maps": [share("maps", 0, 3), Event("page.done", 9, "maps", "c", "v", "1")],
    }
    assert {team: steps[-1] for team, steps in had(events).items()} == {
        "archive": (12, 4),
        "letters": (0, 3),
        "maps": (12, 1),
    }


words = st.lists(
    st.tuples(
        st.sampled_from(["archive", "letters", "maps"]),
        st.floats(0, 2000),
        st.integers(0, 8),
        st.sampled_from(["campaign.share", "campaign.started", "page.done", "campaign.finished"]),
    ),
    min_size=1,
    max_size=30,
)


@given(words)
def test_nobody_has_more_than_there_is(told: list[tuple[str, float, int, str]]) -> None:
    events: dict[str, list[Event]] = {"archive": [], "letters": [], "maps": []}
    for team, at, number, kind in told:
        event = share(team, at, number) if kind == "campaign.share" else Event(kind, at, team, "c")
        events[team].append(event)
    shown = had(events, until=2000.0)
    moments = {at for steps in shown.values() for at, _ in steps}
    for at in moments:
        each = [value_at(steps, at) for steps in shown.values()]
        assert min(each) >= 0
        assert sum(each) <= TOTAL + 0.01
    for steps in shown.values():
        assert list(steps) == sorted(steps, key=lambda each: each[0])
