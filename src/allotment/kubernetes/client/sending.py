"""A request sent until it is answered: again where that is of use, looked up where it may have been done.

What may have been done is settled before it is tried again: see `settling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from allotment.kubernetes.client.asked import Request
from allotment.kubernetes.client.errors import ApiError
from allotment.kubernetes.client.refusals import refusal, unsettled
from allotment.kubernetes.client.retries import Fate, Found, Patience, fate_of, is_lost_race
from allotment.kubernetes.client.transport import CutError, NotSentError, Reply, Transport

Settle = Callable[[Found], Reply | None]


@dataclass(slots=True)
class Sender:
    """A transport, and how often it is tried.

    A server that has answered before and now lets nobody in starts again; one that never has is most often
    off, or another's, and whoever asks is not kept waiting.
    """

    transport: Transport
    patience: Patience
    _is_met: bool = field(default=False, init=False)

    def send(self, request: Request, settle: Settle | None = None) -> Reply:
        """The answer, if it is not a refusal; ApiError otherwise.

        ``settle`` is called with each answer once it is not known whether the request was done: it gives the
        answer that there would have been, where it was.
        """
        is_unsure, tries = False, 0
        found: Found
        for delay in (*self.patience.delays, None):
            found, tries = self._once(request), tries + 1
            fate = fate_of(request, found)
            is_unsure = is_unsure or fate is Fate.UNKNOWN
            if isinstance(found, Reply) and found.status < 300:
                return found
            settled = self._settled(request, found, settle) if settle is not None and is_unsure else None
            if settled is not None:
                return settled
            if fate is Fate.DECIDED and not is_lost_race(request, found):
                break
            if not self._waits(delay, found, tries):
                break
        raise refusal(request, found, self.transport.name, tries=tries, is_unsure=is_unsure)

    def lines(self, request: Request) -> Iterator[bytes]:
        """The lines of an answer; CutError where they end before their time, ApiError where none begin."""
        tries = 0
        found: Found
        for delay in (*self.patience.delays, None):
            tries += 1
            try:
                reply, body = self.transport.stream(request.path, request.query, request.headers)
                self._is_met = True
                if reply.status < 300:
                    return body
                found = Reply(reply.status, reply.headers, b"".join(body))
            except CutError as error:
                found = error
            if fate_of(request, found) is Fate.DECIDED or not self._waits(delay, found, tries):
                break
        raise refusal(request, found, self.transport.name, tries=tries)

    def _waits(self, delay: float | None, found: Found, tries: int) -> bool:
        """Wait before a further try, if there is to be one."""
        if delay is None or (isinstance(found, NotSentError) and not self._is_met and tries > 1):
            return False
        return self.patience.wait(delay, found)

    def _settled(self, request: Request, found: Found, settle: Settle) -> Reply | None:
        try:
            return settle(found)
        except ApiError as error:
            raise unsettled(request, error) from error

    def _once(self, request: Request) -> Found:
        try:
            found = self.transport.send(
                request.method, request.path, request.query, request.headers, request.body
            )
        except CutError as error:
            return error
        self._is_met = True
        return found
