"""Building very many small values without the garbage collector walking them again and again.

Nothing that is built here is part of a cycle, and how much is built is bounded by the size of a file. On a
long campaign the collector would cost as much as the building.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """No garbage collection inside, if there was any outside."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
