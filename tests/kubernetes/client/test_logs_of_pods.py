"""Logs: a part of them, of which container, and followed over cuts without a line lost or told twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from allotment.kubernetes.client import ApiError, Client, Reply, Wanted
from allotment.kubernetes.client.transport import CutError
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.transport import FakeTransport

SPACE = "team-a"
STATUS = {"image": "x", "imageID": "", "ready": False, "restartCount": 0}
START = datetime(2026, 7, 1, tzinfo=UTC)


def cluster(*steps: float, containers: tuple[str, ...] = ("work",)) -> tuple[FakeApiServer, Client]:
    """A cluster with one Pod, in which a line was written after each of these seconds."""
    times = [START]
    server = FakeApiServer(now=lambda: times[-1])
    server.add_namespace(SPACE)
    spec = {"containers": [{"name": name, "image": "registry.example.org/x"} for name in containers]}
    made = server.play(
        "POST", f"/api/v1/namespaces/{SPACE}/pods", body={"metadata": {"name": "p"}, "spec": spec}
    )
    assert made.status == 201
    for number, step in enumerate(steps):
        times.append(times[-1] + timedelta(seconds=step))
        server.logs.write(SPACE, "p", f"line {number}")
    return server, Client(FakeTransport(server), jitter=lambda: 0.0)


def told(client: Client, wanted: Wanted | None = None) -> list[str]:
    return [line.decode().rstrip("\n") for line in client.log("p", SPACE, wanted)]


@pytest.mark.parametrize(
    ("wanted", "lines"),
    [
        (Wanted(), ["line 0", "line 1", "line 2"]),
        (Wanted(tail=2), ["line 1", "line 2"]),
        (Wanted(tail=0), []),
        (Wanted(since="2026-07-01T00:00:02Z"), ["line 1", "line 2"]),
        (Wanted(follow=True), ["line 0", "line 1", "line 2"]),
        (Wanted(tail=1, times=True), ["2026-07-01T00:00:03.000000000Z line 2"]),
    ],
)
def test_a_part_of_a_log_is_told(wanted: Wanted, lines: list[str]) -> None:
    _, client = cluster(1, 1, 1)
    assert told(client, wanted) == lines


def test_the_container_before_is_told() -> None:
    server, client = cluster(1)
    server.logs.write(SPACE, "p", "out of memory", previous=True)
    assert told(client, Wanted(previous=True)) == ["out of memory"]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted(container="x"), "container x is not valid for pod p"),
        (Wanted(), r"choose one of: \[work side\]"),
        (Wanted(container="work", previous=True), "previous terminated container"),
    ],
)
def test_a_log_that_there_is_not_is_refused_in_one_sentence(wanted: Wanted, said: str) -> None:
    _, client = cluster(containers=("work", "side"))
    with pytest.raises(ApiError, match=said):
        told(client, wanted)


def test_a_pod_that_there_is_not_has_no_log() -> None:
    _, client = cluster()
    with pytest.raises(ApiError, match="no such thing: the Pod `q` of namespace `team-a`") as caught:
        list(client.log("q", SPACE))
    assert caught.value.is_absence


def test_a_container_that_waits_says_for_what() -> None:
    server, client = cluster()
    waiting = {"name": "work", "state": {"waiting": {"reason": "ImagePullBackOff"}}}
    path = f"/api/v1/namespaces/{SPACE}/pods/p"
    bound = {"target": {"kind": "Node", "name": "node-a"}}
    server.play("POST", f"{path}/binding", body=bound)
    merge = {"content-type": "application/merge-patch+json"}
    told_by_node = {"status": {"containerStatuses": [{**waiting, **STATUS}]}}
    assert server.play("PATCH", f"{path}/status", headers=merge, body=told_by_node).status == 200
    with pytest.raises(ApiError, match="is waiting to start: ImagePullBackOff"):
        told(client)


class Cutting(FakeTransport):
    """A fake server whose streams are cut after so many lines each."""

    def __init__(self, server: FakeApiServer, after: list[int]) -> None:
        super().__init__(server)
        self.after = after

    def stream(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> tuple[Reply, Iterator[bytes]]:
        reply, lines = super().stream(path, query, headers)
        return reply, self._until_cut(lines, self.after.pop(0)) if self.after else lines

    def _until_cut(self, lines: Any, left: int) -> Iterator[bytes]:
        for line in lines:
            if left == 0:
                raise CutError("cut")
            left -= 1
            yield line
        raise CutError("cut")


@given(
    steps=st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=1, max_size=12),
    after=st.lists(st.integers(0, 6), max_size=3),
    tail=st.none() | st.integers(1, 5),
)
def test_a_log_over_cuts_has_every_line_once(steps: list[float], after: list[int], tail: int | None) -> None:
    assume(tail is None or 0.0 not in steps)  # lines of one time are told apart by their number
    server, _ = cluster(*steps)
    client = Client(Cutting(server, list(after)), jitter=lambda: 0.0)
    every = [f"line {number}" for number in range(len(steps))]
    assert told(client, Wanted(tail=tail)) == every[-(tail or 0) :]


def test_a_log_that_is_cut_time_after_time_is_given_up() -> None:
    server, _ = cluster(1)
    transport = Cutting(server, [0] * 9)
    with pytest.raises(ApiError, match="ended without an answer"):
        told(Client(transport, jitter=lambda: 0.0))
    assert transport.slept == [1.0, 2.0, 4.0]


class Told(FakeTransport):
    """A server whose log is these lines, and is cut after some of them."""

    def __init__(self, lines: list[bytes], after: list[int]) -> None:
        super().__init__(FakeApiServer())
        self.told, self.after = lines, after

    def stream(self, *_: Any) -> tuple[Reply, Iterator[bytes]]:
        return Reply(200), self._lines(self.after.pop(0) if self.after else None)

    def _lines(self, left: int | None) -> Iterator[bytes]:
        yield from self.told[:left]
        if left is not None:
            raise CutError("cut")


@pytest.mark.parametrize(
    "lines",
    [
        [b"one\n", b"two words\n", b"\n"],
        [
            b"2026-07-01T00:00:01.5Z one\n",
            b"2026-07-01T02:00:01.51+02:00 two words\n",
            b"2026-07-01T00:00:02Z \n",
        ],
    ],
)
def test_lines_without_a_time_or_of_another_zone_are_told_once(lines: list[bytes]) -> None:
    client = Client(Told(lines, [2, 1]), jitter=lambda: 0.0)
    assert list(client.log("p", SPACE)) == [b"one\n", b"two words\n", b"\n"]
