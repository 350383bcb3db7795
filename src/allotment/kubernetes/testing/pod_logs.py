"""What containers write: a test plays the container, and the server answers ``/log`` from it.

    server.logs.write("team-a", "letters-0", "page 1 done")

A log that is followed ends when its container is terminated or its Pod is gone. Facts: Kubernetes' API
reference, "Pod v1 core", "Read Log", and the texts of the API server and the kubelet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from allotment.kubernetes.testing.answers import Answer, bad_request, not_found
from allotment.kubernetes.testing.asked import Request, whole_number
from allotment.kubernetes.testing.bodies import Place
from allotment.kubernetes.testing.store import Store

Object = dict[str, Any]
LONGEST: Final = 3600.0


@dataclass(frozen=True)
class Line:
    """A line, and when it was written."""

    time: str
    text: str


@dataclass
class PodLogs:
    """All that was written, by Pod and container; ``now`` gives the time."""

    store: Store
    now: Callable[[], datetime]
    _lines: dict[tuple[str, str, str, bool], list[Line]] = field(default_factory=dict)

    def write(
        self, namespace: str, pod: str, text: str, *, container: str = "", previous: bool = False
    ) -> None:
        """A line of a container, by default the first; ``previous`` for the one before it."""
        with self.store.changed:
            told = self._pod(namespace, pod)
            name = container or (_containers(told)[0] if told is not None else "")
            lines = self._lines.setdefault((namespace, pod, name, previous), [])
            lines.append(Line(self.now().strftime("%Y-%m-%dT%H:%M:%S.%f000Z"), text))
            self.store.changed.notify_all()

    def read(self, place: Place, request: Request) -> Answer:
        """GET of a log."""
        pod = self._pod(place.namespace, place.name)
        if pod is None:
            raise not_found(place.resource, place.name)
        container = _chosen(pod, request.query.get("container", ""))
        lines = self._present(pod, container, is_previous=request.flag("previous"))
        found = [_shown(line, request) for line in _part(lines, request)]
        plain = {"Content-Type": "text/plain"}
        if not request.flag("follow"):
            return Answer(200, b"".join(found).decode(), plain)
        return Answer(200, headers=plain, stream=Following(self, pod, container, request, found, len(lines)))

    def lines(self, pod: Object, container: str, *, is_previous: bool = False) -> list[Line]:
        """What the container has written so far."""
        metadata = pod["metadata"]
        return self._lines.get((metadata["namespace"], metadata["name"], container, is_previous), [])

    def is_over(self, pod: Object, container: str) -> bool:
        """Whether nothing more will come of the container."""
        now = self._pod(pod["metadata"]["namespace"], pod["metadata"]["name"])
        if now is None or now["metadata"].get("uid") != pod["metadata"].get("uid"):
            return True
        is_ended = "terminated" in (_status(now, container).get("state") or {})
        return is_ended or (now.get("status") or {}).get("phase") in {"Succeeded", "Failed"}

    def _pod(self, namespace: str, name: str) -> Object | None:
        found = self.store.listed(("", "pods"), namespace)
        return next((value for key, value in found if key.name == name), None)

    def _present(self, pod: Object, container: str, *, is_previous: bool) -> list[Line]:
        lines = self.lines(pod, container, is_previous=is_previous)
        name = pod["metadata"]["name"]
        if is_previous and not lines:
            raise bad_request(f'previous terminated container "{container}" in pod "{name}" not found')
        waiting = (_status(pod, container).get("state") or {}).get("waiting")
        if waiting is not None and not lines and pod["spec"].get("nodeName"):
            why = waiting.get("reason", "ContainerCreating")
            raise bad_request(f'container "{container}" in pod "{name}" is waiting to start: {why}')
        return lines


@dataclass
class Following:
    """A log as it grows."""

    logs: PodLogs
    pod: Object
    container: str
    request: Request
    first: list[bytes]
    told: int

    @property
    def seconds(self) -> float:
        """How long it lasts at most."""
        return LONGEST

    @property
    def is_over(self) -> bool:
        """Whether the container has ended."""
        return self.logs.is_over(self.pod, self.container)

    def pending(self) -> list[Any]:
        """The lines since the last look."""
        lines = self.logs.lines(self.pod, self.container)
        found = [*self.first, *(_shown(line, self.request) for line in lines[self.told :])]
        self.first, self.told = [], len(lines)
        return found

    def closing(self) -> list[Any]:
        """What came at the last moment."""
        return self.pending()


def _containers(pod: Mapping[str, Any], kinds: tuple[str, ...] = ("containers",)) -> list[str]:
    return [each["name"] for kind in kinds for each in pod["spec"].get(kind) or ()]


def _chosen(pod: Object, name: str) -> str:
    known, pod_name = _containers(pod), pod["metadata"]["name"]
    every = _containers(pod, ("containers", "initContainers", "ephemeralContainers"))
    if name and name not in every:
        raise bad_request(f"container {name} is not valid for pod {pod_name}")
    if not name and len(known) > 1:
        listed = " ".join(known)
        raise bad_request(f"a container name must be specified for pod {pod_name}, choose one of: [{listed}]")
    return name or known[0]


def _status(pod: Object, container: str) -> Mapping[str, Any]:
    told = pod.get("status") or {}
    listed = [*(told.get("containerStatuses") or ()), *(told.get("initContainerStatuses") or ())]
    return next((each for each in listed if each["name"] == container), {})


def _part(lines: list[Line], request: Request) -> list[Line]:
    """The part that is asked for; a time counts in whole seconds."""
    since = request.query.get("sinceTime", "")[:19]
    found = [line for line in lines if line.time[:19] >= since]
    tail = whole_number(request.query.get("tailLines"))
    return found if tail is None else found[len(found) - min(tail, len(found)) :]


def _shown(line: Line, request: Request) -> bytes:
    time = f"{line.time} " if request.flag("timestamps") else ""
    return f"{time}{line.text}\n".encode()
