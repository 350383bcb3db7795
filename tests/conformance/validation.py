"""The rules on objects of ``resource.k8s.io`` against the answers of a real API server.

``verdict``: whether the server takes the object, and if not, the place and the reason of every cause.
``unknown``: the fields that strict decoding refuses. ``stored``: the spec with its defaults, as the server
answers it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from allotment.devices.reading import read_world
from allotment.devices.validation import Server, validate
from allotment.devices.validation.defaults import with_defaults
from allotment.devices.validation.problems import Problem
from allotment.devices.validation.updates import of_change, of_status_change
from allotment.documents.stream import scan_stream_bytes
from tests.conformance.outcomes import ALL, Outcome, Share, read_json

PATH = re.compile(
    r"/apis/resource\.k8s\.io/(?P<version>\w+)/(namespaces/[^/]+/)?(?P<resource>[a-z]+)(?P<rest>.*)"
)
KINDS = {
    "resourceclaims": "ResourceClaim",
    "resourceclaimtemplates": "ResourceClaimTemplate",
    "deviceclasses": "DeviceClass",
    "resourceslices": "ResourceSlice",
    "devicetaintrules": "DeviceTaintRule",
}
TOKEN = re.compile(r"<([A-Z]+[0-9]*)>")
STRICT = re.compile(r'unknown field "([^"]+)"')
TAKEN = frozenset({200, 201})
Objects = dict[str, Mapping[str, Any]]


def run_validation(path: Path, share: Share = ALL) -> Iterator[Outcome]:
    """Every request of a recording that writes such an object."""
    data = read_json(path)
    server = Server.of(data["meta"]["version"])
    for case in share(data["cases"]):
        stored: Objects = {}
        for number, step in enumerate(case["steps"]):
            yield from _compare(f"{case['name']} [{number}]", step, stored, server)


def _compare(name: str, step: Mapping[str, Any], stored: Objects, server: Server) -> Iterator[Outcome]:
    found = PATH.fullmatch(step.get("path", ""))
    if found is None or found["resource"] not in KINDS or not isinstance(step.get("body"), dict):
        return
    body: dict[str, Any] = _named(step["body"])
    answer: dict[str, Any] = _named(step.get("answer") or {})
    kind, status, told = KINDS[found["resource"]], answer.get("status"), answer.get("body") or {}
    if status == 400 and (unknown := STRICT.findall(told["message"])):
        yield Outcome(name, "unknown", tuple(sorted(unknown)), _unknown({"kind": kind, **body}))
    if status not in TAKEN | {422} or step["method"] not in {"POST", "PATCH"}:
        return
    key = f"{kind} {body.get('metadata', {}).get('name') or found['rest'].split('/')[1]}"
    before, after = stored.get(key), _after(step, body, stored.get(key, {}))
    causes = () if status in TAKEN else (told["details"].get("causes") or ())
    expected = tuple(sorted({(cause["field"], cause["reason"]) for cause in causes}))
    problems = _problems(kind, before, after, server, of_status=found["rest"].endswith("/status"))
    yield Outcome(
        name, "verdict", expected, tuple(sorted({(each.path, str(each.reason)) for each in problems}))
    )
    if status in TAKEN:
        if before is None and "spec" in told:
            filled = with_defaults(kind, after)
            yield Outcome(name, "stored", _without_empty(told["spec"]), _without_empty(filled["spec"]))
        stored[key] = told


def _named(value: Any) -> Any:
    """What a recording leaves open as the names that it stands for."""
    return json.loads(TOKEN.sub(lambda token: token[1].lower(), json.dumps(value)))


def _after(step: Mapping[str, Any], body: Mapping[str, Any], before: Mapping[str, Any]) -> Mapping[str, Any]:
    is_merge = step.get("headers", {}).get("content-type", "") == "application/merge-patch+json"
    return _merged(before, body) if is_merge else body


def _merged(old: Any, new: Any) -> Any:
    if not isinstance(new, dict):
        return new
    old = old if isinstance(old, dict) else {}
    rest = {key: value for key, value in old.items() if key not in new}
    return {**rest, **{key: _merged(old.get(key), value) for key, value in new.items() if value is not None}}


def _problems(
    kind: str, before: Mapping[str, Any] | None, after: Mapping[str, Any], server: Server, *, of_status: bool
) -> Iterator[Problem]:
    verdict = validate(kind, after, server=server, namespace_labels={})
    told = [each for each in verdict.problems if not each.tolerated]
    if of_status:
        yield from of_status_change(before or {}, after)
        yield from (each for each in told if each.loc[0] == "status")
    elif before is not None and kind != "DeviceClass":
        yield from of_change(kind, *(_without_empty(with_defaults(kind, each)) for each in (before, after)))
    else:
        yield from (each for each in told if each.loc[0] != "status")


def _unknown(body: Mapping[str, Any]) -> tuple[str, ...]:
    documents, _ = scan_stream_bytes(json.dumps(body).encode(), name="body")
    messages = [each.message for each in read_world(documents).findings if each.rule == "unknown-field"]
    return tuple(sorted(message.split("`")[1] for message in messages))


def _without_empty(value: Any) -> Any:
    if not isinstance(value, dict):
        return value if not isinstance(value, list) else [_without_empty(item) for item in value]
    return {key: found for key, item in value.items() if (found := _without_empty(item)) not in ({}, None)}
