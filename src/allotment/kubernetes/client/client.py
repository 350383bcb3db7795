"""The calls of a cluster's API that this tool makes, on plain objects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.kubernetes.client.errors import ApiError
from allotment.kubernetes.client.transport import Transport
from allotment.kubernetes.kinds import Kind, Object, kind_of

PAGE: Final = 500
APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/merge-patch+json"
JSON: Final = "application/json"


class Client:
    """A cluster's API. Objects go in and come out as plain mappings; refusals are `ApiError`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @property
    def name(self) -> str:
        """What to call the cluster in messages."""
        return self._transport.name

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Object | None:
        """The object, or None where there is none."""
        try:
            return self._object("GET", kind.path(namespace, name))
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def listed(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> tuple[Object, ...]:
        """All objects of a kind, page by page; ApiError 404 where the cluster does not have the kind."""
        found: list[Object] = []
        query = {"limit": str(PAGE), "labelSelector": labels, "fieldSelector": fields}
        query = {key: value for key, value in query.items() if value}
        said = {"apiVersion": kind.api_version, "kind": kind.name}
        while True:
            page = self._json("GET", kind.path(namespace), query)
            found += [{**said, **each} for each in page.get("items") or ()]
            token = (page.get("metadata") or {}).get("continue")
            if not token:
                return tuple(found)
            query = {**query, "continue": token}

    def create(self, value: Object, *, manager: str, dry_run: bool = False) -> Object:
        """A new object; ApiError 409 ``AlreadyExists`` where there is one of the name."""
        kind, metadata = kind_of(value), value["metadata"]
        query = _options(manager, dry_run=dry_run)
        return self._object("POST", kind.path(metadata.get("namespace")), query, value)

    def apply(self, value: Object, *, manager: str, force: bool = False, dry_run: bool = False) -> Object:
        """Server-side apply, strictly; ApiError 409 ``Conflict`` where another manager owns a field."""
        kind, metadata = kind_of(value), value["metadata"]
        query = {**_options(manager, dry_run=dry_run), "force": "true" if force else "false"}
        path = kind.path(metadata.get("namespace"), metadata["name"])
        return self._object("PATCH", path, query, value, APPLY)

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
        return self._object("PATCH", path, _options(manager, dry_run=dry_run), change, MERGE)

    def replace(self, value: Object, *, manager: str) -> Object:
        """The object as a whole; ApiError 409 ``Conflict`` where its version is not the latest."""
        kind, metadata = kind_of(value), value["metadata"]
        path = kind.path(metadata.get("namespace"), metadata["name"])
        return self._object("PUT", path, _options(manager, dry_run=False), value)

    def delete(
        self,
        kind: Kind,
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
        propagation: str = "Background",
    ) -> bool:
        """Whether there was one to delete; with ``uid`` only that very object."""
        options: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": propagation,
        }
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        try:
            self._json("DELETE", kind.path(namespace, name), {}, options)
        except ApiError as error:
            if error.status == 404:
                return False
            raise
        return True

    def raw(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """Any other GET that answers JSON: ``/version``, ``/apis``."""
        return self._json("GET", path, query or {})

    def ask(self, path: str, value: Object) -> Object:
        """A POST of a question that keeps nothing, such as a SelfSubjectAccessReview."""
        return self._object("POST", path, {}, value)

    def lines(self, path: str, query: Mapping[str, str]) -> Iterator[bytes]:
        """A GET whose answer comes line by line, such as a pod's log."""
        reply, body = self._transport.stream(path, query, {})
        if reply.status >= 300:
            raise _refusal("GET", path, reply.status, b"".join(body))
        yield from body

    def _object(self, *request: Any) -> Object:
        found: Object = self._json(*request)
        return found

    def _json(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        value: Any = None,
        content: str = JSON,
    ) -> Any:
        body = b"" if value is None else json.dumps(value).encode()
        headers = {"accept": JSON} | ({"content-type": content} if body else {})
        reply = self._transport.send(method, path, query or {}, headers, body)
        if reply.status >= 300:
            raise _refusal(method, path, reply.status, reply.body)
        return json.loads(reply.body)


def _options(manager: str, *, dry_run: bool) -> dict[str, str]:
    found = {"fieldManager": manager, "fieldValidation": "Strict"}
    return found | ({"dryRun": "All"} if dry_run else {})


def _refusal(method: str, path: str, status: int, body: bytes) -> ApiError:
    try:
        told = json.loads(body)
    except ValueError:
        told = {}
    message = str(told.get("message") or body[:200].decode(errors="replace"))
    causes = tuple(
        (str(each.get("field", "")), str(each.get("message", "")))
        for each in (told.get("details") or {}).get("causes") or ()
    )
    return ApiError(
        what=f"{method} {path} was answered {status}: {message}",
        status=status,
        reason=str(told.get("reason", "")),
        message=message,
        causes=causes,
    )
