"""What a kubelet asks of the API server: pods of its nodes as they change, and what is in their volumes."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.kubernetes.client.transport import CutError, Reply
from tests.controlplane.talking import Talk

Pod = Mapping[str, Any]
ASSIGNED: Final = "spec.nodeName!="
PAUSE: Final = 0.2
STRATEGIC: Final = "application/strategic-merge-patch+json"


@dataclass(frozen=True, slots=True)
class Change:
    """A pod as it is now; ``is_gone``: it was, at last."""

    pod: Pod
    is_gone: bool = False


class Api:
    """The API server, as a kubelet sees it."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk

    def find(self, plural: str, namespace: str, name: str) -> dict[str, Any] | None:
        """A ConfigMap or a Secret, or None where there is none."""
        reply = self._insist("GET", f"/api/v1/namespaces/{namespace}/{plural}/{name}")
        if reply.status >= 300:
            return None
        found: dict[str, Any] = json.loads(reply.body)
        return found

    def notes_of(self, namespace: str) -> Mapping[str, str]:
        """A namespace's annotations."""
        reply = self._insist("GET", f"/api/v1/namespaces/{namespace}")
        return json.loads(reply.body).get("metadata", {}).get("annotations") or {}

    def report(self, pod: Pod, status: Mapping[str, Any]) -> None:
        """How the pod is; what others have said of it stays. Nothing where it has gone."""
        told = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
        self._insist("PATCH", f"{_path(pod)}/status", STRATEGIC, told)

    def forget(self, pod: Pod) -> None:
        """The pod has ended and may go."""
        options = {"gracePeriodSeconds": 0, "preconditions": {"uid": pod["metadata"]["uid"]}}
        self._insist("DELETE", _path(pod), "application/json", options)

    def _insist(self, method: str, path: str, content: str = "", value: Any = None) -> Reply:
        """The answer of a server that is there and well: a kubelet waits for it."""
        data = b"" if value is None else json.dumps(value).encode()
        while True:
            try:
                reply = self._talk.send(method, path, {}, {"content-type": content} if content else {}, data)
            except CutError:
                self._talk.sleep(PAUSE)
                continue
            if reply.status < 500 and reply.status != 429:
                return reply
            self._talk.sleep(PAUSE)

    def changes(self) -> queue.Queue[Change]:
        """The pods of all nodes as they come and change, for ever."""
        found: queue.Queue[Change] = queue.Queue()
        threading.Thread(target=self._watch, args=(found,), daemon=True).start()
        return found

    def _watch(self, into: queue.Queue[Change]) -> None:
        known: dict[str, Pod] = {}
        while True:
            try:
                version = self._list(into, known)
                for kind, pod in self._events(version):
                    is_gone = kind == "DELETED"
                    if is_gone:
                        known.pop(pod["metadata"]["uid"], None)
                    else:
                        known[pod["metadata"]["uid"]] = pod
                    into.put(Change(pod, is_gone))
            except (CutError, ValueError, KeyError):
                self._talk.sleep(PAUSE)

    def _list(self, into: queue.Queue[Change], known: dict[str, Pod]) -> str:
        reply = self._talk.send("GET", "/api/v1/pods", {"fieldSelector": ASSIGNED}, {}, b"")
        told = json.loads(reply.body)
        listed: dict[str, Pod] = {each["metadata"]["uid"]: each for each in told["items"]}
        for uid, pod in known.items():
            if uid not in listed:
                into.put(Change(pod, is_gone=True))
        known.clear()
        known.update(listed)
        for pod in listed.values():
            into.put(Change(pod))
        return str(told["metadata"]["resourceVersion"])

    def _events(self, version: str) -> Iterator[tuple[str, Pod]]:
        query = {
            "watch": "true",
            "resourceVersion": version,
            "fieldSelector": ASSIGNED,
            "timeoutSeconds": "50",
        }
        reply, lines = self._talk.stream("/api/v1/pods", query, {})
        if reply.status >= 300:
            raise ValueError(f"a watch was answered {reply.status}")
        for line in lines:
            told = json.loads(line)
            if told["type"] == "ERROR":
                return
            yield told["type"], told["object"]


def _path(pod: Pod) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
