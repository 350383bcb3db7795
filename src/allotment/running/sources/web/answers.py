"""What the status of an answer means: go on, go elsewhere, come back later, or give up.

404 and 410 say that it is not there; other answers of the 400s say that we may not, or asked wrongly, and
will not change by asking again. What is a matter of time (RFC 9110, RFC 6585: 408, 425, 429, and all of the
500s) is asked for again.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from allotment.running.sources.web.errors import MISSING, REFUSED, UnreachableError, WebRefusedError
from allotment.running.sources.web.manners import retry_after

WHOLE: Final = frozenset({200, 203})
ELSEWHERE: Final = frozenset({301, 302, 303, 307, 308})
GONE: Final = frozenset({404, 410})
LATER: Final = frozenset({408, 425, 429})


def judge(status: int, headers: Mapping[str, str], now: float) -> str | None:
    """Where to go instead, or None when the body is what was wanted; raises for all else."""
    if status in WHOLE:
        return None
    said = f"the server answers {status}{_phrase(status)}"
    if status in ELSEWHERE and (location := headers.get("location", "")):
        return location
    if status in GONE:
        raise WebRefusedError(MISSING, f"it is not there: {said}")
    if status in LATER or status >= 500:
        raise UnreachableError(said, after=retry_after(headers.get("retry-after", ""), now))
    raise WebRefusedError(REFUSED, said)


def _phrase(status: int) -> str:
    try:
        return f" ({HTTPStatus(status).phrase})"
    except ValueError:
        return ""
