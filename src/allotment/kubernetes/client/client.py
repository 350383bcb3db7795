"""The calls of a cluster's API that this tool makes, on plain objects.

Every call is tried again where that is safe (`retries`), looked up where it may have been done (`settling`),
and refused in one sentence (`refusals`).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from allotment.kubernetes.client import settling
from allotment.kubernetes.client.asked import APPLY, MERGE, Request
from allotment.kubernetes.client.errors import ApiError
from allotment.kubernetes.client.listing import Listed, listed, selected
from allotment.kubernetes.client.logs import Wanted, log_lines
from allotment.kubernetes.client.refusals import refusal
from allotment.kubernetes.client.retries import Patience
from allotment.kubernetes.client.sending import Sender, Settle
from allotment.kubernetes.client.transport import CutError, Reply, Transport
from allotment.kubernetes.client.watching import SECONDS, Watch
from allotment.kubernetes.kinds import Kind, Object, kind_of


class Client:
    """A cluster's API. Objects go in and come out as plain mappings; refusals are `ApiError`."""

    def __init__(
        self,
        transport: Transport,
        *,
        patience: Patience | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._transport = transport
        self._sender = Sender(transport, patience or Patience(transport.sleep, jitter))

    @property
    def name(self) -> str:
        """What to call the cluster in messages."""
        return self._transport.name

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Object | None:
        """The object, or None where there is none or its kind is not served."""
        try:
            return self._object(Request("GET", kind.path(namespace, name)))
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def listed(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> tuple[Object, ...]:
        """All objects of a kind, page by page; ApiError 404 where the cluster does not have the kind."""
        return self.listed_at(kind, namespace, labels=labels, fields=fields).objects

    def listed_at(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> Listed:
        """The same, with the version at which a watch goes on."""
        path = kind.path(namespace)
        return listed(lambda query: self.raw(path, query), kind, selected(labels, fields))

    def watch(
        self,
        kind: Kind,
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
        since: str | None = None,
        seconds: int = SECONDS,
    ) -> Watch:
        """Pairs of what happened (ADDED, MODIFIED, DELETED) and the object, for ``seconds``; see `watching`.

        Without ``since`` all that is there comes first, as ADDED.
        """
        return Watch(
            self, self._sender, kind, namespace, labels=labels, fields=fields, since=since, seconds=seconds
        )

    def create(self, value: Object, *, manager: str, dry_run: bool = False) -> Object:
        """A new object; ApiError 409 ``AlreadyExists`` where there is one of the name."""
        kind, metadata = kind_of(value), value["metadata"]
        name, namespace = metadata.get("name"), metadata.get("namespace")
        query = _options(manager, dry_run=dry_run)
        request = Request("POST", kind.path(namespace), query, _body(value), is_kept=not dry_run)
        if dry_run:
            return self._object(request)
        if name is None:
            raise ValueError("an object is created by its name: by it a lost answer can be looked up")
        look = settling.created(value, manager, lambda: self.get(kind, name, namespace))
        return self._object(request, look)

    def apply(self, value: Object, *, manager: str, force: bool = False, dry_run: bool = False) -> Object:
        """Server-side apply, strictly; ApiError 409 ``Conflict`` where another manager owns a field."""
        kind, metadata = kind_of(value), value["metadata"]
        query = {**_options(manager, dry_run=dry_run), "force": "true" if force else "false"}
        path = kind.path(metadata.get("namespace"), metadata["name"])
        return self._object(Request("PATCH", path, query, _body(value), APPLY))

    def patch(
        self,
        kind: Kind,
        name: str,
        namespace: str | None,
        change: Mapping[str, Any],
        *,
        manager: str,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object:
        """A JSON merge patch of one object."""
        path = kind.path(namespace, name, subresource)
        request = Request("PATCH", path, _options(manager, dry_run=dry_run), _body(change), MERGE)
        return self._object(request, settling.replaced(change, lambda: self.get(kind, name, namespace)))

    def replace(self, value: Object, *, manager: str) -> Object:
        """The object as a whole; ApiError 409 ``Conflict`` where its version is not the latest."""
        kind, metadata = kind_of(value), value["metadata"]
        name, namespace = metadata["name"], metadata.get("namespace")
        request = Request("PUT", kind.path(namespace, name), _options(manager, dry_run=False), _body(value))
        return self._object(request, settling.replaced(value, lambda: self.get(kind, name, namespace)))

    def delete(
        self,
        kind: Kind,
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
        propagation: str = "Background",
    ) -> bool:
        """Whether there was one to delete; with ``uid`` only that very object, however often it is tried."""
        options: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": propagation,
        }
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        look = settling.deleted(uid, lambda: self.get(kind, name, namespace))
        try:
            self._json(Request("DELETE", kind.path(namespace, name), body=_body(options)), look)
        except ApiError as error:
            if error.status == 404:
                return False
            raise
        return True

    def raw(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """Any other GET that answers JSON: ``/version``, ``/apis``."""
        return self._json(Request("GET", path, query or {}))

    def ask(self, path: str, value: Object) -> Object:
        """A POST of a question that keeps nothing, such as a SelfSubjectAccessReview."""
        return self._object(Request("POST", path, {}, _body(value), is_kept=False))

    def log(self, name: str, namespace: str, wanted: Wanted | None = None) -> Iterator[bytes]:
        """The lines of a Pod's log, each with its end."""
        return log_lines(self._sender, name, namespace, wanted or Wanted())

    def lines(self, path: str, query: Mapping[str, str]) -> Iterator[bytes]:
        """A GET whose answer comes line by line; a cut ends it with ApiError."""
        request = Request("GET", path, query)
        try:
            yield from self._sender.lines(request)
        except CutError as error:
            raise refusal(request, error, self.name) from error

    def _object(self, request: Request, settle: Settle | None = None) -> Object:
        found: Object = self._json(request, settle)
        return found

    def _json(self, request: Request, settle: Settle | None = None) -> Any:
        reply = self._sender.send(request, settle)
        try:
            return json.loads(reply.body)
        except ValueError:
            raise refusal(request, Reply(302, reply.headers, b""), self.name) from None


def _body(value: Any) -> bytes:
    return json.dumps(value).encode()


def _options(manager: str, *, dry_run: bool) -> dict[str, str]:
    found = {"fieldManager": manager, "fieldValidation": "Strict"}
    return found | ({"dryRun": "All"} if dry_run else {})
