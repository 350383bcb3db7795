"""A command that is told to end (SIGTERM, as a cancelled CI job is) ends as one that is interrupted.

What it holds for a while, such as the right to apply, is given back on its way out. A second signal does not
cut that short: whoever is in a greater hurry has SIGKILL.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ended_by_term() -> Iterator[None]:
    """Raise KeyboardInterrupt at the first SIGTERM within; elsewhere than in the main thread, nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt("told to end (SIGTERM)")

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
