from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from allotment.running.interrupts import Interrupts
from allotment.running.page import PageRefused, page_name
from allotment.running.sources.source import Fetched, PageRef
from allotment.running.stream import Arrived, Stream

PATIENCE = 10.0


def refs(count: int, size: int = 1) -> list[PageRef]:
    return [PageRef(number, page_name(number), f"p{number}", size) for number in range(1, count + 1)]


def fetched(ref: PageRef) -> Fetched:
    return Fetched(ref.source.encode(), "text/plain", "")


def streamed(
    pages: list[PageRef],
    fetch: Callable[[PageRef], Fetched] = fetched,
    *,
    look_ahead: int = 3,
    most_bytes: int = 1000,
    monotonic: Callable[[], float] = lambda: 0.0,
) -> Stream:
    stream = Stream(
        pages,
        fetch,
        look_ahead=look_ahead,
        monotonic=monotonic,
        interrupts=Interrupts(),
        most_bytes=most_bytes,
    )
    stream.start()
    return stream


class Gate:
    """Fetches that wait until they are let through; knows how many were begun."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.open = {number: threading.Event() for number in range(1, 100)}
        self._changed = threading.Condition()

    def __call__(self, ref: PageRef) -> Fetched:
        with self._changed:
            self.begun.append(ref.name)
            self._changed.notify_all()
        assert self.open[ref.number].wait(PATIENCE)
        return fetched(ref)

    def until_begun(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.begun) >= count, PATIENCE)


@pytest.mark.parametrize("look_ahead", [1, 2, 50])
def test_every_page_comes_once(look_ahead: int) -> None:
    arrived = list(streamed(refs(20), look_ahead=look_ahead))
    assert sorted(one.ref.number for one in arrived) == list(range(1, 21))
    assert all(one.fetched is not None and one.fetched.data == one.ref.source.encode() for one in arrived)


def test_a_slow_page_holds_up_nobody() -> None:
    gate = Gate()
    for number in (2, 3, 4):
        gate.open[number].set()
    stream = iter(streamed(refs(4), gate))
    assert {next(stream).ref.number for _ in range(3)} == {2, 3, 4}
    gate.open[1].set()
    assert next(stream).ref.number == 1


def test_no_more_is_fetched_ahead_than_asked() -> None:
    gate = Gate()
    stream = iter(streamed(refs(10), gate, look_ahead=2))
    gate.until_begun(2)
    assert sorted(gate.begun) == ["0001", "0002"]
    gate.open[1].set()
    assert next(stream).ref.number == 1
    gate.until_begun(3)
    assert len(gate.begun) == 3
    for event in gate.open.values():
        event.set()
    assert len(list(stream)) == 9


def test_large_pages_are_not_gathered_but_one_is_always_under_way() -> None:
    gate = Gate()
    stream = iter(streamed(refs(5, size=600), gate, look_ahead=4, most_bytes=1000))
    gate.until_begun(1)
    assert gate.begun == ["0001"]
    for number, event in gate.open.items():
        event.set()
        if number <= 5:
            assert next(stream).ref.number == number
    with pytest.raises(StopIteration):
        next(stream)


def test_pages_of_unknown_size_count_as_the_largest_that_came() -> None:
    pages = [PageRef(number, page_name(number), "x" * 600, None) for number in range(1, 9)]
    gate = Gate()
    stream = iter(streamed(pages, gate, look_ahead=4, most_bytes=1500))
    gate.until_begun(4)
    for number in range(1, 5):
        gate.open[number].set()
        next(stream)
    gate.until_begun(6)
    assert len(gate.begun) == 6, "two pages of 600 bytes are within 1500, and not four"
    for event in gate.open.values():
        event.set()
    assert len(list(stream)) == 4


def test_a_source_says_how_many_pages_are_worth_fetching_at_once() -> None:
    gate = Gate()
    stream = Stream(
        refs(20), gate, look_ahead=12, monotonic=lambda: 0.0, interrupts=Interrupts(), fetchers=10
    )
    stream.start()
    gate.until_begun(10)
    for event in gate.open.values():
        event.set()
    assert len(list(stream)) == 20


def test_what_goes_wrong_comes_instead_of_the_page() -> None:
    errors: dict[int, Exception] = {1: PageRefused("no"), 2: OSError("gone"), 3: ValueError("odd")}

    def fetch(ref: PageRef) -> Fetched:
        if ref.number in errors:
            raise errors[ref.number]
        return fetched(ref)

    arrived: dict[int, Arrived] = {one.ref.number: one for one in streamed(refs(4), fetch)}
    assert {number: one.error for number, one in arrived.items() if one.fetched is None} == errors


def test_the_wait_for_a_page_is_measured_and_nothing_else() -> None:
    now = [0.0]
    gate = Gate()

    def monotonic() -> float:
        now[0] += 5.0
        for event in gate.open.values():
            event.set()
        return now[0]

    first, second = streamed(refs(2), gate, look_ahead=1, monotonic=monotonic)
    assert first.waited == 5.0
    assert second.waited in {0.0, 5.0}


def test_a_closed_stream_fetches_nothing_more() -> None:
    gate, before = Gate(), set(threading.enumerate())
    stream = streamed(refs(50), gate, look_ahead=10)
    gate.until_begun(4)
    fetchers = set(threading.enumerate()) - before
    assert len(fetchers) == 4
    stream.close()
    for event in gate.open.values():
        event.set()
    for thread in fetchers:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert len(gate.begun) == 4
