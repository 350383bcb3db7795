from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.events.event import (
    KINDS,
    LONGEST_LINE,
    Event,
    format_time,
    parse_line,
    parse_lines,
    parse_time,
)

RIGHT = {"format_version": 1, "time": "2026-01-02T03:04:05Z", "kind": "x", "team": "t", "campaign": "c"}

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
events = st.builds(
    Event,
    kind=st.sampled_from(sorted(KINDS)),
    time=st.integers(0, 4_000_000_000_000).map(lambda milliseconds: milliseconds / 1000),
    team=names,
    campaign=names,
    volume=st.none() | names,
    page=st.none() | names,
    data=st.dictionaries(names, st.integers() | names | st.booleans(), max_size=3),
)


@given(events)
def test_an_event_comes_back_from_its_line_as_it_was(event: Event) -> None:
    line = event.to_line()
    assert "\n" not in line
    assert "\r" not in line
    assert parse_line(line) == event


def test_a_line_shows_its_time_as_people_read_it() -> None:
    line = Event("page.done", 1767323045.678, "t", "c", "v", "0001", {"seconds": 0.5}).to_line()
    assert json.loads(line) == {
        "format_version": 1,
        "time": "2026-01-02T03:04:05.678Z",
        "kind": "page.done",
        "team": "t",
        "campaign": "c",
        "volume": "v",
        "page": "0001",
        "data": {"seconds": 0.5},
    }


@pytest.mark.parametrize(
    "line",
    [
        "",
        "null",
        "[]",
        "{",
        '{"format_version":2,"time":"2026-01-02T03:04:05.678Z","kind":"x","team":"t","campaign":"c"}',
        '{"format_version":1,"time":"2026-01-02T03:04:05","kind":"x","team":"t","campaign":"c"}',
        '{"format_version":1,"time":"2026-01-02T03:04:05Z","kind":"x","team":"t"}',
        '{"format_version":1,"time":"2026-01-02T03:04:05Z","kind":1,"team":"t","campaign":"c"}',
        '{"format_version":1,"time":"2026-01-02T03:04:05Z","kind":"x","team":"t","campaign":"c","data":[]}',
        b"\xff\xfe",
        "[" * 100_000,
        b"[" * 5_000,
        json.dumps({**RIGHT, "data": {"message": "x" * LONGEST_LINE}}),
        json.dumps({**RIGHT, "time": "0001-01-01T00:00:00+23:59"}).replace("0001-01-01", "0000-00-00"),
    ],
)
def test_what_is_no_event_is_skipped(line: str | bytes) -> None:
    assert parse_line(line) is None


def test_kinds_and_keys_of_a_later_version_are_read() -> None:
    line = (
        '{"format_version":1,"time":"2026-01-02T03:04:05Z","kind":"new","team":"t","campaign":"c","later":1}'
    )
    assert [event.kind for event in parse_lines([line, "broken"])] == ["new"]


@given(st.floats(0, 4e9))
def test_times_keep_their_milliseconds(seconds: float) -> None:
    assert parse_time(format_time(seconds)) == pytest.approx(seconds, abs=0.001)
