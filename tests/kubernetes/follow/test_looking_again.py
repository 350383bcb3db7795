"""A watch beside a server that has just begun and refuses, for a moment, what it allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from allotment.kubernetes.client import Client
from allotment.kubernetes.client.transport import Reply
from allotment.kubernetes.cluster.reading import read_snapshot
from allotment.kubernetes.follow.again import again
from allotment.kubernetes.kinds import JOB
from allotment.kubernetes.render.names import labels_of
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.transport import FakeTransport

REFUSAL = b'{"kind": "Status", "status": "Failure", "reason": "Forbidden", "message": "no", "code": 403}'
LABELS = labels_of(team="archive", campaign="books", pipeline="pages", recipe="1" * 12, part="1")
TASK = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "books", "namespace": "archive", "labels": LABELS},
    "spec": {
        "template": {
            "spec": {"restartPolicy": "Never", "containers": [{"name": "worker", "image": "x"}]},
        },
    },
}


class JustBegun:
    """A way to a server that refuses Jobs while it is told to."""

    def __init__(self, inner: FakeTransport) -> None:
        self.name = inner.name
        self.refuses = False
        self._inner = inner

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(seconds)

    def send(
        self, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes
    ) -> Reply:
        if self.refuses and path.endswith("/jobs"):
            return Reply(403, {"content-type": "application/json"}, REFUSAL)
        return self._inner.send(method, path, query, headers, body)

    def stream(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> tuple[Reply, Iterator[bytes]]:
        return self._inner.stream(path, query, headers)


def test_what_is_refused_for_a_moment_is_as_before_and_asked_for_again() -> None:
    transport = JustBegun(FakeTransport(FakeApiServer()))
    client = Client(transport)
    client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "archive"}}, manager="tests")
    client.create(TASK, manager="tests")
    first = read_snapshot(client, now=0.0)
    transport.refuses = True
    meanwhile = again(client, first, 1.0)
    transport.refuses = False
    client.patch(JOB, "books", "archive", {"spec": {"parallelism": 3}}, manager="tests")
    last = again(client, meanwhile, 2.0)
    assert [each["metadata"]["name"] for each in meanwhile.of(JOB)] == ["books"]
    assert [each["spec"]["parallelism"] for each in last.of(JOB)] == [3]
    assert last.missing == first.missing
