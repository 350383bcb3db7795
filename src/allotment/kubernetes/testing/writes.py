"""Writes: create, replace, patch and apply, with versions, generations, owners and the rules of each kind."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from allotment.devices.server import Server
from allotment.kubernetes.testing import ownership, preparing, rules
from allotment.kubernetes.testing.answers import (
    Answer,
    Cause,
    RequestError,
    already_there,
    bad_request,
    conflict,
    invalid,
    not_found,
    went_wrong,
)
from allotment.kubernetes.testing.applied import message, misfits
from allotment.kubernetes.testing.asked import (
    APPLY,
    JSON_PATCH,
    MERGE,
    PATCHES,
    STRATEGIC,
    Request,
    check_options,
    unsupported_media,
)
from allotment.kubernetes.testing.bodies import (
    Place,
    bad_patch,
    body_of,
    cannot,
    check_applied,
    check_names,
    check_replaced,
    go_json,
    go_text,
    group_version,
    of_kind,
    patch_of,
    stored_at,
    strictness,
    yaml_of,
)
from allotment.kubernetes.testing.bookkeeping import (
    ignored_parts,
    is_gone,
    main_part,
    same_owners,
    warned_of,
    with_owners,
    with_server_metadata,
)
from allotment.kubernetes.testing.decoding import DecodingError, canonical, decode
from allotment.kubernetes.testing.defaults import with_defaults
from allotment.kubernetes.testing.looked_up import check_looked_up, check_namespace
from allotment.kubernetes.testing.ownership import ConflictsError, Manager
from allotment.kubernetes.testing.patches import PatchError, json_patch, merge_patch, strategic_patch
from allotment.kubernetes.testing.resources import Resource
from allotment.kubernetes.testing.rules.custom import with_custom_defaults
from allotment.kubernetes.testing.schemas import Schema
from allotment.kubernetes.testing.store import Key, Store

Object = dict[str, Any]
_MODIFIED: Final = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


@dataclass(frozen=True)
class Writer:
    """What writes go by; time, uids and suffixes are passed in."""

    store: Store
    schema_of: Callable[[Resource], Schema]
    server: Server
    now: Callable[[], str]
    fresh_uid: Callable[[], str]
    fresh_suffix: Callable[[], str]

    def create(self, place: Place, request: Request) -> Answer:
        """POST of a new object."""
        check_options(request)
        raw, twice = body_of(request)
        value, warnings = self._decoded(place.resource, raw, twice, request)
        return self._create(place, value, request, warnings, owners=None)

    def replace(self, place: Place, request: Request) -> Answer:
        """PUT of an object that is there."""
        check_options(request)
        raw, twice = body_of(request)
        value, warnings = self._decoded(place.resource, raw, twice, request)
        check_replaced(place, value)
        if place.resource.is_put_new and self.store.get(place.key) is None:
            return self._create(place, value, request, warnings, owners=None)
        old = self._present(place)
        metadata = value["metadata"]
        if place.resource.needs_version and not metadata.get("resourceVersion"):
            cause = Cause(
                "metadata.resourceVersion",
                "FieldValueInvalid",
                "Invalid value: 0: must be specified for an update",
            )
            raise invalid(place.resource.group, place.resource.plural, place.name, [cause])
        if metadata.get("uid") and metadata["uid"] != old["metadata"]["uid"]:
            told = f"Precondition failed: UID in precondition: {metadata['uid']}, UID in object meta: "
            text = f"StorageError: invalid object, Code: 4, Key: {stored_at(place)}, ResourceVersion: 0, "
            raise conflict(
                place.resource, place.name, f"{text}AdditionalErrorMsg: {told}{old['metadata']['uid']}"
            )
        return self._update(place, old, value, request, warnings)

    def patch(self, place: Place, request: Request) -> Answer:
        """PATCH of any kind."""
        if request.content_type not in PATCHES:
            raise unsupported_media(PATCHES)
        check_options(request)
        if request.content_type == APPLY:
            return self._apply(place, request)
        if request.content_type == STRATEGIC and place.resource.schema is not None:
            raise unsupported_media(each for each in PATCHES if each != STRATEGIC)
        old = self._present(place)
        raw, shown = self._patched(place.resource, old, request)
        told: list[str] = []
        value, warnings = self._decoded(place.resource, raw, told, request, shown=shown)
        check_names(place, value, is_new=False)
        return self._update(place, old, value, request, warnings)

    def _patched(self, resource: Resource, old: Object, request: Request) -> tuple[Object, str]:
        patch = patch_of(request)
        base = copy.deepcopy(old)
        if request.content_type == MERGE:
            value = merge_patch(base, patch)
            return value, go_json(value)
        try:
            if request.content_type == JSON_PATCH:
                value = json_patch(base, patch)
                return value, go_json(value)
            return strategic_patch(base, patch, self.schema_of(resource)), go_text(patch)
        except PatchError as error:
            if request.content_type == STRATEGIC:
                raise went_wrong(str(error)) from error
            text = "the server rejected our request due to an error in our request"
            raise RequestError(422, "Invalid", text, {}) from error

    def _apply(self, place: Place, request: Request) -> Answer:
        resource, schema = place.resource, self.schema_of(place.resource)
        config, twice = yaml_of(request)
        warnings = strictness(twice, request, resource, "")
        check_applied(place, config)
        found = list(misfits(config, schema))
        if found:
            inside = config["metadata"].get("namespace", "")
            raise went_wrong(
                f"failed to create typed patch object ({inside}/{place.name}; "
                f"{group_version(resource)}, Kind={resource.kind}): {message(found)}"
            )
        old = self.store.get(place.key)
        if old is None and place.subresource:
            raise not_found(resource, place.name)
        uid, version = config["metadata"].get("uid"), config["metadata"].get("resourceVersion")
        if old is None and uid:
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise conflict(resource, place.name, why)
        if old is not None and version and version != old["metadata"]["resourceVersion"]:
            raise conflict(resource, place.name, _MODIFIED)
        live = old or self._empty(resource)
        manager = Manager(request.manager, ownership.APPLY, resource.api_version, place.subresource)
        ignored = ignored_parts(place)
        try:
            applied = ownership.after_apply(
                live,
                config,
                ownership.read_owners(live.get("metadata") or {}),
                manager,
                schema,
                now=self.now(),
                force=request.flag("force"),
                ignored=ignored,
            )
        except ConflictsError as error:
            causes = [
                {"reason": "FieldManagerConflict", "message": text, "field": field}
                for text, field in error.causes()
            ]
            raise RequestError(409, "Conflict", error.message, {"causes": causes}) from error
        try:
            value = decode(applied.value, schema).value
        except DecodingError as error:
            raise bad_request(str(error)) from error
        if old is None:
            return self._create(place, value, request, warnings, owners=applied.owners)
        return self._keep_update(place, old, value, request, warnings, owners=applied.owners)

    def _create(
        self,
        place: Place,
        value: Object,
        request: Request,
        warnings: list[str],
        *,
        owners: ownership.Owners | None,
    ) -> Answer:
        resource, schema = place.resource, self.schema_of(place.resource)
        check_names(place, value, is_new=True)
        metadata = dict(value["metadata"])
        if metadata.get("resourceVersion"):
            raise went_wrong("resourceVersion should not be set on objects to be created")
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = preparing.generated(metadata["generateName"], self.fresh_suffix())
        if resource.is_namespaced:
            check_namespace(resource, place.namespace, metadata.get("name", ""), self.store)
            metadata["namespace"] = place.namespace
        for name in ("deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"):
            metadata.pop(name, None)
        metadata |= {"uid": self.fresh_uid(), "creationTimestamp": self.now()}
        if resource.has_generation:
            metadata["generation"] = 1
        value = self._completed(resource, {**value, "metadata": metadata})
        if owners is None:
            manager = Manager(request.manager, ownership.UPDATE, resource.api_version)
            clean = preparing.kept_status(value, self._empty(resource)) if resource.has_status else value
            owners = ownership.after_update(self._empty(resource), clean, {}, manager, schema, now=self.now())
        value = canonical(preparing.prepared(resource, value), schema)
        causes = rules.of_new(resource, value, self.server)
        name = metadata.get("name", "")
        if causes:
            refused = invalid(resource.group, resource.kind, name, causes)
            refused.warnings = warnings
            raise refused
        check_looked_up(resource, place.namespace, value, self.store)
        value = preparing.finished(resource, value, self.server)
        key = Key(resource.key, place.namespace, name)
        there = self.store.get(key)
        if there is not None:
            raise already_there(resource, name, going="deletionTimestamp" in there["metadata"])
        value = with_owners(value, owners)
        warnings = [*warnings, *warned_of(resource, value)]
        kept = value if request.is_dry_run else self.store.put(key, value)
        return Answer(201, kept, warnings=warnings)

    def _update(
        self, place: Place, old: Object, value: Object, request: Request, warnings: list[str]
    ) -> Answer:
        resource, schema = place.resource, self.schema_of(place.resource)
        value = with_server_metadata(value, old)
        told = value["metadata"].get("managedFields")
        value = self._completed(resource, value)
        value = preparing.only_status(value, old) if place.subresource else main_part(resource, value, old)
        if told == [{}]:
            return self._keep_update(place, old, value, request, warnings, owners={})
        owners = ownership.after_update(
            old,
            value,
            ownership.read_owners(old["metadata"]),
            Manager(request.manager, ownership.UPDATE, resource.api_version, place.subresource),
            schema,
            now=self.now(),
        )
        return self._keep_update(place, old, value, request, warnings, owners=owners)

    def _keep_update(
        self,
        place: Place,
        old: Object,
        value: Object,
        request: Request,
        warnings: list[str],
        *,
        owners: ownership.Owners,
    ) -> Answer:
        resource, schema = place.resource, self.schema_of(place.resource)
        version = value["metadata"].get("resourceVersion")
        if version and version != old["metadata"]["resourceVersion"]:
            raise conflict(resource, place.name, _MODIFIED)
        value = self._completed(resource, with_server_metadata(value, old))
        value = preparing.only_status(value, old) if place.subresource else main_part(resource, value, old)
        value = preparing.with_given(resource, value, old)
        is_same = ownership.without_owners(value) == ownership.without_owners(old)
        value = canonical(value, schema)
        if resource.has_generation and not place.subresource and preparing.differs_in_spec(old, value):
            generation = (old["metadata"].get("generation") or 0) + 1
            value = {**value, "metadata": {**value["metadata"], "generation": generation}}
        check = rules.of_status if place.subresource == "status" else rules.of_change
        causes = check(resource, old, value, self.server)
        if causes:
            raise invalid(resource.group, resource.kind, place.name, causes)
        value = with_owners(value, owners)
        if is_same and same_owners(old, value):
            return Answer(200, old, warnings=warnings)
        if request.is_dry_run:
            return Answer(200, value, warnings=warnings)
        if is_gone(value):
            self.store.remove(place.key)
            return Answer(200, value, warnings=warnings)
        return Answer(200, self.store.put(place.key, value), warnings=warnings)

    def _completed(self, resource: Resource, value: Object) -> Object:
        if resource.schema is not None:
            filled: Object = with_custom_defaults(value, resource.schema)
            return filled
        return with_defaults(resource.kind, preparing.converted(resource, value), resource.empty)

    def _empty(self, resource: Resource) -> Object:
        empty = copy.deepcopy(dict(resource.empty))
        return {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": {}, **empty}

    def _present(self, place: Place) -> Object:
        found = self.store.get(place.key)
        if found is None:
            raise not_found(place.resource, place.name)
        return found

    def _decoded(
        self, resource: Resource, raw: Any, twice: list[str], request: Request, *, shown: str = ""
    ) -> tuple[Object, list[str]]:
        value = of_kind(resource, raw)
        try:
            decoded = decode(value, self.schema_of(resource))
        except DecodingError as error:
            if shown and request.content_type != STRATEGIC:
                raise bad_patch(shown, str(error)) from error
            raise bad_request(cannot(resource, str(error))) from error
        decoded.value.setdefault("metadata", {})
        return decoded.value, strictness([*twice, *decoded.told], request, resource, shown)
