from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from allotment.events.event import Event, parse_line
from allotment.events.sinks import PipeSink

Pipe = tuple[int, int]


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    read, write = os.pipe()
    yield read, write
    for descriptor in (read, write):
        try:
            os.close(descriptor)
        except OSError:
            continue


def event(number: int) -> Event:
    return Event(
        "page.done", float(number), "team", "campaign", "volume", data={"number": number, "pad": "x" * 500}
    )


def drained(descriptor: int) -> bytes:
    os.set_blocking(descriptor, False)
    collected = b""
    while True:
        try:
            part = os.read(descriptor, 1 << 20)
        except BlockingIOError:
            return collected
        if not part:
            return collected
        collected += part


def test_a_slow_reader_gets_whole_lines_in_order_and_never_stops_the_writer(pipe: Pipe) -> None:
    read, write = pipe
    sink = PipeSink(write)
    for number in range(5000):
        sink.emit(event(number))
    assert sink.dropped > 0
    collected = b""
    while part := drained(read):
        collected += part
        sink.flush()
    numbers = []
    for line in collected.splitlines():
        parsed = parse_line(line)
        assert parsed is not None
        numbers.append(parsed.data["number"])
    assert numbers == list(range(len(numbers)))
    assert len(numbers) + sink.dropped == 5000
    sink.emit(event(7777))
    assert b'"number":7777' in drained(read)


def test_a_reader_that_is_gone_is_no_fault(pipe: Pipe) -> None:
    read, write = pipe
    sink = PipeSink(write)
    os.close(read)
    sink.emit(event(1))
    sink.emit(event(2))
    assert sink.dropped == 1
