"""What breaks into a worker and when, with real signals and a clock that is told."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator

import pytest

from allotment.running.board import Board
from allotment.running.endings import DeadlinePassed, PageTimeout, Stopped
from allotment.running.interrupts import SignalInterrupts
from allotment.running.limits import hard_grace, page_slack, soft_grace

NUMBERS = (signal.SIGTERM, signal.SIGALRM, signal.SIGINT)


class Told:
    """Interrupts by a clock that is told, and signals that really come."""

    def __init__(self) -> None:
        self.now = 100.0
        self.board = Board()
        self.interrupts = SignalInterrupts(
            page_seconds=600,
            grace_seconds=120,
            deadline=10_000.0,
            board=self.board,
            monotonic=lambda: self.now,
        )
        self.interrupts.install()

    def term(self) -> None:
        signal.raise_signal(signal.SIGTERM)

    def alarm(self) -> None:
        signal.raise_signal(signal.SIGALRM)

    def at(self, now: float) -> None:
        """Let the timer come at a time."""
        self.now = now
        self.alarm()


def on(board: Board) -> tuple[int | None, float | None]:
    """The page in flight on a board, and its end."""
    return board.page, board.page_end


@pytest.fixture
def told() -> Iterator[Told]:
    handlers = {number: signal.getsignal(number) for number in NUMBERS}
    told = Told()
    yield told
    told.interrupts.close()
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_nothing_is_raised_while_something_is_written(told: Told) -> None:
    told.term()
    told.at(20_000.0)
    with pytest.raises(Stopped):
        told.interrupts.check()


def test_told_to_end_while_it_waits_it_ends_at_once(told: Told) -> None:
    told.interrupts.begin_wait()
    with pytest.raises(Stopped):
        told.term()
    told.interrupts.end_wait()
    told.alarm()


def test_told_to_end_before_it_waits_it_does_not_wait(told: Told) -> None:
    told.term()
    with pytest.raises(Stopped):
        told.interrupts.begin_wait()
    told.alarm()


def test_told_to_end_within_a_page_it_has_the_grace_but_for_a_margin(told: Told) -> None:
    told.interrupts.begin_page(1)
    told.term()
    told.at(100.0 + soft_grace(120) - 0.1)
    with pytest.raises(Stopped):
        told.at(100.0 + soft_grace(120))
    with pytest.raises(Stopped):
        told.alarm()
    told.interrupts.end_page()
    told.alarm()
    with pytest.raises(Stopped):
        told.interrupts.check()


def test_told_twice_it_drops_the_page(told: Told) -> None:
    told.interrupts.begin_page(1)
    told.term()
    with pytest.raises(Stopped):
        told.term()


def test_a_page_has_its_limit(told: Told) -> None:
    told.interrupts.begin_page(7)
    assert on(told.board) == (7, 100.0 + 600 + page_slack(600))
    told.at(699.9)
    with pytest.raises(PageTimeout):
        told.at(700.0)
    told.interrupts.end_page()
    assert on(told.board) == (None, None)
    told.at(800.0)
    told.interrupts.check()
    told.interrupts.begin_page(8)
    told.at(1399.0)


@pytest.mark.parametrize("begin", [lambda i: i.begin_wait(), lambda i: i.begin_page(1)])
def test_the_deadline_ends_waits_and_pages(told: Told, begin: Callable[[SignalInterrupts], None]) -> None:
    begin(told.interrupts)
    with pytest.raises(DeadlinePassed):
        told.at(10_000.0)


def test_the_deadline_is_seen_between_pages(told: Told) -> None:
    told.now = 9_999.0
    told.interrupts.check()
    told.now = 10_000.0
    with pytest.raises(DeadlinePassed):
        told.interrupts.check()


def test_a_pause_is_broken_off_and_what_was_written_goes_on(told: Told) -> None:
    told.interrupts.sleep(0.0)
    told.term()
    with pytest.raises(Stopped):
        told.interrupts.sleep(1000.0)
    told.alarm()


def test_the_timer_is_set_for_what_comes_first(told: Told) -> None:
    told.interrupts.begin_page(1)
    assert signal.getitimer(signal.ITIMER_REAL)[0] == pytest.approx(600, abs=5)
    told.term()
    assert signal.getitimer(signal.ITIMER_REAL)[0] == pytest.approx(soft_grace(120), abs=5)
    with pytest.raises(Stopped):
        told.at(100.0 + soft_grace(120))
    assert signal.getitimer(signal.ITIMER_REAL)[0] <= 1.0
    told.interrupts.close()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize("grace", [0.5, 1, 3, 30, 120, 3600])
def test_margins_are_in_order(grace: float) -> None:
    assert 0 < soft_grace(grace) < hard_grace(grace) < grace


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the child only writes, and ends
def test_a_board_is_read_by_whoever_inherits_it() -> None:
    board = Board()
    assert (board.code, board.page, board.page_end, board.volume) == (None, None, None, None)
    pid = os.fork()
    if pid == 0:
        board.begin_volume({"volume": "v1", "attempt": 3})
        board.begin_page(12, 7.5)
        board.announce(13)
        os._exit(0)
    os.waitpid(pid, 0)
    assert (board.code, board.page, board.page_end) == (13, 12, 7.5)
    assert board.volume == {"volume": "v1", "attempt": 3}
    board.end_volume()
    assert board.volume is None
    board.begin_volume({"volume": "x" * 10_000})
    assert board.volume is None
