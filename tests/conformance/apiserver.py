"""The fake API server against what a real one was recorded to answer, request by request.

``status``: the code. ``refusal``: the reason, and the place and reason of every cause. ``text``: the
message. ``object``: what is answered where it is no refusal. ``events``: those of a watch. ``warnings``:
the headers.

The recordings name what differs from run to run by tokens, which are bound where they are seen first. Left
out are the cases that want what a fake server has not: `LEFT_OUT` says which and why, by the start of their
names; and those that name needs of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.answers import Answer
from allotment.kubernetes.testing.permissions import Permissions
from tests.conformance.outcomes import ALL, Outcome, Share, attempt, read_json

LEFT_OUT = {
    "broken_bodies": "bodies that no client library sends, answered in Go's own words",
    "discovery_": "lists every group of a whole server",
    "events": "Events have rules of two groups at once",
    "priority_": "the admission plugin for priorities",
    "service_": "the admission plugin for service accounts",
    "table": "a server prints tables for a person",
    "vap": "expressions of admission policies",
}
PEOPLE = {
    "admin": Permissions("admin", ("system:masters",)),
    "": Permissions("system:anonymous", rules=()),
    **{name: Permissions(name, is_by_roles=True) for name in ("limited", "viewer")},
}
PLAYED = ("job_", "list_", "ssa_")
TOKEN = re.compile(r"<(?:UID|RV|LRV|GEN|CONTINUE)\d+>|<(?:TIME|OLDEST|CURRENT|SERVER|RV)>")
GO_DUMP = re.compile(r'\{"[A-Z]|,"[A-Z][A-Za-z]+":')
ANY = {"<TIME>", "<OLDEST>", "<CURRENT>", "<SERVER>", "<RV>"}
NAMESPACE = "ns1"
AGREED = "as recorded"


def run_cases(path: Path, share: Share = ALL) -> Iterator[Outcome]:
    """Every step of every case that wants the server alone."""
    data = read_json(path)
    version = ".".join(data["meta"]["version"].lstrip("v").split(".")[:2])
    for case in share(data["cases"]):
        if is_served(case):
            yield from _replay(case, version)


def is_served(case: Mapping[str, Any]) -> bool:
    """Whether a case wants no more than a fake server, and a Job that is told to be suspended."""
    needs = set(case.get("needs") or ())
    is_played = needs == {"job-controller"} and case["name"].startswith(PLAYED)
    return (not needs or is_played) and not is_left_out(case["name"])


def is_left_out(name: str) -> bool:
    """Whether a case wants more than a fake server has."""
    return any(name == start or (start.endswith("_") and name.startswith(start)) for start in LEFT_OUT)


def _replay(case: Mapping[str, Any], version: str) -> Iterator[Outcome]:
    server = FakeApiServer(version, collects=False, sleep=lambda _: None, tokens=PEOPLE)
    server.add_namespace(NAMESPACE)
    bound: dict[str, str] = {"<NS>": NAMESPACE}
    streams: dict[str, Any] = {}
    for number, step in enumerate(case["steps"]):
        name = f"{case['name']} [{number}]"
        omitted = {*case.get("omit", ()), *step.get("omit", ())}
        if "read_stream" in step:
            events = attempt(streams[step["read_stream"]].pending)
            yield _events(name, step["answer"]["stream"], events, omitted, bound, how=step.get("compare", ""))
            continue
        if "method" not in step or step.get("background"):
            continue
        if step.get("poll"):
            _play_job_controller(server)
        answer = attempt(lambda step=step: _ask(server, step, bound))  # type: ignore[misc]
        if not isinstance(answer, Answer):
            yield Outcome(name, "status", step["answer"]["status"], answer)
            continue
        if "open_stream" in step:
            streams[step["open_stream"]] = answer.stream
        yield from _compared(name, step, answer, omitted, bound)


def _play_job_controller(server: FakeApiServer) -> None:
    """What the controller tells of a Job that is suspended."""
    for job in server.play("GET", "/apis/batch/v1/jobs").body["items"]:
        metadata = job["metadata"]
        if not job["spec"]["suspend"] or job["status"].get("conditions") or job["spec"].get("managedBy"):
            continue
        time = metadata["creationTimestamp"]
        condition = {
            "type": "Suspended",
            "status": "True",
            "reason": "JobSuspended",
            "message": "Job suspended",
        }
        told = {**condition, "lastProbeTime": time, "lastTransitionTime": time}
        path = f"/apis/batch/v1/namespaces/{metadata['namespace']}/jobs/{metadata['name']}/status"
        merge = {"content-type": "application/merge-patch+json"}
        status = {"conditions": [told], "ready": 0, "terminating": 0, "uncountedTerminatedPods": {}}
        if job["spec"].get("backoffLimitPerIndex") is not None:
            status["failedIndexes"] = ""
        server.play("PATCH", path, None, merge, {"status": status})


def _ask(server: FakeApiServer, step: Mapping[str, Any], bound: Mapping[str, str]) -> Answer:
    query = _filled(step.get("query") or {}, bound)
    user = step.get("user", "admin")
    token = {} if user == "anonymous" else {"authorization": f"Bearer {user}"}
    headers = {"user-agent": "recorder/1.0", **token, **(step.get("headers") or {})}
    body: Any = b""
    if "body" in step:
        body = _filled(step["body"], bound)
    elif "body_text" in step:
        body = _filled(step["body_text"], bound).encode()
    return server.request(step["method"], _filled(step["path"], bound), query, headers, body)


def _filled(value: Any, bound: Mapping[str, str]) -> Any:
    if isinstance(value, dict) and set(value) == {"$repeat"}:
        text, times = value["$repeat"]
        return text * times
    if isinstance(value, dict):
        return {_filled(key, bound): _filled(each, bound) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, bound) for each in value]
    if isinstance(value, str):
        return re.sub(r"<[A-Z]+\d*>", lambda token: bound.get(token[0], token[0]), value)
    return value


def _compared(
    name: str, step: Mapping[str, Any], answer: Answer, omitted: set[str], bound: dict[str, str]
) -> Iterator[Outcome]:
    told = step["answer"]
    yield Outcome(name, "status", told["status"], answer.status)
    if "stream" in told and "open_stream" not in step and answer.stream is not None:
        events = [*answer.stream.pending(), *answer.stream.closing()]
        yield _events(name, told["stream"], events, omitted, bound, how=step.get("compare", ""))
    headers = told.get("headers") or {}
    warned = [
        text.removeprefix('299 - "').removesuffix('"').replace('\\"', '"')
        for text in headers.get("warning") or ()
    ]
    yield Outcome(name, "warnings", tuple(warned), tuple(answer.warnings))
    body = told.get("body")
    if not isinstance(body, dict):
        return
    if body.get("status") == "Failure":
        own_words = step["path"].startswith("/apis/resource.k8s.io/")
        yield from _refusals(name, body, answer.body, bound, with_text=not own_words)
        return
    told_apart = difference(body, _without(answer.body, omitted), bound, step.get("compare", ""), "")
    yield Outcome(name, "object", AGREED, told_apart or AGREED)


def _refusals(
    name: str, body: Mapping[str, Any], found: Any, bound: dict[str, str], *, with_text: bool
) -> Iterator[Outcome]:
    found = found if isinstance(found, dict) else {}
    yield Outcome(name, "refusal", _causes(body), _causes(found))
    if with_text and "message" in body and not GO_DUMP.search(body["message"]):
        told_apart = difference(body["message"], found.get("message"), bound, "", "message")
        yield Outcome(name, "text", AGREED, told_apart or AGREED)


def _causes(body: Mapping[str, Any]) -> tuple[Any, ...]:
    told = (body.get("details") or {}).get("causes") or ()
    return (body.get("reason"), *sorted({(each.get("field", ""), each.get("reason", "")) for each in told}))


def _events(
    name: str, told: list[Any], found: Any, omitted: set[str], bound: dict[str, str], *, how: str
) -> Outcome:
    events = [_without(each, omitted) for each in found] if isinstance(found, list) else found
    told_apart = difference(told, events, bound, how, "")
    return Outcome(name, "events", AGREED, told_apart or AGREED)


def _without(value: Any, omitted: set[str]) -> Any:
    if isinstance(value, list):
        return [_without(each, omitted) for each in value]
    if not isinstance(value, dict):
        return value
    gone = omitted - {"status"} if value.get("kind") == "Status" else omitted
    return {key: _without(each, omitted) for key, each in value.items() if key not in gone}


def difference(told: Any, found: Any, bound: dict[str, str], how: str = "", place: str = "") -> str:
    """The first difference, or nothing."""
    if isinstance(told, dict):
        return _in_map(told, found, bound, how, place)
    if isinstance(told, list):
        return _in_list(told, found, bound, how, place)
    if isinstance(told, str) and isinstance(found, str):
        return "" if _matches(told, found, bound) else f"{place}: {told!r}, not {found!r}"
    return "" if told == found and type(told) is type(found) else f"{place}: {told!r}, not {found!r}"


def _in_map(told: dict[str, Any], found: Any, bound: dict[str, str], how: str, place: str) -> str:
    if not isinstance(found, dict):
        return f"{place}: {told!r}, not {found!r}"
    named = {_filled(key, bound): value for key, value in told.items()}
    if how not in {"subset", "contains"} and (extra := sorted(found.keys() - named.keys())):
        return f"{place}.{extra[0]}: nothing, not {found[extra[0]]!r}"
    for key in sorted(named, key=lambda key: (key != "metadata", key)):
        if key not in found:
            return f"{place}.{key}: {named[key]!r}, not nothing"
        if apart := difference(named[key], found[key], bound, how, f"{place}.{key}"):
            return apart
    return ""


def _in_list(told: list[Any], found: Any, bound: dict[str, str], how: str, place: str) -> str:
    if not isinstance(found, list):
        return f"{place}: {told!r}, not {found!r}"
    if how == "contains":
        for each in told:
            if all(difference(each, other, dict(bound), how, place) for other in found):
                return f"{place}: {each!r} is not in {found!r}"
        return ""
    if place.endswith("managedFields"):
        found = sorted(
            found, key=lambda each: (each["operation"], each["manager"], each.get("subresource", ""))
        )
    if len(told) != len(found):
        return f"{place}: {len(told)} items, not {len(found)}: {json.dumps(found)[:300]}"
    pairs = enumerate(zip(told, found, strict=True))
    differences = (difference(a, b, bound, how, f"{place}[{number}]") for number, (a, b) in pairs)
    return next((each for each in differences if each), "")


def _matches(told: str, found: str, bound: dict[str, str]) -> bool:
    """Whether a text is the recorded one; tokens that are seen for the first time are bound."""
    names: list[str] = []

    def pattern(token: str) -> str:
        if token in bound:
            return re.escape(bound[token])
        if token in ANY:
            return "(?:.+?)"
        if token in names:
            return f"(?P={token[1:-1]})"
        names.append(token)
        return f"(?P<{token[1:-1]}>.+?)"

    parts = re.split(r"(<[A-Z]+\d*>)", told)
    text = "".join(
        pattern(each) if TOKEN.fullmatch(each) or each == "<NS>" else re.escape(each) for each in parts
    )
    match = re.fullmatch(text, found, re.DOTALL)
    if match is None:
        return False
    bound.update({token: match[token[1:-1]] for token in names})
    return True
