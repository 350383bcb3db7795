"""Long work says how far it is, also where nobody looks on; what is over soon says nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from allotment.cli.progress import EVERY, Progress


class Waiting:
    """Time that passes at once, so many times."""

    def __init__(self, times: int) -> None:
        self.now, self.left = 100.0, times

    def clock(self) -> float:
        return self.now

    def waits(self, seconds: float) -> bool:
        self.now += seconds
        self.left -= 1
        return self.left < 0


def beaten(times: int, said: Iterator[str]) -> None:
    time = Waiting(times)
    progress = Progress("preparing", clock=time.clock, waits=time.waits)

    def waits(seconds: float) -> bool:
        over = time.waits(seconds)
        text = next(said, None)
        if text is not None:
            progress(text)
        return over

    progress._waits = waits
    progress.beat()


def test_into_a_pipe_a_plain_line_is_written_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    beaten(3, iter(["preparing", "playing: 0 of 63 draws", "playing: 12 of 63 draws"]))
    assert capsys.readouterr() == (
        "",
        "preparing, 10 s\nplaying: 0 of 63 draws, 20 s\nplaying: 12 of 63 draws, 30 s\n",
    )
    assert EVERY == 10.0


def test_what_is_over_soon_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("preparing") as progress:
        progress.draws("playing", 1, 2)
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_one_line_is_drawn_over_and_taken_away(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Progress("preparing") as progress:
        progress.draws("kai", 1_000, 2_000)
        progress("an\x1b[31m escape")
    told = capsys.readouterr().err
    assert told.startswith("\r\x1b[Kkai: 1,000 of 2,000 draws\r\x1b[K")
    assert "\x1b[31m" not in told
    assert told.endswith("\r\x1b[K")


def test_on_a_terminal_one_long_step_shows_the_time_that_passes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    time = Waiting(12)
    progress = Progress("preparing", clock=time.clock, waits=time.waits)
    progress.draws("kai", 0, 10)
    progress.beat()
    told = capsys.readouterr().err.split("\r\x1b[K")
    assert told == ["", "kai: 0 of 10 draws", *(f"kai: 0 of 10 draws, {passed} s" for passed in (10, 11, 12))]


def test_what_takes_long_says_how_long_the_rest_takes(capsys: pytest.CaptureFixture[str]) -> None:
    time = Waiting(0)
    progress = Progress("preparing", clock=time.clock, waits=time.waits)
    said = []
    for name, done, seconds in (("default", 1, 5), ("kai", 0, 0), ("kai", 2, 120), ("kai", 10, 600)):
        time.now += seconds
        progress.draws(name, done, 10)
        said.append(progress._said)
    assert said == [
        "default: 1 of 10 draws",
        "kai: 0 of 10 draws",
        "kai: 2 of 10 draws, at this pace 8 min more",
        "kai: 10 of 10 draws",
    ]
    assert capsys.readouterr().err == ""
