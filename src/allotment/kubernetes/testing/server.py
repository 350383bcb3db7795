"""A fake API server: what a client sees of one, in this process.

    server = FakeApiServer()
    server.add_namespace("team-a")
    answer = server.request("POST", "/api/v1/namespaces/team-a/configmaps", body={...})

It answers as Kubernetes 1.36 was recorded to: server-side apply with owners and conflicts, strict
validation by the published schemas, versions, pages, watches, finalizers. Nothing runs in it: no scheduler,
no Job controller; a test plays those by writing status. ``loopback`` puts it behind HTTP for any client
library.
"""

from __future__ import annotations

import re
import time as clock
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from allotment.devices.server import Server
from allotment.kubernetes.testing import discovery, faults, reviews
from allotment.kubernetes.testing.answers import Answer, RequestError, invalid_options
from allotment.kubernetes.testing.asked import Request, delete_options, request_of, wrong_dry_run
from allotment.kubernetes.testing.bodies import Place
from allotment.kubernetes.testing.deletes import Deleter
from allotment.kubernetes.testing.permissions import Permissions
from allotment.kubernetes.testing.pod_doors import DOORS, PodDoors
from allotment.kubernetes.testing.pod_logs import PodLogs
from allotment.kubernetes.testing.reads import Reader
from allotment.kubernetes.testing.resources import BUILT_IN, Resource, of_definition
from allotment.kubernetes.testing.schemas import Schema, Schemas, published
from allotment.kubernetes.testing.store import Key, Store
from allotment.kubernetes.testing.writes import Writer

_PATH: Final = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+)/(?P<version>[^/]+))(?P<watch>/watch)?"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/[^/]))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<sub>[^/]+))?"
)
_NOT_ALLOWED: Final = "the server does not allow this method on the requested resource"
_NO_RESOURCE: Final = "the server could not find the requested resource"
_LARGEST: Final = 3 * 1024 * 1024
LOG: Final = "log"
RBAC: Final = "rbac.authorization.k8s.io"
_SUFFIX_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"


