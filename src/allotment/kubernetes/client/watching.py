"""What happens to objects of a kind, as it happens.

    for sort, value in client.watch(POD, "team-a", labels="app=x"):
        ...  # ADDED, MODIFIED or DELETED

A watch goes on after a cut from the last version that it heard of; bookmarks keep that version fresh where
little happens. What a cluster no longer remembers is answered 410: a watch that began with a list is begun
with one again, and told as the changes that it makes; one that was given its version raises `ExpiredError`.
The server ends a watch after its time, and so does this: ``version`` says where to go on. Facts: Kubernetes'
documentation, "Kubernetes API Concepts", "Efficient detection of changes".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from allotment.kubernetes.client.asked import Request
from allotment.kubernetes.client.errors import ApiError, ExpiredError
from allotment.kubernetes.client.listing import selected
from allotment.kubernetes.client.refusals import refusal
from allotment.kubernetes.client.sending import Sender
from allotment.kubernetes.client.transport import CutError, Reply
from allotment.kubernetes.kinds import Kind, Object

if TYPE_CHECKING:
    from allotment.kubernetes.client.client import Client

SECONDS: Final = 240
Event = tuple[str, Object]


class Watch:
    """An iterator of events; ``version`` is that of the last thing heard."""

    def __init__(
        self,
        client: Client,
        sender: Sender,
        kind: Kind,
        namespace: str | None,
        *,
        labels: str = "",
        fields: str = "",
        since: str | None = None,
        seconds: int = SECONDS,
    ) -> None:
        self.version = since or ""
        self._client, self._sender, self._kind, self._namespace = client, sender, kind, namespace
        self._selectors = {"labels": labels, "fields": fields}
        self._seconds = seconds
        self._lists = not since
        self._known: dict[tuple[str, str], Object] = {}

    def __iter__(self) -> Iterator[Event]:
        if self._lists:
            yield from self._listed()
        cuts = 0
        while True:
            heard = self.version
            try:
                yield from self._heard()
                return
            except ExpiredError:
                if not self._lists:
                    raise
                yield from self._listed()
                cuts = 0
            except CutError as error:
                cuts = cuts + 1 if heard == self.version else 1
                self._bear(cuts, error)

    def _bear(self, cuts: int, error: CutError) -> None:
        """Wait before going on after a cut, unless there have been too many with nothing between them."""
        patience = self._sender.patience
        if cuts > len(patience.delays) or not patience.wait(patience.delays[cuts - 1], error):
            raise refusal(self._request(), error, self._client.name, tries=cuts) from error

    def _heard(self) -> Iterator[Event]:
        for line in self._sender.lines(self._request()):
            event = _parsed(line)
            sort, value = str(event.get("type")), event.get("object") or {}
            if sort == "ERROR":
                raise self._refused(value)
            self.version = str((value.get("metadata") or {}).get("resourceVersion") or self.version)
            if sort != "BOOKMARK":
                yield self._remembered(sort, value)

    def _remembered(self, sort: str, value: Object) -> Event:
        if self._lists:
            key = _key(value)
            self._known.pop(key, None)
            if sort != "DELETED":
                self._known[key] = value
        return sort, value

    def _listed(self) -> Iterator[Event]:
        """What is there, as changes to what was known."""
        found = self._client.listed_at(self._kind, self._namespace, **self._selectors)
        self.version = found.version
        now = {_key(value): value for value in found.objects}
        before, self._known = self._known, now
        for key, value in before.items():
            if key not in now or _uid(now[key]) != _uid(value):
                yield "DELETED", value
        for key, value in now.items():
            known = before.get(key)
            if known is None or _uid(known) != _uid(value):
                yield "ADDED", value
            elif _version(known) != _version(value):
                yield "MODIFIED", value

    def _request(self) -> Request:
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(self._seconds),
            **({"resourceVersion": self.version} if self.version else {}),
            **selected(**self._selectors),
        }
        return Request("GET", self._kind.path(self._namespace), query)

    def _refused(self, status: Object) -> ApiError:
        reply = Reply(int(status.get("code") or 500), {}, json.dumps(status).encode())
        return refusal(self._request(), reply, self._client.name)


def _parsed(line: bytes) -> dict[str, Any]:
    """An event; half of one is what a cut leaves."""
    try:
        found: dict[str, Any] = json.loads(line)
    except ValueError:
        raise CutError("an event ended in the middle") from None
    return found


def _key(value: Object) -> tuple[str, str]:
    return str(value["metadata"].get("namespace", "")), str(value["metadata"]["name"])


def _uid(value: Object) -> str:
    return str(value["metadata"].get("uid", ""))


def _version(value: Object) -> str:
    return str(value["metadata"].get("resourceVersion", ""))
