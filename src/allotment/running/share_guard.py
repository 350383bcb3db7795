"""Who is at fault when the memory of a shared card runs out: the worker that used more than its share.

Nothing keeps processes on one card apart, so the guardian of each worker looks: it ends its own worker as
soon as that one has used more than its share, which counts as a failure. A neighbour may be refused memory in
the same moment. If others had left it less than its share, that is no fault of its own: the attempt counts as
reclaimed, and burns no retry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.running.device_memory import CardMemory, DeviceMemory, card_memory
from allotment.running.endings import CrowdedOutError
from allotment.running.manifest import PageFailure

CROWDED_OUT: Final = "crowded-out"
_GI: Final = 1024**3
_DEEPEST: Final = 8
_OUT_OF_MEMORY: Final = re.compile(
    r"out.?of.?memory|OOM when allocating|cudaErrorMemoryAllocation|ALLOC_FAILED", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ShareGuard:
    """Looks at one worker's share of its cards."""

    memory: CardMemory
    share: int

    def exceeded(self) -> str | None:
        """In words, that the worker has used more than its share; looks now."""
        self.memory.sample()
        peak = self.memory.excess()
        if peak is None:
            return None
        return f"it used {_gi(peak)} of its card's memory, and its share is {_gi(self.share)}"

    def crowded(self) -> str | None:
        """In words, that others left the worker less than its share."""
        others = self.memory.crowded()
        return None if others is None or self.memory.excess() is not None else crowded_words(others)


def share_guard(
    environment: Mapping[str, str], guardian: int, share: int, nvml: Any | None = None
) -> ShareGuard | None:
    """The guard of all that is below the guardian; None where the cards cannot be looked at."""
    memory = card_memory(environment, guardian, nvml, share)
    return None if memory is None else ShareGuard(memory, share)


def crowded_words(others: int) -> str:
    """What is said of a worker that could not have its share."""
    return f"others used {_gi(others)} of its card's memory and left less than its share: not its fault"


def check_crowding(memory: DeviceMemory, failures: Mapping[str, PageFailure]) -> None:
    """Raise `CrowdedOutError` when pages failed for want of device memory that others had in use."""
    for failure in failures.values():
        _raise_if_crowded(memory, failure.message)


def at_fault(error: BaseException, memory: DeviceMemory) -> BaseException:
    """The error, or `CrowdedOutError` in its place where memory was missing that others had in use."""
    told: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(told) < _DEEPEST:
        told.append(f"{type(cause).__name__}: {cause}")
        cause = cause.__cause__
    try:
        _raise_if_crowded(memory, " ".join(told))
    except CrowdedOutError as crowded:
        return crowded
    return error


def _raise_if_crowded(memory: DeviceMemory, message: str) -> None:
    if _OUT_OF_MEMORY.search(message) and (others := memory.crowded()) is not None:
        raise CrowdedOutError(CROWDED_OUT, crowded_words(others))


def _gi(amount: int) -> str:
    """Bytes as people read them; nothing large is imported here."""
    return f"{amount / _GI:.2f}Gi"
