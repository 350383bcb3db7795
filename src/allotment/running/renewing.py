"""A lease renewed in the background, so that a step that takes long does not lose its volume."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from allotment.errors import WorldError
from allotment.running.lease import Lease, LeaseLostError

AGAIN_SECONDS = 2.0

log = logging.getLogger(__name__)


@contextmanager
def renewed(lease: Lease) -> Iterator[None]:
    """Renew the lease in a thread of its own until the block is left."""
    ended = threading.Event()
    thread = threading.Thread(target=_renew, args=(lease, ended), name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()


def _renew(lease: Lease, ended: threading.Event) -> None:
    pause = lease.renew_seconds
    while not ended.wait(pause):
        try:
            lease.renew()
            pause = lease.renew_seconds / 4
        except LeaseLostError:
            return
        except WorldError as error:
            log.warning("the lease could not be renewed just now: %s", error)
            pause = AGAIN_SECONDS
