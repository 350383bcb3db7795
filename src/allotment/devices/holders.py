"""What a lock file of the ledger says about its holder: one line of JSON, written by whoever holds the lock.

It is for people and for adding up memory, never for deciding whether a device is taken. Of a share that does
not say how much it is, all of the device counts. It may be read while
it is being written, and another user wrote it: what makes no sense is left out, never an error, and text is
cut and cleaned before it can reach a terminal.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

LONGEST = 4096  # bytes that are read of a lock file
_LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a device, for people to read. What could not be read is None (0 for the memory).

    ``memory_bytes`` is what this device's part of a hold sets aside: of a hold of several devices the first
    one carries all of it, so that the sum over all devices is what is set aside on the machine.
    ``device_bytes`` is the device's own memory that a share of it sets aside; None stands for all of it.
    """

    pid: int | None = None
    user: str | None = None
    campaign: str | None = None
    volume: str | None = None
    memory_bytes: int = 0
    since: float = 0.0
    device_bytes: int | None = None
    team: str | None = None


def write_holder(fd: int, holder: Holder) -> None:
    """Say in the lock file who holds it."""
    line = json.dumps(asdict(holder)).encode() + b"\n"
    os.pwrite(fd, line, 0)
    os.ftruncate(fd, len(line))


def read_holder(line: bytes, *, user: str) -> Holder:
    """What a lock file says; ``user`` is the owner of the file, which holds whatever the line claims."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        return Holder(user=user)
    since = said.get("since")
    return Holder(
        pid=_number(said.get("pid")),
        user=user,
        campaign=_text(said.get("campaign")),
        volume=_text(said.get("volume")),
        memory_bytes=_number(said.get("memory_bytes")) or 0,
        since=float(since) if isinstance(since, int | float) and 0 <= since < 1e12 else 0.0,
        device_bytes=_number(said.get("device_bytes")),
        team=_text(said.get("team")),
    )


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62 else None


def _text(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return "".join(sign for sign in value[:_LONGEST_TEXT] if sign.isprintable())
