"""From the body of a write to what is written: its kind, its names, how strict the request is.

The texts of refusals are those of the server, Go's own words included.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import yaml

from allotment.kubernetes.testing.answers import RequestError, bad_request
from allotment.kubernetes.testing.asked import JSON_PATCH, Request
from allotment.kubernetes.testing.decoding import parse
from allotment.kubernetes.testing.names import quoted
from allotment.kubernetes.testing.resources import Resource
from allotment.kubernetes.testing.store import Key

Object = dict[str, Any]
_METADATA: Final = (
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)


@dataclass(frozen=True)
class Place:
    """What a request is about."""

    resource: Resource
    namespace: str
    name: str
    subresource: str = ""

    @property
    def key(self) -> Key:
        """Where the object is kept."""
        return Key(self.resource.key, self.namespace, self.name)


def body_of(request: Request) -> tuple[Any, list[str]]:
    """The document of a body, and what is there twice."""
    try:
        return parse(request.body, is_yaml=request.content_type == "application/yaml")
    except (ValueError, yaml.YAMLError) as error:
        raise bad_request(f"the object provided is unrecognized: {error}") from error


def yaml_of(request: Request) -> tuple[Any, list[str]]:
    """The document of an apply, and what is there twice."""
    try:
        is_json = request.body.lstrip().startswith(b"{")
        value, twice = parse(request.body, is_yaml=not is_json)
        told = [_as_yaml(each) if is_json else each for each in twice]
        return value, [f"error converting YAML to JSON: {each}" for each in told]
    except (ValueError, yaml.YAMLError) as error:
        raise bad_request(f"error decoding YAML: {error}") from error


def _as_yaml(told: str) -> str:
    """What is told of a key that is twice in JSON, as a reader of YAML tells it."""
    key = told.rpartition(".")[2].removeprefix('duplicate field "').removesuffix('"')
    return f'yaml: unmarshal errors:\n  line 1: key "{key}" already set in map'


def patch_of(request: Request) -> Any:
    """The document of a patch."""
    try:
        patch = json.loads(request.body)
    except ValueError:
        raise bad_request("error decoding patch: unexpected end of JSON input") from None
    wanted = list if request.content_type == JSON_PATCH else dict
    if not isinstance(patch, wanted):
        sort = {list: "array", dict: "object", str: "string", bool: "bool"}.get(type(patch), "number")
        into = "[]handlers.jsonPatchOp" if wanted is list else "map[string]interface {}"
        raise bad_request(f"error decoding patch: json: cannot unmarshal {sort} into Go value of type {into}")
    return patch


def of_kind(resource: Resource, raw: Any) -> Object:
    """The object, of the kind that the path is about."""
    if raw is None:
        raw = {}
    if not isinstance(raw, dict):
        raise bad_request(cannot(resource, "json: cannot unmarshal into Go value"))
    kind, version = raw.get("kind") or resource.kind, raw.get("apiVersion") or resource.api_version
    if (kind, version) != (resource.kind, resource.api_version):
        found = f"{version}, Kind={kind}" if "/" in version else f"/{version}, Kind={kind}"
        wanted = f"{group_version(resource)}, Kind={resource.kind}"
        text = f"the API version in the data ({version}) does not match the expected API version "
        if version != resource.api_version:
            raise bad_request(f"{text}({resource.api_version})")
        raise bad_request(cannot(resource, f"the kind {found} is not {wanted}"))
    rest = {key: each for key, each in raw.items() if key not in {"kind", "apiVersion"}}
    return {"kind": kind, "apiVersion": version, **rest}


def strictness(told: list[str], request: Request, resource: Resource, shown: str) -> list[str]:
    """The warnings of strict decoding; refused where the request is strict."""
    if not told or request.level == "Ignore":
        return []
    if request.level == "Warn":
        return list(told)
    if request.is_apply:
        raise bad_request(f"error strict decoding YAML: {told[0]}")
    text = f"strict decoding error: {', '.join(told)}"
    if shown:
        raise bad_patch(shown, text)
    raise bad_request(cannot(resource, text))


def bad_patch(shown: str, why: str) -> RequestError:
    """A patch that leads to no object."""
    text = f"Invalid value: {quoted(shown)}: {why}"
    about = {"causes": [{"reason": "FieldValueInvalid", "message": text, "field": "patch"}]}
    return RequestError(422, "Invalid", f' "" is invalid: patch: {text}', about)


def cannot(resource: Resource, why: str) -> str:
    """What is said of a body that is no object."""
    return f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {why}'


def check_names(place: Place, value: Object, *, is_new: bool) -> None:
    """Refuse a body that is about another object than the path."""
    metadata = value["metadata"]
    name, namespace = metadata.get("name") or "", metadata.get("namespace") or ""
    if place.resource.is_namespaced and namespace and namespace != place.namespace:
        why = "the namespace of the provided object does not match the namespace sent on the request"
        raise bad_request(why)
    if not is_new and name and name != place.name:
        raise bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({place.name})"
        )


def check_replaced(place: Place, value: Object) -> None:
    """Refuse a replacement without a name, or with another."""
    if not value["metadata"].get("name"):
        raise _without_name(place)
    check_names(place, value, is_new=False)


def _without_name(place: Place) -> RequestError:
    told = f"the name of the object ({place.name} based on URL) was undeterminable: name must be provided"
    return bad_request(told)


def check_applied(place: Place, config: Any) -> None:
    """Refuse an apply that does not say what it is about."""
    told = config if isinstance(config, dict) else {}
    kind, version = told.get("kind") or "", told.get("apiVersion") or ""
    if (kind, version) != (place.resource.kind, place.resource.api_version):
        shown = version if "/" in version else f"/{version}"
        raise bad_request(f"invalid object type: {shown if version and kind else '/'}, Kind={kind}")
    metadata = told.setdefault("metadata", {}) or {}
    if metadata.get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    if not metadata.get("name"):
        raise _without_name(place)
    check_names(place, told, is_new=False)


def group_version(resource: Resource) -> str:
    """As messages have it: ``/v1``."""
    return f"{resource.group}/{resource.version}"


def stored_at(place: Place) -> str:
    """Where a server keeps an object."""
    return f"/registry/{place.resource.plural}/{place.namespace}/{place.name}"


def go_json(value: Object) -> str:
    """An object as a server shows it: by name, but for metadata, which is in the order of its type."""
    told = dict(sorted(value.items()))
    rank = {name: place for place, name in enumerate(_METADATA)}
    if isinstance(told.get("metadata"), dict):
        told["metadata"] = dict(sorted(told["metadata"].items(), key=lambda each: rank.get(each[0], 99)))
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False)


def go_text(value: Any) -> str:
    """A value as Go prints it."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{go_text(each)}" for key, each in sorted(value.items())) + "]"
    if isinstance(value, list):
        return "[" + " ".join(go_text(each) for each in value) + "]"
    return "<nil>" if value is None else str(value)
