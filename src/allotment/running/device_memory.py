"""How much of its cards' memory a worker has used at most: what a need for less than a card is measured by.

Five times a second NVIDIA's library is asked which processes use a card and how much; what counts are this
worker and everything below it. In a container the library names processes by numbers that mean nothing there;
then what the card has more in use than at the start stands in, which is as good while nobody else is on the
card. A worker without a card has no thread and loads nothing.

Where workers share a card, each has a share of its memory, and two questions matter: did this worker use more
than its share, and did others use so much that its share was not there? The second counts only processes that
are here to be seen.
"""

from __future__ import annotations

import importlib
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final, Protocol

from allotment.running.processes import parent_of

EVERY_SECONDS: Final = 0.2
VARIABLE: Final = "CUDA_VISIBLE_DEVICES"
BY_PROCESS: Final = "process"
BY_CARD: Final = "card"
_PREFIXES: Final = ("GPU-", "MIG-")
_DEEPEST: Final = 64
_QUESTIONS: Final = ("nvmlDeviceGetComputeRunningProcesses", "nvmlDeviceGetMPSComputeRunningProcesses")

log = logging.getLogger(__name__)


class DeviceMemory(Protocol):
    """What is known of device memory; None for a worker without a card."""

    def page(self) -> Mapping[str, Any]:
        """The most since the last call, as it stands under ``measured`` of a page, how, and on which card."""

    def measured(self) -> Mapping[str, Any]:
        """The most so far, as it stands under ``measured``, and how it was told."""

    def crowded(self) -> int | None:
        """The bytes that others had in use when they left this worker less than its share; None: never."""


class NoDeviceMemory:
    """No card, nothing to measure."""

    def page(self) -> Mapping[str, Any]:
        """Nothing."""
        return {}

    def measured(self) -> Mapping[str, Any]:
        """Nothing."""
        return {}

    def crowded(self) -> int | None:
        """Nobody."""
        return None


class CardMemory:
    """The peak of some cards, from one sample after another; ``share`` is what may be used of them."""

    def __init__(
        self, nvml: Any, cards: tuple[Any, ...], is_ours: Callable[[int], bool], share: int | None = None
    ) -> None:
        self._nvml = nvml
        self._cards = cards
        self._is_ours = is_ours
        self._share = share
        self._total = 0 if share is None else sum(self._size(card) for card in cards)
        self._others = 0
        self._lock = threading.Lock()
        self._name = " + ".join(dict.fromkeys(filter(None, map(self._name_of, cards))))
        self._at_start = sum(self._used(card) for card in cards)
        self._peaks = {BY_PROCESS: 0, BY_CARD: 0}
        self._page = {BY_PROCESS: 0, BY_CARD: 0}

    def sample(self) -> None:
        """Look once."""
        ours, others = map(sum, zip(*map(self._by_processes, self._cards), strict=True))
        now = {
            BY_PROCESS: ours,
            BY_CARD: max(0, sum(self._used(card) for card in self._cards) - self._at_start),
        }
        with self._lock:
            self._others = max(self._others, others)
            for way, amount in now.items():
                self._peaks[way] = max(self._peaks[way], amount)
                self._page[way] = max(self._page[way], amount)

    def page(self) -> Mapping[str, Any]:
        """The most since the last call, with one look now: a short page may lie between two samples."""
        self.sample()
        with self._lock:
            page, self._page = self._page, {BY_PROCESS: 0, BY_CARD: 0}
            return self._told(page)

    def measured(self) -> Mapping[str, Any]:
        """The most so far, and whether processes or the card told it."""
        self.sample()
        with self._lock:
            return self._told(self._peaks)

    def excess(self) -> int | None:
        """The most that was used, where that was more than the share."""
        with self._lock:
            peak = self._peaks[BY_PROCESS]
        return peak if self._share is not None and peak > self._share else None

    def crowded(self) -> int | None:
        """The bytes that others had in use when they left this worker less than its share; None: never."""
        if self._share is None:
            return None
        self.sample()
        with self._lock:
            return self._others if self._others > self._total - self._share else None

    def _told(self, peaks: Mapping[str, int]) -> Mapping[str, Any]:
        told = {"peak_device_memory_bytes": peaks[self._way], "device_memory_told_by": self._way}
        return {**told, "card": self._name} if self._name else told

    @property
    def _way(self) -> str:
        return BY_PROCESS if self._peaks[BY_PROCESS] else BY_CARD

    def _by_processes(self, card: Any) -> tuple[int, int]:
        """What our processes use of a card, and what those of others do that are here to be seen."""
        ours = others = 0
        for pid, used in self._processes(card).items():
            if self._is_ours(pid):
                ours += used
            elif self._share is not None and parent_of(pid) is not None:
                others += used
        return ours, others

    def _processes(self, card: Any) -> Mapping[int, int]:
        """What processes use of a card, those of MPS too."""
        found: dict[int, int] = {}
        for question in _QUESTIONS:
            try:
                running = getattr(self._nvml, question)(card)
            except (self._nvml.NVMLError, AttributeError):
                continue
            found |= {process.pid: process.usedGpuMemory for process in running if process.usedGpuMemory}
        return found

    def _size(self, card: Any) -> int:
        try:
            return int(self._nvml.nvmlDeviceGetMemoryInfo(card).total)
        except self._nvml.NVMLError:
            return 0

    def _name_of(self, card: Any) -> str:
        try:
            told = self._nvml.nvmlDeviceGetName(card)
        except self._nvml.NVMLError:
            return ""
        return told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)

    def _used(self, card: Any) -> int:
        try:
            return int(self._nvml.nvmlDeviceGetMemoryInfo(card).used)
        except self._nvml.NVMLError:
            return 0


@contextmanager
def device_memory(
    environment: Mapping[str, str], own: int, nvml: Any | None = None, share: int | None = None
) -> Iterator[DeviceMemory]:
    """The memory of the cards that the environment makes visible, sampled in a thread until left.

    ``own`` is the process at the top of those that count.
    """
    memory = card_memory(environment, own, nvml, share)
    if memory is None:
        yield NoDeviceMemory()
        return
    done = threading.Event()
    thread = threading.Thread(target=_watch, args=(memory, done), name="device-memory", daemon=True)
    thread.start()
    try:
        yield memory
    finally:
        done.set()
        thread.join(EVERY_SECONDS)  # a library that hangs does not hold up the end


def is_below(pid: int, top: int) -> bool:
    """Whether a process is another one or was started below it."""
    for _ in range(_DEEPEST):
        if pid == top:
            return True
        parent = parent_of(pid)
        if parent is None or parent <= 1:
            return False
        pid = parent
    return False


def card_memory(
    environment: Mapping[str, str], own: int, nvml: Any | None = None, share: int | None = None
) -> CardMemory | None:
    """The memory of the cards that the environment makes visible; None where there is nothing to look at."""
    names = tuple(name for name in environment.get(VARIABLE, "").split(",") if name.startswith(_PREFIXES))
    if not names:
        return None
    try:
        library = importlib.import_module("pynvml") if nvml is None else nvml
    except ImportError:
        return None
    try:
        library.nvmlInit()
        cards = tuple(library.nvmlDeviceGetHandleByUUID(name) for name in names)
        return CardMemory(library, cards, lambda pid: is_below(pid, own), share)
    except (library.NVMLError, OSError) as error:
        log.info("device memory is not measured: %s", error)
        return None


def _watch(memory: CardMemory, done: threading.Event) -> None:
    while not done.wait(EVERY_SECONDS):
        with suppress(Exception):  # a sample that fails is one sample fewer
            memory.sample()
