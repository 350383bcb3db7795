"""Each call under each fault, at each of its requests: what was asked for is there in the end, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from allotment.kubernetes import kinds
from allotment.kubernetes.client import ApiError, Client, Reply
from allotment.kubernetes.client.settling import holds
from allotment.kubernetes.client.transport import NotSentError
from allotment.kubernetes.testing import FakeApiServer, faults
from allotment.kubernetes.testing.transport import FakeTransport

NAMED = {fault: name for name, fault in vars(faults).items() if isinstance(fault, faults.Fault)}
BORNE = [fault for fault in faults.EVERY if fault not in {faults.CONFLICT, faults.SLOW}]
SPACE = "team-a"


def config(name: str = "a", **data: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": SPACE, "labels": {"x": "y"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data or {"k": "1"}}


def cluster() -> tuple[FakeApiServer, FakeTransport, Client]:
    server = FakeApiServer(sleep=lambda _: None)
    server.add_namespace(SPACE)
    for name in ("old", "other"):
        made = server.request("POST", f"/api/v1/namespaces/{SPACE}/configmaps", body=config(name))
        assert made.status == 201
    transport = FakeTransport(server)
    return server, transport, Client(transport, jitter=lambda: 0.0)


def replaced(client: Client) -> Any:
    found = client.get(kinds.CONFIG_MAP, "old", SPACE)
    assert found is not None
    return client.replace({**found, "data": {"k": "2"}}, manager="allotment")


def patched(client: Client) -> Any:
    found = client.get(kinds.CONFIG_MAP, "old", SPACE)
    assert found is not None
    change = {"metadata": {"resourceVersion": found["metadata"]["resourceVersion"]}, "data": {"k": None}}
    return client.patch(kinds.CONFIG_MAP, "old", SPACE, change, manager="allotment")


def deleted(client: Client) -> Any:
    found = client.get(kinds.CONFIG_MAP, "old", SPACE)
    assert found is not None
    return client.delete(kinds.CONFIG_MAP, "old", SPACE, uid=found["metadata"]["uid"])


CALLS: dict[str, Callable[[Client], Any]] = {
    "get": lambda client: client.get(kinds.CONFIG_MAP, "old", SPACE),
    "listed": lambda client: client.listed(kinds.CONFIG_MAP, SPACE),
    "create": lambda client: client.create(config(), manager="allotment"),
    "apply": lambda client: client.apply(config(), manager="allotment"),
    "apply to what is there": lambda client: client.apply(config("old", k="1"), manager="allotment"),
    "patch": lambda client: client.patch(
        kinds.CONFIG_MAP, "old", SPACE, {"data": {"n": "1"}}, manager="allotment"
    ),
    "patch of a version": patched,
    "replace": replaced,
    "delete": deleted,
    "log": lambda client: client.raw("/version"),
}


def state(server: FakeApiServer) -> Any:
    found = server.store.listed(("", "configmaps"), "")
    return {key.name: value.get("data", {}) for key, value in found}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("fault", BORNE, ids=NAMED.__getitem__)
def test_one_fault_at_any_request_is_borne(call: str, fault: faults.Fault) -> None:
    calm, _, client = cluster()
    before = len(calm.requests)
    wanted = shorn(CALLS[call](client))
    for place in range(len(calm.requests) - before):
        server, transport, client = cluster()
        server.plan = faults.At({len(server.requests) + place: fault})
        assert shorn(CALLS[call](client)) == wanted
        assert state(server) == state(calm)
        assert sum(transport.slept) <= 1.0


def shorn(value: Any) -> Any:
    """What a caller gets, but for what a server counts."""
    if isinstance(value, dict) and "metadata" in value:
        counted = {"resourceVersion", "uid", "creationTimestamp", "managedFields"}
        kept = {key: each for key, each in value["metadata"].items() if key not in counted}
        return {**value, "metadata": kept}
    return [shorn(each) for each in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("fault", BORNE, ids=NAMED.__getitem__)
@pytest.mark.parametrize("call", CALLS)
def test_a_fault_that_stays_ends_in_one_sentence(call: str, fault: faults.Fault) -> None:
    server, transport, client = cluster()
    server.plan = lambda *_: fault
    with pytest.raises(ApiError) as caught:
        CALLS[call](client)
    assert caught.value.exit_code == 3
    assert "4 tries" in str(caught.value)
    assert caught.value.remedy
    assert transport.slept[:3] == [1.0, 2.0, 4.0]


@given(st.lists(st.sampled_from([None, *BORNE]), max_size=16))
@example([faults.CUT_AFTER, *[faults.TOO_MANY] * 4])
def test_a_creation_is_made_once_or_told_to_have_failed(plan: list[faults.Fault | None]) -> None:
    server, _, client = cluster()
    first = len(server.requests)
    server.plan = faults.At({first + place: fault for place, fault in enumerate(plan) if fault})
    refused = None
    try:
        client.create(config(), manager="allotment")
    except ApiError as error:
        refused = error
    is_there = state(server).get("a") == {"k": "1"}
    assert is_there or refused is not None
    assert refused is None or (refused.reason != "AlreadyExists" and (refused.is_unsure or not is_there))


@pytest.mark.parametrize(
    ("present", "sent", "is_held"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 1}, {"a": 1, "b": {}}, True),
        ({"a": 1}, {"a": 1, "b": None}, True),
        ({"a": 1, "b": 2}, {"a": 1, "b": None}, False),
        ({"a": [{"x": 1, "y": 2}]}, {"a": [{"x": 1}]}, True),
        ({"a": [1, 2]}, {"a": [1]}, False),
        ({"a": 1}, {"a": {"b": 1}}, False),
        ({"metadata": {"uid": "2"}}, {"metadata": {"uid": "1", "resourceVersion": "7"}}, True),
    ],
)
def test_what_was_sent_is_there_whatever_is_beside_it(present: Any, sent: Any, is_held: bool) -> None:
    assert holds(present, sent) is is_held


@pytest.mark.parametrize("fault", [faults.CUT_BEFORE, faults.CUT_AFTER, faults.BROKEN], ids=NAMED.__getitem__)
def test_another_ones_object_is_never_taken_for_ours(fault: faults.Fault) -> None:
    server, _, client = cluster()
    server.plan = faults.At({len(server.requests): fault})
    with pytest.raises(ApiError) as caught:
        client.create(config("other", k="2"), manager="allotment")
    assert caught.value.reason == "AlreadyExists"
    assert state(server)["other"] == {"k": "1"}


def test_an_object_that_a_controller_has_changed_at_once_is_still_ours() -> None:
    server, _, client = cluster()

    def plan(number: int, request: Any) -> faults.Fault | None:
        if request.method == "POST" and request.query.get("fieldManager") == "allotment":
            return faults.CUT_AFTER
        if request.method == "GET" and request.query == {}:
            server.plan = faults.none
            Client(FakeTransport(server)).patch(
                kinds.CONFIG_MAP, "a", SPACE, {"data": {"k": "9"}}, manager="controller"
            )
        return None

    server.plan = plan
    assert client.create(config("a", k="1", n="2"), manager="allotment")["data"] == {"k": "9", "n": "2"}


def test_a_name_that_is_taken_is_refused_without_a_look() -> None:
    server, _, client = cluster()
    first = len(server.requests)
    with pytest.raises(ApiError) as caught:
        client.create(config("old"), manager="allotment")
    assert caught.value.reason == "AlreadyExists"
    assert len(server.requests) == first + 1


def test_a_patch_that_lost_a_race_is_made_again_but_not_where_it_names_a_version() -> None:
    for change, is_borne in (({"data": {"n": "1"}}, True), ({"metadata": {"resourceVersion": "1"}}, False)):
        server, _, client = cluster()
        server.plan = faults.At({len(server.requests): faults.CONFLICT})
        if is_borne:
            client.patch(kinds.CONFIG_MAP, "old", SPACE, change, manager="allotment")
            continue
        with pytest.raises(ApiError, match="meanwhile"):
            client.patch(kinds.CONFIG_MAP, "old", SPACE, change, manager="allotment")


def test_the_server_is_given_the_time_that_it_asks_for_up_to_a_bound() -> None:
    for seconds, slept in ((0, [1.0]), (7, [7.0]), (31, [])):
        server, transport, client = cluster()
        busy = faults.Fault(429, "TooManyRequests", "later", retry_after=seconds)
        server.plan = faults.At({len(server.requests): busy})
        if slept:
            client.listed(kinds.CONFIG_MAP, SPACE)
        else:
            with pytest.raises(ApiError, match=r"too much to do and asks to wait for 31 s"):
                client.listed(kinds.CONFIG_MAP, SPACE)
        assert transport.slept == slept


def test_a_deletion_that_was_done_is_not_done_to_the_next_one_of_the_name() -> None:
    server, _, client = cluster()
    first = client.get(kinds.CONFIG_MAP, "old", SPACE)
    assert first is not None

    def plan(number: int, request: Any) -> faults.Fault | None:
        if request.method == "DELETE":
            server.plan = faults.none
            server.request("DELETE", request.path)
            server.request("POST", f"/api/v1/namespaces/{SPACE}/configmaps", body=config("old", k="new"))
            return faults.CUT_BEFORE
        return None

    server.plan = plan
    assert client.delete(kinds.CONFIG_MAP, "old", SPACE, uid=first["metadata"]["uid"])
    assert state(server)["old"] == {"k": "new"}


class Refusing(FakeTransport):
    """A server to which there is no connection after so many requests."""

    def __init__(self, server: FakeApiServer, left: int) -> None:
        super().__init__(server)
        self.left = left

    def send(self, *request: Any) -> Reply:
        self.left -= 1
        if self.left < 0:
            raise NotSentError("refused")
        return super().send(*request)


@pytest.mark.parametrize(("answers", "slept"), [(0, [1.0]), (1, [1.0, 2.0, 4.0])])
def test_a_server_that_has_answered_before_is_waited_for_longer(answers: int, slept: list[float]) -> None:
    server, _, _ = cluster()
    transport = Refusing(server, answers)
    client = Client(transport, jitter=lambda: 0.0)
    for _ in range(answers):
        client.listed(kinds.CONFIG_MAP, SPACE)
    with pytest.raises(ApiError) as caught:
        client.create(config(), manager="allotment")
    assert transport.slept == slept
    assert not caught.value.is_unsure
