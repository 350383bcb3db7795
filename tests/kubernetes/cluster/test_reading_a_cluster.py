"""A cluster read into a snapshot: few calls, what is not there or forbidden is said, nothing secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.cluster.file import snapshot_text
from allotment.kubernetes.cluster.needed import kept
from allotment.kubernetes.cluster.reading import ASKED, FORBIDDEN, NOT_SERVED, read_snapshot
from allotment.kubernetes.cluster.snapshot import Missing, Snapshot
from allotment.kubernetes.kinds import (
    CLUSTER_QUEUE,
    CONFIG_MAP,
    EVENT,
    JOB,
    KAI_QUEUE,
    NAMESPACE,
    NODE,
    POD,
    SECRET,
    TAINT_RULE,
    WORKLOAD,
    Kind,
)
from allotment.kubernetes.testing import FakeApiServer, faults
from allotment.kubernetes.testing.custom_kinds import KAI, KUEUE
from allotment.kubernetes.testing.transport import FakeTransport

NOW = 1_796_000_000.0
OURS = {"app.kubernetes.io/managed-by": "allotment"}
TOLD_ABOUT_ITSELF = 2  # its version, and its groups


def server_with(**options: Any) -> FakeApiServer:
    server = FakeApiServer(**{"kinds": (*KUEUE, *KAI), **options})
    for name in ("team-a", "team-b"):
        server.add_namespace(name)
    _create(server, NODE, "oak")
    _create(server, CONFIG_MAP, "ours", "team-a", labels=OURS, data={"volumes": "v"})
    _create(server, CONFIG_MAP, "theirs", "team-a", data={"password": "hidden"})
    _create(server, SECRET, "token", "team-a", data={"token": "aGlkZGVu"})
    for namespace in ("team-a", "team-b"):
        container = {"name": "c", "image": "i", "env": [{"name": "TOKEN", "value": "hidden"}]}
        _create(server, POD, "p", namespace, spec={"containers": [container]})
        about = {"involvedObject": {"kind": "Pod", "name": "p", "namespace": namespace}}
        _create(server, EVENT, "e", namespace, message="it waits", **about)
    _create(server, CLUSTER_QUEUE, "q", spec={"cohortName": "all"})
    server.requests.clear()
    return server


def _create(
    server: FakeApiServer,
    kind: Kind,
    name: str,
    namespace: str | None = None,
    *,
    labels: Mapping[str, str] | None = None,
    **rest: Any,
) -> None:
    metadata = {"name": name} | ({"labels": labels} if labels else {})
    answer = server.request("POST", kind.path(namespace), body={"metadata": metadata, **rest})
    assert answer.status == 201, answer.body


def read(server: FakeApiServer, **options: Any) -> Snapshot:
    return read_snapshot(Client(FakeTransport(server)), now=NOW, **options)


def forbidding(*plurals: str, where: Callable[[str], bool] = lambda _: True) -> Any:
    """A plan by which lists of these are forbidden."""

    def plan(_number: int, request: Any) -> Any:
        listed = request.path.rsplit("/", 1)[-1]
        if request.method == "GET" and listed in plurals and where(request.path):
            return faults.Fault(status=403)
        return None

    return plan


def test_a_cluster_is_read_with_a_list_for_each_kind() -> None:
    server = server_with()
    snapshot = read(server)
    assert len(server.requests) <= TOLD_ABOUT_ITSELF + sum(len(each.kinds) for each in ASKED)
    assert {request.method for request in server.requests} == {"GET"}
    assert not any("secrets" in request.path for request in server.requests)
    assert (snapshot.time, snapshot.version, snapshot.name) == (NOW, "1.36", "the fake cluster")
    assert [each["metadata"]["name"] for each in snapshot.of(CLUSTER_QUEUE)] == ["q"]
    assert len(snapshot.of(POD)) == 2
    assert snapshot.partly == ()


def test_nothing_secret_is_in_it() -> None:
    snapshot = read(server_with())
    text = snapshot_text(snapshot)
    assert "hidden" not in text
    assert "aGlkZGVu" not in text
    assert "managedFields" not in text
    assert [each["metadata"]["name"] for each in snapshot.of(CONFIG_MAP)] == ["ours"]


def test_of_a_node_and_of_work_only_what_decides_is_kept() -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "oak", "annotations": {"owner": "ann", "nvidia.com/mig.config": "all-1g"}},
        "spec": {"providerID": "cloud://123", "taints": [{"key": "k"}]},
        "status": {
            "capacity": {"cpu": "4"},
            "images": [{"names": ["i"]}],
            "addresses": [{"address": "10.0.0.1"}],
        },
    }
    assert kept(node) == {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "oak", "annotations": {"nvidia.com/mig.config": "all-1g"}},
        "spec": {"taints": [{"key": "k"}]},
        "status": {"capacity": {"cpu": "4"}},
    }
    template = {"spec": {"containers": [{"name": "c", "args": ["--token=hidden"]}], "volumes": []}}
    workload = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "w"},
        "spec": {"podSets": [{"name": "main", "template": template}]},
    }
    (pod_set,) = kept(workload)["spec"]["podSets"]
    assert pod_set == {"name": "main", "template": {"spec": {"containers": [{"name": "c"}]}}}
    assert kept(kept(workload)) == kept(workload)


def test_events_are_kept_where_something_is_ours() -> None:
    assert [each["metadata"]["namespace"] for each in read(server_with()).of(EVENT)] == ["team-a"]


def test_a_cluster_without_queues_is_not_asked_for_them() -> None:
    server = FakeApiServer(kinds=KAI)
    server.add_namespace("team-a")
    server.requests.clear()
    snapshot = read(server)
    assert snapshot.lacks(CLUSTER_QUEUE) == NOT_SERVED
    assert snapshot.lacks(WORKLOAD) == NOT_SERVED
    assert snapshot.lacks(KAI_QUEUE) is None
    assert not any("kueue" in request.path for request in server.requests)


def test_pages_are_read_to_their_end() -> None:
    server = server_with()
    for number in range(1001):
        _create(server, NODE, f"n{number:04}")
    server.requests.clear()
    assert len(read(server).of(NODE)) == 1002
    assert sum(request.path == NODE.path() for request in server.requests) == 3


def test_what_is_forbidden_is_missing_with_the_reason() -> None:
    snapshot = read(server_with(plan=forbidding("nodes", "clusterqueues")))
    assert Missing(NODE, FORBIDDEN) in snapshot.missing
    assert snapshot.lacks(CLUSTER_QUEUE) == FORBIDDEN
    assert snapshot.lacks(POD) is None


def test_where_the_cluster_is_forbidden_the_own_namespace_is_read() -> None:
    def everywhere(path: str) -> bool:
        return "/namespaces/team-a/" not in path

    namespaced = (
        "namespaces",
        "pods",
        "events",
        "jobs",
        "deployments",
        "configmaps",
        "workloads",
        "localqueues",
    )
    server = server_with(plan=forbidding("nodes", *namespaced, where=everywhere))
    snapshot = read(server, home="team-a")
    assert [each["metadata"]["namespace"] for each in snapshot.of(POD)] == ["team-a"]
    assert Missing(POD, f"{FORBIDDEN} outside of namespace team-a") in snapshot.partly
    assert [each["metadata"]["name"] for each in snapshot.of(NAMESPACE)] == ["team-a"]
    assert snapshot.lacks(POD) is None
    assert snapshot.lacks(NODE) == FORBIDDEN
    most = sum(len(each.kinds) * (2 if each.kind.is_namespaced else 1) for each in ASKED)
    assert len(server.requests) <= TOLD_ABOUT_ITSELF + most + 4  # what some groups serve


def test_without_a_namespace_of_its_own_it_is_missing() -> None:
    snapshot = read(server_with(plan=forbidding("pods")))
    assert snapshot.lacks(POD) == FORBIDDEN


def test_what_is_forbidden_and_not_there_is_not_served() -> None:
    """An API server that looks at permissions first says forbidden of kinds that it does not have."""
    snapshot = read(server_with(plan=forbidding("devicetaintrules")))
    assert (snapshot.lacks(TAINT_RULE) or "").startswith((FORBIDDEN, NOT_SERVED))


def test_named_namespaces_are_read_alone() -> None:
    server = server_with()
    snapshot = read(server, namespaces=["team-b"])
    assert [each["metadata"]["namespace"] for each in snapshot.of(POD)] == ["team-b"]
    assert [each["metadata"]["name"] for each in snapshot.of(NAMESPACE)] == ["team-b"]
    assert Missing(POD, "left out outside of namespace team-b") in snapshot.partly
    assert [each["metadata"]["namespace"] for each in snapshot.of(EVENT)] == ["team-b"]
    assert not any(request.path == POD.path() for request in server.requests)
    assert len(snapshot.of(NODE)) == 1


def test_every_kind_is_told_of_as_it_comes() -> None:
    told: list[tuple[str, int]] = []
    read(server_with(), told=lambda kind, count: told.append((kind.plural, count)))
    assert ("pods", 2) in told
    assert ("secrets", 0) not in told


def test_a_server_that_does_not_say_what_it_serves_is_asked_all_the_same() -> None:
    def plan(_number: int, request: Any) -> Any:
        return faults.Fault(status=403) if request.path in {"/version", "/apis"} else None

    snapshot = read(server_with(plan=plan))
    assert snapshot.version == ""
    assert len(snapshot.of(CLUSTER_QUEUE)) == 1


def test_what_is_no_matter_of_permission_is_raised() -> None:
    def plan(_number: int, request: Any) -> Any:
        return faults.Fault(status=401) if request.path == JOB.path() else None

    with pytest.raises(ApiError):
        read(server_with(plan=plan))
