"""Manners towards a host: so many requests at once and no more, and none before it wants to be asked again.

Archives are public, and there are many of us: a host that says that it is busy (RFC 9110: Retry-After) is
left alone by everybody, not by that thread alone which was told. How many may ask it at once holds for the
threads of a worker, and through `SharedTurns` for all workers of this machine together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime

from allotment.running.sources.web.errors import UnreachableError
from allotment.running.sources.web.turns import LONGEST_PAUSE, SharedTurns, TooLateError

__all__ = ["LONGEST_PAUSE", "Manners", "retry_after"]


@dataclass(slots=True)
class _Host:
    slots: threading.BoundedSemaphore
    not_before: float = field(default=0.0)
    door: threading.Lock = field(default_factory=threading.Lock)


class Manners:
    """Turns at the hosts, for several threads; with ``shared``, they are those of all of this machine."""

    def __init__(
        self,
        at_once: int,
        *,
        monotonic: Callable[[], float],
        sleep: Callable[[float], object],
        shared: SharedTurns | None = None,
    ) -> None:
        self._at_once = at_once
        self._monotonic = monotonic
        self._sleep = sleep
        self._shared = shared
        self._hosts: dict[str, _Host] = {}
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, name: str, deadline: float) -> Iterator[None]:
        """Wait until the host may be asked; raises `UnreachableError` when that would be too late."""
        host = self._host(name)
        too_late = UnreachableError(f"{name} was too busy for the time that a page has", again=False)
        if not host.slots.acquire(timeout=max(0.0, deadline - self._monotonic())):
            raise too_late
        try:
            while (pause := host.not_before - self._monotonic()) > 0:
                if self._monotonic() + pause >= deadline:
                    raise too_late
                self._sleep(pause)
            with self._shared_turn(host, name, deadline, too_late):
                yield
        finally:
            host.slots.release()

    def leave_alone(self, name: str, seconds: float) -> None:
        """Ask the host nothing for so many seconds."""
        host = self._host(name)
        with self._lock:
            host.not_before = until = max(host.not_before, self._monotonic() + seconds)
        if self._shared is not None:
            self._shared.leave_alone(name, until)

    @contextmanager
    def _shared_turn(
        self, host: _Host, name: str, deadline: float, too_late: UnreachableError
    ) -> Iterator[None]:
        """A turn of this machine's; of the threads here, one at a time looks for one."""
        if self._shared is None:
            yield
            return
        if not host.door.acquire(timeout=max(0.0, deadline - self._monotonic())):
            raise too_late
        with ExitStack() as held:
            try:
                held.enter_context(self._shared.turn(name, deadline))
            except TooLateError:
                raise too_late from None
            finally:
                host.door.release()
            yield

    def _host(self, name: str) -> _Host:
        with self._lock:
            if name not in self._hosts:
                self._hosts[name] = _Host(threading.BoundedSemaphore(self._at_once))
            return self._hosts[name]


LONGEST_SAID = 999_999_999.0


def retry_after(header: str, now: float) -> float | None:
    """The seconds of a Retry-After header, a number or a date; None where it says nothing."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return min(max(0.0, moment.timestamp() - now), LONGEST_SAID)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
