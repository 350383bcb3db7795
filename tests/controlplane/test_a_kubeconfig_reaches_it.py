"""The way that the tool itself takes to a real server: by a kubeconfig, over TLS, with what it refuses."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from allotment.kubernetes.client import ApiError, Client, Wanted
from allotment.kubernetes.client.connecting import connect
from allotment.kubernetes.client.retries import Patience
from allotment.kubernetes.kinds import CLUSTER_QUEUE, CONFIG_MAP, JOB, NODE, POD
from tests.controlplane.installing import RESTRICTED
from tests.controlplane.nodes import publish, withdraw
from tests.controlplane.plane import Plane
from tests.controlplane.processes import until

WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


@contextmanager
def reached(plane: Plane, token: str = "admin") -> Iterator[Client]:
    """A client by the plane's kubeconfig, as `allot` makes one; it tries again at once."""
    transport = connect(None, {"KUBECONFIG": str(plane.kubeconfig(token))}, Path("/nowhere"))
    try:
        yield Client(transport, patience=Patience(lambda _: None, lambda: 0.0))
    finally:
        transport.close()


@pytest.fixture
def tool(plane: Plane) -> Iterator[Client]:
    with reached(plane) as client:
        yield client


def config(namespace: str, name: str = "a", **data: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data or {"k": "1"}}


def asked(client: Client) -> str:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    return str(client.ask(WHO, review)["status"]["userInfo"]["username"])


def test_objects_are_written_read_and_deleted(tool: Client, namespace: str) -> None:
    assert asked(tool) == "admin"
    made = tool.create(config(namespace), manager="allotment")
    assert tool.apply(config(namespace, k="1"), manager="allotment", force=True)["data"] == {"k": "1"}
    assert tool.replace(
        {**made, "metadata": {**made["metadata"], "resourceVersion": ""}}, manager="allotment"
    )
    assert [each["kind"] for each in tool.listed(CONFIG_MAP, namespace, fields="metadata.name=a")] == [
        "ConfigMap"
    ]
    assert tool.delete(CONFIG_MAP, "a", namespace, uid=made["metadata"]["uid"])
    assert not tool.delete(CONFIG_MAP, "a", namespace, uid=made["metadata"]["uid"])


def refused(call: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        call()
    return caught.value


def test_whoever_is_not_known_or_may_not_is_told_so(plane: Plane, namespace: str) -> None:
    with reached(plane, "nobody") as client:
        assert "it does not know who asks" in refused(lambda: client.listed(NODE)).what
    with reached(plane, "archive") as client:
        error = refused(lambda: client.listed(JOB, namespace))
        assert error.what == f"`member-of-archive` may not list jobs.batch in namespace `{namespace}`"
        assert "the Role `allotment-apply`" in error.remedy
        log = refused(lambda: list(client.log("p", namespace)))
        assert log.what == f"`member-of-archive` may not get pods/log in namespace `{namespace}`"


def test_refusals_are_told_by_their_parts(tool: Client, namespace: str) -> None:
    tool.apply(config(namespace), manager="other")
    owned = refused(lambda: tool.apply(config(namespace, k="2"), manager="allotment"))
    assert (owned.is_conflict, owned.causes) == (True, (("other", ".data.k"),))
    assert "`other` owns .data.k" in owned.what
    there = refused(lambda: tool.create(config(namespace), manager="allotment"))
    assert there.what == f"the ConfigMap `a` of namespace `{namespace}` is there already"
    odd = {**config(namespace, "b"), "dta": {}}
    assert 'unknown field "dta"' in refused(lambda: tool.create(odd, manager="allotment")).what
    applied = refused(lambda: tool.apply(odd, manager="allotment"))
    assert ("dta" in applied.what, applied.exit_code) == (True, 1)
    wrong = refused(lambda: tool.create(config(namespace, "b", **{"a b": "1"}), manager="allotment"))
    assert "the ConfigMap `b` of namespace" in wrong.what
    assert wrong.causes[0][0] == "data[a b]"
    nowhere = refused(lambda: tool.create(config("nowhere"), manager="allotment"))
    assert "there is no namespace `nowhere`" in nowhere.what
    assert "Kueue is not installed" in refused(lambda: tool.listed(CLUSTER_QUEUE)).what
    large = refused(lambda: tool.create(config(namespace, "b", k="x" * 4_000_000), manager="allotment"))
    assert "is too large, with 4,000," in large.what
    assert large.exit_code == 1


def test_a_watch_tells_what_happens_as_it_happens(tool: Client, namespace: str) -> None:
    tool.apply(config(namespace), manager="allotment")
    watch = tool.watch(CONFIG_MAP, namespace, fields="metadata.name!=kube-root-ca.crt", seconds=2)
    told = []
    for sort, value in watch:
        told.append((sort, value["metadata"]["name"]))
        if told == [("ADDED", "a")]:
            threading.Thread(target=tool.delete, args=(CONFIG_MAP, "a", namespace)).start()
    assert told == [("ADDED", "a"), ("DELETED", "a")]


def test_a_log_is_followed_until_its_container_ends(plane: Plane, tool: Client, namespace: str) -> None:
    words = "echo one; echo two; sleep 1; echo three"
    container = {
        "name": "work",
        "image": "example.org/x",
        "command": ["/bin/sh", "-c", words],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    spec = {"restartPolicy": "Never", "securityContext": dict(RESTRICTED), "containers": [container]}
    metadata = {"name": "p", "namespace": namespace}
    publish(tool, "1 node of 1 x L4", port=plane.kubelet.port)
    try:
        tool.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}, manager="tests")
        until(lambda: _is_started(tool, namespace), "the pod to start")
        lines = list(tool.log("p", namespace, Wanted(follow=True)))
        assert lines == [b"one\n", b"two\n", b"three\n"]
        assert list(tool.log("p", namespace, Wanted(tail=1, container="work"))) == [b"three\n"]
        assert "container x is not valid" in refused(lambda: list(tool.log("p", namespace, Wanted("x")))).what
    finally:
        tool.delete(POD, "p", namespace)
        withdraw(tool)


def _is_started(client: Client, namespace: str) -> bool:
    found = client.get(POD, "p", namespace) or {}
    states = (found.get("status") or {}).get("containerStatuses") or ()
    return any({"running", "terminated"} & set(each.get("state") or {}) for each in states)
