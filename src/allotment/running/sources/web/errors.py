"""What a fetch comes to when nothing comes of it: refused for good, or out of reach for now.

Messages name addresses without what could be a secret in them, and no exception of a library is chained to
these: its words could hold the whole address.
"""

from __future__ import annotations

from allotment.running.sources.source import NotNowError


class WebRefusedError(Exception):
    """It can never be fetched as things stand: not allowed, not there, too large, not what was wanted."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class UnreachableError(NotNowError):
    """It cannot be fetched now; another time may do better.

    ``again`` tells whether to try at once, ``after`` how many seconds the server wants to be left alone.
    """

    def __init__(self, message: str, *, again: bool = True, after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.again = again
        self.after = after


FORBIDDEN = "source-forbidden"
MISSING = "source-missing"
REFUSED = "source-refused"
TOO_LARGE = "source-too-large"
UNREADABLE = "source-unreadable"
