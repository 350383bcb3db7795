"""One request to the fake API server and to a real one, and both answers in a form that can be compared.

What differs between any two servers is left out: identifiers, versions, times, and what controllers write.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.kubernetes.testing import FakeApiServer
from tests.controlplane.talking import Talk

APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/merge-patch+json"
JSON: Final = "application/json"
OWN: Final = ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "selfLink")
CONTROLLERS: Final = ("kube-controller-manager", "kube-scheduler")
UIDS: Final = ("batch.kubernetes.io/controller-uid", "controller-uid")


@dataclass(frozen=True, slots=True)
class Ask:
    """A request. ``versioned``: the body carries the version that the object has on the server."""

    method: str
    path: str
    query: Mapping[str, str]
    content: str = JSON
    body: Any = None
    is_versioned: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """A status and a body without what differs between any two servers."""

    status: int
    body: Any


class Pair:
    """The two servers."""

    def __init__(self, fake: FakeApiServer, real: Talk) -> None:
        self._fake = fake
        self._real = real

    def ask(self, asked: Ask) -> tuple[Answered, Answered]:
        """The fake's answer, and the real one's."""
        return self._of_fake(asked), self._of_real(asked)

    def _of_fake(self, asked: Ask) -> Answered:
        body = asked.body
        if asked.is_versioned:
            there = self._fake.request("GET", asked.path)
            body = _versioned(body, there.body)
        data = b"" if body is None else body
        answer = self._fake.request(
            asked.method, asked.path, dict(asked.query), {"Content-Type": asked.content}, data
        )
        return Answered(answer.status, plain(json.loads(json.dumps(answer.body))))

    def _of_real(self, asked: Ask) -> Answered:
        body = asked.body
        if asked.is_versioned:
            there = self._real.send("GET", asked.path, {}, {}, b"")
            body = _versioned(body, json.loads(there.body))
        data = b"" if body is None else json.dumps(body).encode()
        answer = self._real.send(asked.method, asked.path, asked.query, {"content-type": asked.content}, data)
        return Answered(answer.status, plain(json.loads(answer.body)))


def plain(value: Any) -> Any:
    """The answer without what differs between any two servers."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: plain(each) for key, each in value.items() if key not in UIDS}
    metadata = found.get("metadata")
    if isinstance(metadata, dict) and "managedFields" in metadata:
        metadata["managedFields"] = _managed(metadata["managedFields"])
    if found.get("kind") == "Status":
        (found.get("details") or {}).pop("uid", None)
        return found
    if isinstance(metadata, dict):
        found["metadata"] = {key: each for key, each in metadata.items() if key not in OWN}
    if found.get("kind") == "Job":
        found["status"] = {}
    return found


def _managed(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = [each for each in entries if each.get("manager") not in CONTROLLERS]
    bare = [{key: value for key, value in each.items() if key != "time"} for each in kept]
    return sorted(bare, key=lambda each: (str(each.get("manager")), str(each.get("operation"))))


def _versioned(body: Any, there: Any) -> Any:
    version = there.get("metadata", {}).get("resourceVersion")
    return {**body, "metadata": {**body["metadata"], "resourceVersion": version}}


def differences(left: Any, right: Any, path: str = "") -> list[str]:
    """Where two values differ, in words."""
    if isinstance(left, dict) and isinstance(right, dict):
        return [
            told
            for key in sorted({*left, *right})
            for told in differences(left.get(key, "-"), right.get(key, "-"), f"{path}.{key}")
        ]
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        return [
            told
            for number, pair in enumerate(zip(left, right, strict=True))
            for told in differences(*pair, f"{path}[{number}]")
        ]
    return [] if left == right else [f"{path}: fake {left!r}, real {right!r}"]
