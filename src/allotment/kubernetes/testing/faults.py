"""Faults that are put into answers: refusals, silence and slowness, by a plan that a seed repeats.

What a client must bear: 409 and 429, 500 and 503, a connection that is cut before or after the server has
acted, an answer that takes its time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from allotment.kubernetes.testing.answers import RequestError
from allotment.kubernetes.testing.asked import Request


class CutError(ConnectionResetError):
    """The connection ended without an answer."""


@dataclass(frozen=True)
class Fault:
    """One fault. ``is_after`` says that the server has acted before it; ``delay`` is in seconds."""

    status: int = 0
    reason: str = ""
    message: str = ""
    retry_after: int | None = None
    is_cut: bool = False
    is_after: bool = False
    delay: float = 0.0

    def refusal(self) -> RequestError:
        """The answer in the place of the true one."""
        headers = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        about = {} if self.retry_after is None else {"retryAfterSeconds": self.retry_after}
        return RequestError(self.status, self.reason, self.message, about, headers=headers)


CONFLICT: Final = Fault(409, "Conflict", "Operation cannot be fulfilled: the object has been modified")
TOO_MANY: Final = Fault(429, "TooManyRequests", "Too many requests, please try again later.", retry_after=1)
BROKEN: Final = Fault(500, "InternalError", "Internal error occurred: etcdserver: request timed out")
WEBHOOK: Final = Fault(
    500, "InternalError", 'Internal error occurred: failed calling webhook "vjob.kb.io": connection refused'
)
UNAVAILABLE: Final = Fault(503, "ServiceUnavailable", "apiserver is shutting down", retry_after=1)
CUT_BEFORE: Final = Fault(is_cut=True)
CUT_AFTER: Final = Fault(is_cut=True, is_after=True)
SLOW: Final = Fault(delay=0.05)
EVERY: Final = (CONFLICT, TOO_MANY, BROKEN, WEBHOOK, UNAVAILABLE, CUT_BEFORE, CUT_AFTER, SLOW)

Plan = Callable[[int, Request], Fault | None]


def none(_: int, __: Request) -> Fault | None:
    """No faults."""
    return None


@dataclass(frozen=True)
class At:
    """Faults at requests by their number, from 0 on."""

    faults: Mapping[int, Fault]

    def __call__(self, number: int, _: Request) -> Fault | None:
        """The fault at a request."""
        return self.faults.get(number)


@dataclass(frozen=True)
class Seeded:
    """Faults at a part of the requests: which and where is the seed's."""

    seed: int
    rate: float = 0.2
    kinds: Sequence[Fault] = EVERY
    methods: frozenset[str] = field(default=frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"}))

    def __call__(self, number: int, request: Request) -> Fault | None:
        """The fault at a request."""
        if request.method not in self.methods:
            return None
        dice = random.Random(f"{self.seed}/{number}")  # noqa: S311  # no secret
        return dice.choice(list(self.kinds)) if dice.random() < self.rate else None
