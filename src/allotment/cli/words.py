"""Small phrases that several commands say the same way: spans of time, rates, clocks."""

from __future__ import annotations

import socket
from datetime import UTC, datetime

from allotment.devices.nodes import node_name
from allotment.pictures.spans import span_words


def span(seconds: float) -> str:
    """A span of time as a person would say it: ``4.2 s``, ``3 min 20 s``, ``5 h 12 min``, ``3 d 4 h``."""
    words = span_words(max(0.0, seconds))
    return "0 s" if words == "0" else words


def clock(moment: float, now: float) -> str:
    """A Unix time as local clock time, with the date when it is not today."""
    then, today = local(moment), local(now)
    return f"{then:%H:%M:%S}" if then.date() == today.date() else f"{then:%Y-%m-%d %H:%M}"


def device_words(device: str) -> str:
    """A device as it is short to say: without its driver, and without its pool where that is this machine."""
    _, _, rest = device.partition("/")
    pool, _, name = rest.rpartition("/")
    return name if pool == node_name(socket.gethostname()) else f"{pool}/{name}"


def local(moment: float) -> datetime:
    """A Unix time in this machine's time zone."""
    return datetime.fromtimestamp(moment, UTC).astimezone()


def rate(pages_per_second: float | None) -> str:
    """Pages per minute, or per second when they are many; empty when nothing is known."""
    if not pages_per_second:
        return ""
    if pages_per_second >= 2:
        return f"{pages_per_second:,.1f} pages/s"
    return f"{pages_per_second * 60:,.1f} pages/min"
