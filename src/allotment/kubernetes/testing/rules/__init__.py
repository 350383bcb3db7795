"""What an API server holds objects to, by kind: new ones, changed ones, and their status.

A kind that has no rules here is held to its schema and to the rules on metadata.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from allotment.devices.server import Server
from allotment.devices.validation import validate
from allotment.devices.validation.problems import Problem, Reason
from allotment.devices.validation.updates import of_change as of_device_change
from allotment.devices.validation.updates import of_status_change
from allotment.kubernetes.testing.answers import Cause, forbidden, required, wrong
from allotment.kubernetes.testing.names import of_metadata, of_metadata_change, quoted
from allotment.kubernetes.testing.resources import Resource
from allotment.kubernetes.testing.rules import jobs, pods
from allotment.kubernetes.testing.rules.custom import of_custom
from allotment.kubernetes.testing.rules.job_status import of_job_status

Raw = Mapping[str, Any]
_DATA_KEY: Final = re.compile(r"[-._a-zA-Z0-9]+")
_DATA_KEY_WORDS: Final = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
    "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
_LARGEST: Final = 1024 * 1024
_STARTS: Final = {
    Reason.REQUIRED: "Required value",
    Reason.FORBIDDEN: "Forbidden",
    Reason.TOO_LONG: "Too long",
    Reason.DUPLICATE: "Duplicate value",
    Reason.NOT_SUPPORTED: "Unsupported value",
    Reason.NOT_FOUND: "Not found",
    Reason.TOO_MANY: "Too many",
}
_KEYS_OF: Final = {
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}
_DEVICE_GROUP: Final = "resource.k8s.io"
_WHEN_IMMUTABLE: Final = "field is immutable when `immutable` is set"


def of_new(resource: Resource, value: Raw, server: Server) -> list[Cause]:
    """What is wrong with a new object."""
    if resource.group == _DEVICE_GROUP:
        return list(_of_device(resource, value, server))
    causes = list(of_metadata(value["metadata"], namespaced=resource.is_namespaced))
    if resource.schema is not None:
        return [*causes, *of_custom(value, resource.schema)]
    return [*causes, *_NEW.get(resource.kind, _nothing)(value)]


def of_change(resource: Resource, old: Raw, new: Raw, server: Server) -> list[Cause]:
    """What is wrong with a change of an object."""
    causes = list(of_metadata_change(old["metadata"], new["metadata"]))
    if resource.group == _DEVICE_GROUP:
        problems = list(of_device_change(resource.kind, old, new))
        return (
            [*causes, *(_cause(new, each) for each in problems)]
            if problems
            else [*causes, *_of_device(resource, new, server)]
        )
    causes.extend(of_metadata(new["metadata"], namespaced=resource.is_namespaced))
    if resource.schema is not None:
        return [*causes, *of_custom(new, resource.schema)]
    return [*causes, *_CHANGED.get(resource.kind, _nothing_changed)(old, new)]


def of_status(resource: Resource, old: Raw, new: Raw, server: Server) -> list[Cause]:
    """What is wrong with a status that has been written."""
    causes = list(of_metadata_change(old["metadata"], new["metadata"]))
    if resource.group == _DEVICE_GROUP:
        told = validate(resource.kind, new, server=server, namespace_labels={}).problems
        problems = [each for each in told if not each.tolerated and each.loc[0] == "status"]
        problems = [*of_status_change(old, new), *problems]
        return [*causes, *(_cause(new, each) for each in problems)]
    if resource.schema is not None:
        return [*causes, *of_custom(new, resource.schema)]
    return [*causes, *(of_job_status(old, new) if resource.kind == "Job" else ())]


def _nothing(_: Raw) -> Iterator[Cause]:
    yield from ()


def _nothing_changed(_: Raw, __: Raw) -> Iterator[Cause]:
    yield from ()


def _of_device(resource: Resource, value: Raw, server: Server) -> Iterator[Cause]:
    verdict = validate(resource.kind, value, version=resource.version, server=server, namespace_labels={})
    yield from (
        _cause(value, each) for each in verdict.problems if not each.tolerated and each.loc[0] != "status"
    )


def _cause(value: Raw, problem: Problem) -> Cause:
    """A problem of the rules on devices, with what the server puts before it."""
    found: Any = value
    for step in problem.loc:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            found = None
    text = problem.text
    for shown in (f"`{found}` ", f"{found} ", "is not supported: ", "are too many: "):
        text = text.removeprefix(shown)
    if problem.reason is Reason.INVALID:
        return wrong(problem.path, jobs.go_struct(found), text)
    start = _STARTS.get(problem.reason, "")
    return Cause(problem.path, str(problem.reason), text if text.startswith(start) else f"{start}: {text}")


def _of_config_map(value: Raw) -> Iterator[Cause]:
    data, binary = value.get("data") or {}, value.get("binaryData") or {}
    for key in data:
        yield from _of_data_key(key, "data")
        if key in binary:
            yield wrong(f"data[{key}]", quoted(key), "duplicate of key present in binaryData")
    for key in binary:
        yield from _of_data_key(key, "binaryData")
    size = sum(len(text.encode()) for text in data.values())
    size += sum(len(base64.b64decode(text)) for text in binary.values())
    if size > _LARGEST:
        yield Cause("[]", "FieldValueTooLong", f"Too long: may not be more than {_LARGEST} bytes")


def _of_data_key(key: str, place: str) -> Iterator[Cause]:
    if not _DATA_KEY.fullmatch(key):
        yield wrong(f"{place}[{key}]", quoted(key), _DATA_KEY_WORDS)
    if len(key) > 253:
        yield wrong(f"{place}[{key}]", quoted(key), "must be no more than 253 characters")
    if key == "." or key.startswith(".."):
        yield wrong(f"{place}[{key}]", quoted(key), "must not be '.' or start with '..'")


def _of_config_map_change(old: Raw, new: Raw) -> Iterator[Cause]:
    yield from _of_immutable(old, new, ("data", "binaryData"))
    yield from _of_config_map(new)


def _of_secret(value: Raw) -> Iterator[Cause]:
    size = 0
    for key, text in (value.get("data") or {}).items():
        yield from _of_data_key(key, "data")
        try:
            size += len(base64.b64decode(text, validate=True))
        except binascii.Error:
            yield wrong(f"data[{key}]", quoted(text), "illegal base64 data")
    for key in _KEYS_OF.get(value.get("type", ""), ()):
        if key not in (value.get("data") or {}):
            yield required(f"data[{key}]")
    if size > _LARGEST:
        yield Cause("data", "FieldValueTooLong", f"Too long: may not be more than {_LARGEST} bytes")


def _of_secret_change(old: Raw, new: Raw) -> Iterator[Cause]:
    if old.get("type") != new.get("type"):
        yield wrong("type", quoted(new.get("type")), "field is immutable")
    yield from _of_immutable(old, new, ("data",))
    yield from _of_secret(new)


def _of_immutable(old: Raw, new: Raw, fields: tuple[str, ...]) -> Iterator[Cause]:
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        yield forbidden("immutable", _WHEN_IMMUTABLE)
    for name in fields:
        if (old.get(name) or {}) != (new.get(name) or {}):
            yield forbidden(name, _WHEN_IMMUTABLE)


def _of_lease(value: Raw) -> Iterator[Cause]:
    spec = value.get("spec") or {}
    seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if seconds is not None and seconds <= 0:
        yield wrong("spec.leaseDurationSeconds", str(seconds), "must be greater than 0")
    if transitions is not None and transitions < 0:
        yield wrong("spec.leaseTransitions", str(transitions), "must be greater than or equal to 0")


def _of_pod(value: Raw) -> Iterator[Cause]:
    yield from pods.of_spec(value["spec"], "spec")


def _of_pod_template(value: Raw) -> Iterator[Cause]:
    yield from pods.of_template(value["template"], "template")


def _without_images(spec: Raw) -> dict[str, Any]:
    sorts = ("containers", "initContainers")
    masked = {sort: [{**each, "image": ""} for each in spec[sort]] for sort in sorts if spec.get(sort)}
    return {**spec, **masked}


def _of_pod_change(old: Raw, new: Raw) -> Iterator[Cause]:
    free = {
        "activeDeadlineSeconds",
        "tolerations",
        "terminationGracePeriodSeconds",
    }
    before, after = _without_images(old["spec"]), _without_images(new["spec"])
    if {k: v for k, v in before.items() if k not in free} != {
        k: v for k, v in after.items() if k not in free
    }:
        why = (
            "pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
            "(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
            "(allow it to be set to 1 if it was previously negative)"
        )
        yield forbidden("spec", why)


def _of_definition(value: Raw) -> Iterator[Cause]:
    spec = value.get("spec") or {}
    name = f"{(spec.get('names') or {}).get('plural', '')}.{spec.get('group', '')}"
    if value["metadata"].get("name") != name:
        yield wrong(
            "metadata.name", quoted(value["metadata"].get("name")), 'must be spec.names.plural+"."+spec.group'
        )


_NEW: Final[Mapping[str, Callable[[Raw], Iterator[Cause]]]] = {
    "ConfigMap": _of_config_map,
    "Secret": _of_secret,
    "Lease": _of_lease,
    "Pod": _of_pod,
    "PodTemplate": _of_pod_template,
    "Job": jobs.of_new,
    "CustomResourceDefinition": _of_definition,
}
_CHANGED: Final[Mapping[str, Callable[[Raw, Raw], Iterator[Cause]]]] = {
    "ConfigMap": _of_config_map_change,
    "Secret": _of_secret_change,
    "Lease": lambda _, new: _of_lease(new),
    "Pod": _of_pod_change,
    "PodTemplate": lambda _, new: _of_pod_template(new),
    "Job": jobs.of_change,
}
