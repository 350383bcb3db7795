"""Which answers are worth asking again for, when, and for how long.

A request that the server has not acted on can be made again, whatever it is. Where nobody knows whether it
has, reads and writes that end the same however often they are made can; a creation cannot, and is looked up
first (`settling`). Facts: Kubernetes' API conventions, "HTTP Status codes", and "API Priority and Fairness",
by which a server that has too much to do answers 429 with ``Retry-After``; etcd that is slow and admission
webhooks that are down are answered 500 with the reason ``InternalError``, while a write that is answered 500
without a reason sent an object that the server cannot read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from allotment.kubernetes.client.asked import Request
from allotment.kubernetes.client.transport import CutError, HopelessError, NotSentError, Reply

Found = Reply | CutError


class Fate(Enum):
    """What became of a request."""

    DECIDED = "it is answered, for good or ill"
    UNTOUCHED = "the server has not acted"
    UNKNOWN = "the server may have acted"


_STATUSES: Final = {
    429: Fate.UNTOUCHED,
    500: Fate.UNKNOWN,
    502: Fate.UNKNOWN,
    503: Fate.UNKNOWN,
    504: Fate.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try: ``delays`` are seconds before each further try, longer by up to half by ``jitter``.

    A server that says when to come back is given that time, up to ``longest`` seconds a try.
    """

    sleep: Callable[[float], None]
    jitter: Callable[[], float]
    delays: tuple[float, ...] = (1.0, 2.0, 4.0)
    longest: float = 30.0

    def wait(self, delay: float, found: Found) -> bool:
        """Wait before a further try; false where the server asks for longer than anybody would wait."""
        told = retry_after(found)
        if told > self.longest:
            return False
        self.sleep(max(told, delay) + delay * self.jitter() / 2)
        return True


def fate_of(request: Request, found: Found) -> Fate:
    """What became of a request, by its answer."""
    if isinstance(found, HopelessError):
        return Fate.DECIDED
    if isinstance(found, NotSentError):
        return Fate.UNTOUCHED
    if isinstance(found, CutError):
        return Fate.UNKNOWN
    told = told_by(found) if found.status == 500 and request.method != "GET" else {}
    if told and told.get("reason") != "InternalError":
        return Fate.DECIDED
    return _STATUSES.get(found.status, Fate.DECIDED)


def is_lost_race(request: Request, found: Found) -> bool:
    """Whether a patch lost against another writer, which says nothing about its fields: it is made again."""
    if request.method != "PATCH" or not isinstance(found, Reply) or found.status != 409:
        return False
    told = told_by(found)
    is_bare = told.get("reason") == "Conflict" and not causes_of(told)
    return is_bare and b'"resourceVersion"' not in request.body and b'"uid"' not in request.body


def retry_after(found: Found) -> float:
    """The seconds that the server asks for; none where it says nothing of them."""
    text = found.headers.get("retry-after", "") if isinstance(found, Reply) else ""
    return float(text) if text.isascii() and text.isdigit() else 0.0


def parts_of(told: Mapping[str, Any]) -> Mapping[str, str]:
    """What a Status says of the object: its name, its kind."""
    found = told.get("details")
    if not isinstance(found, dict):
        return {}
    return {key: value for key, value in found.items() if isinstance(value, str)}


def causes_of(told: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a Status says is wrong, a thing each."""
    found = told.get("details")
    listed = found.get("causes") if isinstance(found, dict) else None
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def told_by(reply: Reply) -> dict[str, Any]:
    """The Status of an answer, or nothing where its body is none."""
    try:
        told = json.loads(reply.body)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
