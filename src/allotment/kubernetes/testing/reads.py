"""Lists and watches: pages that agree with one another, old versions, selectors, bookmarks and expiry."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from allotment.kubernetes.testing.answers import (
    Answer,
    Cause,
    RequestError,
    bad_request,
    forbidden,
    invalid_options,
    not_found,
    unsupported,
)
from allotment.kubernetes.testing.asked import Request, whole_number
from allotment.kubernetes.testing.bodies import Place
from allotment.kubernetes.testing.names import quoted
from allotment.kubernetes.testing.selectors import by_fields, by_labels
from allotment.kubernetes.testing.store import Change, Key, Store

Object = dict[str, Any]
_EXPIRED_PAGE: Final = (
    "The provided continue parameter is too old to display a consistent list result. You can start a"
    " new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the first "
    "chunk was returned and now may show up in the list."
)
_LONGEST_WATCH: Final = 3600.0


@dataclass(frozen=True)
class Reader:
    """What reads go by."""

    store: Store

    def get(self, place: Place, request: Request) -> Answer:
        """GET of one object."""
        found = self.store.get(place.key)
        if found is None:
            raise not_found(place.resource, place.name)
        return Answer(200, _shown(found, request))

    def list(self, place: Place, request: Request) -> Answer:
        """GET of a collection."""
        _check_list(request)
        version = _version_of(request)
        token = request.query.get("continue", "")
        if token and version:
            raise bad_request("specifying resource version is not allowed when using continue")
        if version > self.store.revision:
            raise _too_large(version, self.store.revision)
        limit = whole_number(request.query.get("limit")) or 0
        at, start = self._page(token) if token else (self._version(request, version), None)
        if token and request.query.get("resourceVersion") == "0":
            limit = 0
        is_selected = _selection(request, place.resource.kind)
        found = self.store.listed(
            place.resource.key, place.namespace, None if at == self.store.revision else at
        )
        rest = [(key, value) for key, value in found if start is None or key > start]
        wanted = [(key, value) for key, value in rest if is_selected(value)]
        page = wanted[:limit] if limit else wanted
        metadata: Object = {"resourceVersion": str(at)}
        if place.resource.schema is not None:
            metadata["continue"] = ""
        if len(wanted) > len(page):
            metadata["continue"] = _token(at, page[-1][0])
            if not request.query.get("labelSelector") and not request.query.get("fieldSelector"):
                metadata["remainingItemCount"] = len(wanted) - len(page)
        resource = place.resource
        items = [_item(_shown(value, request), keeps_kind=resource.schema is not None) for _, value in page]
        kind, api_version = f"{resource.kind}List", resource.api_version
        if _is_partial(request):
            kind, api_version = "PartialObjectMetadataList", "meta.k8s.io/v1"
        return Answer(200, {"kind": kind, "apiVersion": api_version, "metadata": metadata, "items": items})

    def watch(self, place: Place, request: Request) -> Answer:
        """GET of a collection as it changes."""
        _check_list(request)
        whole_number(request.query.get("timeoutSeconds"))
        version = _version_of(request)
        is_selected = _selection(request, place.resource.kind)

        def is_watched(key: Key) -> bool:
            named = not place.name or key.name == place.name
            return key.resource == place.resource.key and place.namespace in {"", key.namespace} and named

        watch = Watch(self.store, request, place, is_watched, is_selected, since=version)
        if version and version < self.store.oldest:
            watch.expired = version
        elif not version or request.flag("sendInitialEvents"):
            watch.since = self.store.revision
            found = self.store.listed(place.resource.key, place.namespace)
            watch.initial = [value for key, value in found if is_watched(key) and is_selected(value)]
        return Answer(200, stream=watch)

    def _version(self, request: Request, version: int) -> int:
        if request.query.get("resourceVersionMatch") != "Exact":
            return self.store.revision
        if version < self.store.oldest:
            raise RequestError(410, "Expired", "The resourceVersion for the provided list is too old.")
        return version

    def _page(self, token: str) -> tuple[int, Key]:
        try:
            told = json.loads(base64.urlsafe_b64decode(token))
            at, start = int(told["rv"]), Key(tuple(told["resource"]), *told["start"])
        except (ValueError, KeyError, TypeError, binascii.Error):
            why = "continue key is not valid: illegal base64 data at input byte 0"
            raise bad_request(f"invalid continue token: {why}") from None
        if at < 0:
            return self.store.revision, start
        if at < self.store.oldest:
            raise _ExpiredError(_token(-1, start))
        return at, start


class _ExpiredError(RequestError):
    """A page of a list that is too old, with a token to go on all the same."""

    def __init__(self, token: str) -> None:
        super().__init__(410, "Expired", _EXPIRED_PAGE)
        self.token = token

    def answer(self) -> Answer:
        answer = super().answer()
        answer.body["metadata"] = {"continue": self.token}
        return answer


@dataclass
class Watch:
    """A watch: what is there, then what changes, each as the selection sees it."""

    store: Store
    request: Request
    place: Place
    is_watched: Callable[[Key], bool]
    is_selected: Callable[[Mapping[str, Any]], bool]
    since: int
    initial: list[Object] = field(default_factory=list)
    expired: int = 0
    _has_begun: bool = False

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return 0.0 if self.expired else float(self.request.query.get("timeoutSeconds") or _LONGEST_WATCH)

    @property
    def is_over(self) -> bool:
        """Whether nothing more can come."""
        return False

    def pending(self) -> list[Object]:
        """The events since the last look."""
        if self.expired:
            return [] if self._has_begun else self._begin()
        events = [] if self._has_begun else self._begin()
        with self.store.changed:
            changes = list(self.store.since(self.since, self.is_watched))
            self.since = max(self.since, self.store.revision)
        return [*events, *(event for change in changes for event in self._seen(change))]

    def closing(self) -> list[Object]:
        """The bookmark at the end, where it is asked for."""
        if self.expired or not self.request.flag("allowWatchBookmarks"):
            return []
        return [] if self.request.flag("sendInitialEvents") else [self._bookmark({})]

    def _begin(self) -> list[Object]:
        self._has_begun = True
        if self.expired:
            text = f"too old resource version: {self.expired} ({self.store.oldest})"
            return [{"type": "ERROR", "object": RequestError(410, "Expired", text).answer().body}]
        events = [self._event("ADDED", value) for value in self.initial]
        if self.request.flag("sendInitialEvents"):
            events.append(self._bookmark({"k8s.io/initial-events-end": "true"}))
        return events

    def _seen(self, change: Change) -> Iterator[Object]:
        before = change.before is not None and self.is_selected(change.before)
        after = change.after is not None and self.is_selected(change.after)
        if after and change.after is not None:
            yield self._event("MODIFIED" if before else "ADDED", change.after)
        elif before and change.before is not None:
            metadata = {**change.before["metadata"], "resourceVersion": str(change.revision)}
            yield self._event("DELETED", {**change.before, "metadata": metadata})

    def _event(self, sort: str, value: Object) -> Object:
        return {"type": sort, "object": _shown(value, self.request)}

    def _bookmark(self, annotations: dict[str, str]) -> Object:
        metadata: Object = {"resourceVersion": str(self.since)}
        if annotations:
            metadata["annotations"] = annotations
        resource = self.place.resource
        told = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
        return {"type": "BOOKMARK", "object": told}


def _selection(request: Request, kind: str) -> Callable[[Mapping[str, Any]], bool]:
    labels = by_labels(request.query.get("labelSelector", ""))
    fields = by_fields(request.query.get("fieldSelector", ""), kind)
    return lambda value: labels(value) and fields(value)


def _check_list(request: Request) -> None:
    causes = list(_wrong_list(request))
    if causes:
        raise invalid_options("ListOptions", causes)


def _wrong_list(request: Request) -> Iterator[Cause]:
    match, version = request.query.get("resourceVersionMatch", ""), request.query.get("resourceVersion", "")
    place = "resourceVersionMatch"
    if request.flag("watch"):
        sends = "sendInitialEvents" in request.query
        if match and not sends:
            yield forbidden(
                place, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            )
        if sends and match != "NotOlderThan":
            yield forbidden(place, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
            if match:
                yield unsupported(place, quoted(match), ("NotOlderThan",))
        return
    if "sendInitialEvents" in request.query:
        yield forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")
    if match and not version:
        yield forbidden(place, "resourceVersionMatch is forbidden unless resourceVersion is provided")
    if match and match not in {"Exact", "NotOlderThan"}:
        yield unsupported(place, quoted(match), ("Exact", "NotOlderThan", ""))
    if match == "Exact" and version == "0":
        yield forbidden(place, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')


def _version_of(request: Request) -> int:
    text = request.query.get("resourceVersion", "")
    if text and not text.isdigit():
        why = f'strconv.ParseUint: parsing "{text}": invalid syntax'
        told = f'invalid resource version: resourceVersion: Invalid value: "{text}": {why}'
        raise bad_request(told)
    return int(text or 0)


def _too_large(version: int, current: int) -> RequestError:
    text = f"Timeout: Too large resource version: {version}, current: {current}"
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    about = {"causes": [cause], "retryAfterSeconds": 1}
    return RequestError(504, "Timeout", text, about, headers={"Retry-After": "1"})


def _token(at: int, start: Key) -> str:
    told = {"rv": at, "resource": start.resource, "start": [start.namespace, start.name]}
    return base64.urlsafe_b64encode(json.dumps(told).encode()).decode()


def _is_partial(request: Request) -> bool:
    return "as=PartialObjectMetadata" in request.headers.get("accept", "")


def _shown(value: Object, request: Request) -> Object:
    if not _is_partial(request):
        return value
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": value["metadata"]}


def _item(value: Object, *, keeps_kind: bool) -> Object:
    """An item of a list of a built-in kind has no kind of its own."""
    if keeps_kind:
        return value
    return {key: each for key, each in value.items() if key not in {"kind", "apiVersion"}}
