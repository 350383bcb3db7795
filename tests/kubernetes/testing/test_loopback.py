"""The fake server behind HTTP: a client library's requests, and a watch that is sent as things happen."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.faults import CUT_BEFORE, At
from allotment.kubernetes.testing.loopback import listening

MAPS = "/api/v1/namespaces/team/configmaps"


@pytest.fixture
def server() -> FakeApiServer:
    server = FakeApiServer()
    server.add_namespace("team")
    return server


@pytest.fixture
def connection(server: FakeApiServer) -> Iterator[HTTPConnection]:
    with listening(server) as address:
        connection = HTTPConnection(address.removeprefix("http://"), timeout=10)
        yield connection
        connection.close()


def ask(
    connection: HTTPConnection, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body)
    connection.request(method, path, data, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def test_objects_are_written_and_read(connection: HTTPConnection) -> None:
    assert (
        ask(connection, "POST", MAPS, {"metadata": {"name": "a"}}, Content_Type="application/json")[0] == 201
    )
    status, found = ask(connection, "GET", f"{MAPS}/a")
    assert (status, found["metadata"]["name"]) == (200, "a")
    assert ask(connection, "DELETE", f"{MAPS}/a")[0] == 200
    assert ask(connection, "GET", f"{MAPS}/a")[0] == 404


def test_a_field_that_is_unknown_is_told_in_a_warning(connection: HTTPConnection) -> None:
    connection.request("POST", MAPS, json.dumps({"metadata": {"name": "a"}, "dta": {}}))
    answer = connection.getresponse()
    answer.read()
    assert answer.headers["Warning"] == '299 - "unknown field \\"dta\\""'


def test_a_watch_is_sent_as_things_happen(server: FakeApiServer, connection: HTTPConnection) -> None:
    connection.request("GET", f"{MAPS}?watch=1&timeoutSeconds=20")
    answer = connection.getresponse()
    writer = threading.Thread(
        target=server.request, args=("POST", MAPS), kwargs={"body": {"metadata": {"name": "a"}}}
    )
    writer.start()
    event = json.loads(answer.readline())
    writer.join()
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "a")


def test_a_watch_ends_when_its_time_is_up(connection: HTTPConnection) -> None:
    connection.request("GET", f"{MAPS}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true")
    lines = connection.getresponse().read().splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["BOOKMARK"]


def test_a_cut_is_a_connection_without_an_answer(server: FakeApiServer, connection: HTTPConnection) -> None:
    server.plan = At({len(server.requests): CUT_BEFORE})
    with pytest.raises(ConnectionError):
        ask(connection, "GET", MAPS)
    connection.close()
    assert ask(connection, "GET", MAPS)[0] == 200
