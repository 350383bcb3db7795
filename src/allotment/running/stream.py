"""Pages on their way: a bounded number is fetched ahead, and whichever is there first comes first.

A slow page holds up nobody. Fetching is bounded twice, by pages and by bytes, so that a volume of very
large pages does not fill the memory; one page is always under way. A page whose size is not known counts as
the largest that came. How long the work waited for pages is
measured: it is what tells a device that is too fast for its source.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from allotment.running.interrupts import Interrupts
from allotment.running.sources.source import Fetched, PageRef

MOST_FETCHERS = 4
MOST_BYTES = 256 * 1024 * 1024

Fetch = Callable[[PageRef], Fetched]


@dataclass(frozen=True, slots=True)
class Arrived:
    """A page that has come, or what became of it instead, and how many seconds it was waited for."""

    ref: PageRef
    fetched: Fetched | None
    error: Exception | None
    waited: float


class Stream:
    """Fetches pages ahead in threads of its own; iterate over it once, and close it."""

    def __init__(
        self,
        refs: Sequence[PageRef],
        fetch: Fetch,
        *,
        look_ahead: int,
        monotonic: Callable[[], float],
        interrupts: Interrupts,
        most_bytes: int = MOST_BYTES,
        fetchers: int = MOST_FETCHERS,
    ) -> None:
        self._refs = refs
        self._fetch = fetch
        self._look_ahead = look_ahead
        self._most_bytes = most_bytes
        self._monotonic = monotonic
        self._interrupts = interrupts
        self._wanted: SimpleQueue[PageRef | None] = SimpleQueue()
        self._counted: dict[int, int] = {}
        self._here: SimpleQueue[tuple[PageRef, Fetched | None, Exception | None]] = SimpleQueue()
        self._next = 0
        self._ahead = 0
        self._ahead_bytes = 0
        self._largest = 0
        self._closed = False
        self._threads = min(fetchers, look_ahead, len(refs))

    def start(self) -> None:
        """Begin to fetch; the first pages may come while models are still being loaded."""
        for number in range(self._threads):
            threading.Thread(target=self._work, name=f"fetch-{number}", daemon=True).start()
        self._want_more()

    def __iter__(self) -> Iterator[Arrived]:
        """Every page, in the order in which they come."""
        for _ in self._refs:
            ref, fetched, error, waited = self._take()
            self._ahead -= 1
            self._ahead_bytes -= self._counted.pop(ref.number)
            if fetched is not None:
                self._largest = max(self._largest, len(fetched.data))
            self._want_more()
            yield Arrived(ref, fetched, error, waited)

    def close(self) -> None:
        """Fetch nothing more."""
        self._closed = True
        for _ in range(self._threads):
            self._wanted.put(None)

    def _take(self) -> tuple[PageRef, Fetched | None, Exception | None, float]:
        try:
            return (*self._here.get_nowait(), 0.0)
        except Empty:
            began = self._monotonic()
        self._interrupts.begin_wait()
        try:
            came = self._here.get()
        finally:
            self._interrupts.end_wait()
        return (*came, self._monotonic() - began)

    def _want_more(self) -> None:
        while self._next < len(self._refs) and self._ahead < self._look_ahead:
            ref = self._refs[self._next]
            size = self._largest if ref.size is None else ref.size
            if self._ahead and self._ahead_bytes + size > self._most_bytes:
                return
            self._next += 1
            self._ahead += 1
            self._ahead_bytes += size
            self._counted[ref.number] = size
            self._wanted.put(ref)

    def _work(self) -> None:
        while (ref := self._wanted.get()) is not None and not self._closed:
            try:
                self._here.put((ref, self._fetch(ref), None))
            except Exception as error:  # noqa: BLE001 - it is passed on to who wanted the page
                self._here.put((ref, None, error))