class FakeApiServer:
    """An API server in this process; ``now`` gives the time, ``plan`` the faults.

    ``kinds`` are served beside those of Kubernetes (`custom_kinds.KUEUE`, `custom_kinds.KAI`); ``collects``
    says whether dependents of what is deleted go at once, as a garbage collector would have them go.
    ``permissions`` says who asks and what they may do; without them, all is allowed. ``tokens`` says it of
    each bearer of a token, and whoever brings none of them is answered 401.
    """

    def __init__(
        self,
        version: str = "1.36",
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        plan: faults.Plan = faults.none,
        sleep: Callable[[float], None] = clock.sleep,
        collects: bool = True,
        kinds: Sequence[Resource] = (),
        permissions: Permissions | None = None,
        tokens: Mapping[str, Permissions] | None = None,
    ) -> None:
        self.version = version
        self.store = Store()
        self.plan = plan
        self.permissions = permissions
        self.tokens = tokens
        self.requests: list[Request] = []
        self._sleep = sleep
        self._schemas: Schemas = published(version)
        self._kinds = tuple(kinds)
        self._count = 0

        def stamp(seconds: int = 0) -> str:
            return (now() + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")

        self._writer = Writer(
            self.store, self.schema_of, Server.of(version), stamp, self._fresh_uid, self._fresh_suffix
        )
        self._reader = Reader(self.store)
        self._deleter = Deleter(self.store, stamp, collects)
        self._pods = PodDoors(self.store, self._deleter, stamp)
        self.logs = PodLogs(self.store, now)

    def add_namespace(self, name: str) -> None:
        """A namespace, with the service account that every one has."""
        space = f"/api/v1/namespaces/{name}"
        for path, named in (("/api/v1/namespaces", name), (f"{space}/serviceaccounts", "default")):
            request = request_of("POST", path, {}, {}, {"metadata": {"name": named}})
            self.requests.append(request)
            self._answered(request, None)

    def compact(self) -> None:
        """Forget older versions: pages and watches that begin there are answered 410."""
        self.store.compact()

    def request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: Any = b"",
    ) -> Answer:
        """Answer a request; a body that is no bytes is sent as JSON."""
        request = request_of(method, path, query, headers, body)
        self.requests.append(request)
        fault = self.plan(len(self.requests) - 1, request)
        if fault is None:
            return self._allowed(request)
        if fault.delay:
            self._sleep(fault.delay)
        if fault.is_cut and not fault.is_after:
            raise faults.CutError("the connection was cut")
        if fault.status and not fault.is_after:
            return fault.refusal().answer()
        answer = self._allowed(request)
        if fault.is_cut:
            raise faults.CutError("the connection was cut")
        return fault.refusal().answer() if fault.status else answer

    def play(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: Any = b"",
    ) -> Answer:
        """What the cluster itself does: past permissions and faults, and not among the requests."""
        return self._answered(request_of(method, path, query, headers, body), None)

    def schema_of(self, resource: Resource) -> Schema:
        """The schema of a resource's objects."""
        if resource.schema is not None:
            return self._schemas.of_custom(resource.schema)
        return self._schemas.named(resource.definition)

    def resources(self) -> tuple[Resource, ...]:
        """All that it serves, those of custom definitions too."""
        crds = self.store.listed(("apiextensions.k8s.io", "customresourcedefinitions"), "")
        return (*BUILT_IN, *self._kinds, *(each for _, crd in crds for each in of_definition(crd)))

    def _allowed(self, request: Request) -> Answer:
        person = self.permissions
        if self.tokens is not None:
            person = self.tokens.get(request.headers.get("authorization", "").removeprefix("Bearer "))
            if person is None:
                return RequestError(401, "Unauthorized", "Unauthorized").answer()
        if person is not None and person.is_by_roles:
            kept = self.store.everything()
            person = person.under(value for key, value in kept if key.resource[0] == RBAC)
        return self._answered(request, person)

    def _answered(self, request: Request, allowed: Permissions | None) -> Answer:
        with self.store.changed:
            try:
                return self._route(request, allowed)
            except RequestError as error:
                return error.answer()

    def _route(self, request: Request, allowed: Permissions | None) -> Answer:
        told = discovery.answer(request, self.resources(), self.version)
        if told is None:
            told = reviews.answer(request, allowed or Permissions())
        if told is not None:
            return told
        found = _PATH.fullmatch(request.path)
        if found is None:
            if allowed is not None:
                allowed.check_path(request.path)
            return Answer(404, "404 page not found\n", {"Content-Type": "text/plain"})
        group, version = (found["group"] or "", found["version"] or found["core"])
        if allowed is not None:
            asked = Resource(group, version, found["plural"], "")
            place = Place(asked, found["namespace"] or "", found["name"] or "", found["sub"] or "")
            allowed.check(place, request, is_new=self.store.get(place.key) is None)
        served = [each for each in self.resources() if (each.group, each.version) == (group, version)]
        is_known = any(each.group == group for each in self.resources())
        if not served and not is_known:
            return Answer(404, "404 page not found\n", {"Content-Type": "text/plain"})
        resource = next((each for each in served if each.plural == found["plural"]), None)
        if resource is None or (resource.is_namespaced is False and found["namespace"]):
            raise RequestError(404, "NotFound", _NO_RESOURCE, {})
        if len(request.body) > _LARGEST:
            raise RequestError(413, "RequestEntityTooLarge", f"Request entity too large: limit is {_LARGEST}")
        place = Place(resource, found["namespace"] or "", found["name"] or "", found["sub"] or "")
        if found["watch"]:
            return self._reader.watch(place, request)
        if place.subresource and not _has(resource, place.subresource):
            raise RequestError(404, "NotFound", _NO_RESOURCE, {})
        return self._served(place, request)

    def _served(self, place: Place, request: Request) -> Answer:
        serve = self._doors(place).get(request.method)
        if serve is None:
            raise RequestError(405, "MethodNotAllowed", _NOT_ALLOWED, {})
        return serve(place, request)

    def _doors(self, place: Place) -> Mapping[str, Callable[[Place, Request], Answer]]:
        """What can be done to an object, its status, a collection."""
        if place.subresource in DOORS:
            return {"POST": self._pods.bind if place.subresource == "binding" else self._pods.evict}
        if place.subresource == LOG:
            return {"GET": self.logs.read}
        if place.subresource:
            return {"GET": self._reader.get, "PUT": self._writer.replace, "PATCH": self._writer.patch}
        if place.name:
            return {
                "GET": self._reader.get,
                "PUT": self._writer.replace,
                "PATCH": self._writer.patch,
                "DELETE": self._deleted,
            }
        reads: dict[str, Callable[[Place, Request], Answer]] = {"GET": self._read_all}
        if place.resource.is_namespaced and not place.namespace:
            return reads
        return {**reads, "POST": self._created, "DELETE": self._delete_all}

    def _read_all(self, place: Place, request: Request) -> Answer:
        return (self._reader.watch if request.flag("watch") else self._reader.list)(place, request)

    def _created(self, place: Place, request: Request) -> Answer:
        answer = self._writer.create(place, request)
        if place.resource.kind == "CustomResourceDefinition" and answer.status == 201:
            answer.body = self._established(place.resource, answer.body)
        return answer

    def _established(self, resource: Resource, crd: dict[str, Any]) -> dict[str, Any]:
        """A definition whose names are taken: what the server itself says of it."""
        name = crd["metadata"]["name"]
        stored = [each["name"] for each in crd["spec"].get("versions") or () if each.get("storage")]
        status = {
            "conditions": [
                _condition(crd, "NamesAccepted", "NoConflicts", "no conflicts found"),
                _condition(
                    crd, "Established", "InitialNamesAccepted", "the initial names have been accepted"
                ),
            ],
            "acceptedNames": {"listKind": f"{crd['spec']['names']['kind']}List", **crd["spec"]["names"]},
            "storedVersions": stored,
        }
        key = Key(resource.key, "", name)
        if self.store.get(key) is None:
            return crd
        self.store.put(key, {**crd, "status": status})
        return crd

    def _deleted(self, place: Place, request: Request) -> Answer:
        causes = list(wrong_dry_run(request.query.get("dryRun", "")))
        if causes:
            raise invalid_options("DeleteOptions", causes)
        return self._deleter.delete(place, delete_options(request))

    def _delete_all(self, place: Place, request: Request) -> Answer:
        listed = self._reader.list(place, request)
        options = delete_options(request)
        for item in listed.body["items"]:
            metadata = item["metadata"]
            self._deleter.delete(
                Place(place.resource, metadata.get("namespace", ""), metadata["name"]), options
            )
        return listed

    def _fresh_uid(self) -> str:
        self._count += 1
        return str(UUID(int=self._count + (0x4A << 72), version=4))

    def _fresh_suffix(self) -> str:
        self._count += 1
        number, letters = self._count * 7919, ""
        for _ in range(5):
            number, place = divmod(number, len(_SUFFIX_LETTERS))
            letters += _SUFFIX_LETTERS[place]
        return letters


def _condition(crd: Mapping[str, Any], sort: str, reason: str, message: str) -> dict[str, str]:
    time = crd["metadata"]["creationTimestamp"]
    told = {"type": sort, "status": "True", "lastTransitionTime": time}
    return {**told, "reason": reason, "message": message}


def _has(resource: Resource, subresource: str) -> bool:
    is_pod = resource.kind == "Pod" and not resource.group
    return (subresource == "status" and resource.has_status) or (is_pod and subresource in {*DOORS, LOG})
