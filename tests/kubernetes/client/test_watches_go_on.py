"""Watches: over cuts, bookmarks and what a cluster has forgotten, what was heard adds up to what is there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allotment.kubernetes import kinds
from allotment.kubernetes.client import ApiError, Client, ExpiredError, Reply, Watch
from allotment.kubernetes.client.transport import CutError
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.transport import FakeTransport

MAPS = "/api/v1/namespaces/team-a/configmaps"
MERGE = {"content-type": "application/merge-patch+json"}


class Cutting(FakeTransport):
    """A fake server in which something happens before each watch, which may be cut after so many lines."""

    def __init__(self, server: FakeApiServer, rounds: list[tuple[list[str], int | None]]) -> None:
        super().__init__(server)
        self.rounds = list(rounds)

    def stream(
        self, path: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> tuple[Reply, Iterator[bytes]]:
        steps, left = self.rounds.pop(0) if self.rounds else ([], None)
        for step in steps:
            happen(self.server, step)
        reply, lines = super().stream(path, query, headers)
        return reply, lines if left is None else until_cut(lines, left)


def until_cut(lines: Iterator[bytes], left: int) -> Iterator[bytes]:
    for line in lines:
        if left == 0:
            yield line[: len(line) // 2]
            break
        left -= 1
        yield line
    raise CutError("cut")


def happen(server: FakeApiServer, step: str) -> None:
    word, _, name = step.partition(" ")
    if word == "compact":
        server.play("POST", "/api/v1/namespaces", body={"metadata": {"name": f"n{server.store.revision}"}})
        server.compact()
    elif word == "delete":
        server.play("DELETE", f"{MAPS}/{name}")
    elif server.play("POST", MAPS, body={"metadata": {"name": name}, "data": {}}).status == 409:
        change = {"data": {"k": str(server.store.revision)}}
        server.play("PATCH", f"{MAPS}/{name}", headers=MERGE, body=change)


def cluster(
    *rounds: tuple[list[str], int | None], first: tuple[str, ...] = ("write a", "write b")
) -> tuple[FakeApiServer, Client]:
    server = FakeApiServer()
    server.add_namespace("team-a")
    for step in first:
        happen(server, step)
    return server, Client(Cutting(server, list(rounds)), jitter=lambda: 0.0)


def heard(watch: Watch) -> list[str]:
    return [f"{sort} {value['metadata']['name']}" for sort, value in watch]


def test_what_is_there_comes_first_and_then_what_happens() -> None:
    _, client = cluster((["write c", "write a", "delete b"], None))
    watch = client.watch(kinds.CONFIG_MAP, "team-a")
    assert heard(watch) == ["ADDED a", "ADDED b", "ADDED c", "MODIFIED a", "DELETED b"]


def test_a_watch_from_a_version_tells_only_what_came_after() -> None:
    server, client = cluster()
    version = client.listed_at(kinds.CONFIG_MAP, "team-a").version
    happen(server, "write c")
    watch = client.watch(kinds.CONFIG_MAP, "team-a", since=version)
    assert heard(watch) == ["ADDED c"]
    assert watch.version == str(server.store.revision)
    assert heard(client.watch(kinds.CONFIG_MAP, "team-a", since=watch.version)) == []


def test_bookmarks_are_asked_for_and_keep_the_version_fresh() -> None:
    server, client = cluster()
    watch = client.watch(kinds.CONFIG_MAP, "team-a", since=str(server.store.revision))
    server.play("POST", "/api/v1/namespaces", body={"metadata": {"name": "other"}})
    assert heard(watch) == []
    assert watch.version == str(server.store.revision)
    assert server.requests[-1].query["allowWatchBookmarks"] == "true"


def test_a_cut_is_gone_on_from_with_nothing_lost_or_told_twice() -> None:
    server, client = cluster((["write c", "write d"], 1), (["write e"], 0), ([], None))
    watch = client.watch(kinds.CONFIG_MAP, "team-a", labels="")
    assert heard(watch) == ["ADDED a", "ADDED b", "ADDED c", "ADDED d", "ADDED e"]
    assert isinstance(client._transport, FakeTransport)
    assert client._transport.slept == [1.0, 2.0]
    assert server.requests[-1].query["resourceVersion"]


def test_cuts_with_nothing_between_them_are_borne_so_long() -> None:
    _, client = cluster(*[([], 0)] * 9)
    with pytest.raises(ApiError, match=r"ended without an answer: .*\(4 tries\)") as caught:
        heard(client.watch(kinds.CONFIG_MAP, "team-a"))
    assert caught.value.exit_code == 3


def test_what_is_forgotten_is_listed_anew_and_told_as_changes() -> None:
    _, client = cluster((["write c"], 1), (["write a", "delete b", "delete c", "write c", "compact"], None))
    told = heard(client.watch(kinds.CONFIG_MAP, "team-a"))
    assert told == ["ADDED a", "ADDED b", "ADDED c", "DELETED b", "DELETED c", "MODIFIED a", "ADDED c"]


def test_a_version_that_is_forgotten_is_an_error_of_its_own() -> None:
    server, client = cluster((["write c", "compact"], None))
    version = str(server.store.revision)
    with pytest.raises(ExpiredError, match="the version to go on from is gone") as caught:
        heard(client.watch(kinds.CONFIG_MAP, "team-a", since=version))
    assert caught.value.status == 410


STEPS = [f"{word} {name}" for word in ("write", "delete") for name in "abcd"] + ["compact"]


@given(
    st.lists(st.tuples(st.lists(st.sampled_from(STEPS), max_size=5), st.integers(0, 4)), max_size=3),
    st.lists(st.sampled_from(STEPS), max_size=5),
)
def test_what_was_heard_adds_up_to_what_is_there(
    rounds: list[tuple[list[str], int]], last: list[str]
) -> None:
    server, client = cluster(*rounds, (last, None))
    there: dict[str, Any] = {}
    for sort, value in client.watch(kinds.CONFIG_MAP, "team-a"):
        name = value["metadata"]["name"]
        assert (sort == "ADDED") is (name not in there)
        if sort == "DELETED":
            del there[name]
        else:
            there[name] = value
    stored = {key.name: value for key, value in server.store.listed(("", "configmaps"), "")}
    assert json.dumps(
        {name: each["data"] for name, each in there.items() if "data" in each}, sort_keys=True
    ) == (json.dumps({name: each["data"] for name, each in stored.items() if "data" in each}, sort_keys=True))
    assert {name: each["metadata"]["uid"] for name, each in there.items()} == {
        name: each["metadata"]["uid"] for name, each in stored.items()
    }
