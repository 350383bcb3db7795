"""A client's view of the fake API server: versions, pages, watches, deletions, and what custom kinds do."""

from __future__ import annotations

from typing import Any

import pytest

from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.answers import Answer

MAPS = "/api/v1/namespaces/team/configmaps"
JOBS = "/apis/batch/v1/namespaces/team/jobs"
MERGE = {"Content-Type": "application/merge-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}


@pytest.fixture
def server() -> FakeApiServer:
    server = FakeApiServer()
    server.add_namespace("team")
    return server


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def job(name: str = "j", **spec: Any) -> dict[str, Any]:
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i@sha256:0"}]}
    told = {"template": {"spec": pod}, "completionMode": "Indexed", "completions": 4, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": told}


def apply(server: FakeApiServer, path: str, body: Any, manager: str = "allot", **query: str) -> Answer:
    return server.request("PATCH", path, {"fieldManager": manager, **query}, APPLY, body)


def test_a_renderer_that_leaves_out_the_width_leaves_it_to_the_scaler(server: FakeApiServer) -> None:
    assert apply(server, f"{JOBS}/j", job(parallelism=4)).status == 201
    assert (
        server.request(
            "PATCH", f"{JOBS}/j", {"fieldManager": "scaler"}, MERGE, {"spec": {"parallelism": 2}}
        ).status
        == 200
    )
    refused = apply(server, f"{JOBS}/j", job(parallelism=4))
    assert (refused.status, refused.body["reason"]) == (409, "Conflict")
    assert refused.body["message"].endswith('conflict with "scaler" using batch/v1: .spec.parallelism')
    left = apply(server, f"{JOBS}/j", job())
    assert (left.status, left.body["spec"]["parallelism"]) == (200, 2)


def test_a_changed_template_is_refused_and_nothing_is_changed(server: FakeApiServer) -> None:
    first = apply(server, f"{JOBS}/j", job()).body
    other = job()
    other["spec"]["template"]["spec"]["containers"][0]["image"] = "other@sha256:1"
    assert apply(server, f"{JOBS}/j", other).status == 422
    assert server.request("GET", f"{JOBS}/j").body == first


def test_pages_agree_with_one_another_and_expire_with_the_store(server: FakeApiServer) -> None:
    for name in "abc":
        server.request("POST", MAPS, body=config_map(name))
    first = server.request("GET", MAPS, {"limit": "2"}).body
    server.request("POST", MAPS, body=config_map("d"))
    rest = server.request("GET", MAPS, {"continue": first["metadata"]["continue"]}).body
    assert [item["metadata"]["name"] for item in (*first["items"], *rest["items"])] == ["a", "b", "c"]
    server.compact()
    late = server.request("GET", MAPS, {"continue": first["metadata"]["continue"]})
    assert (late.status, late.body["reason"]) == (410, "Expired")
    going_on = server.request("GET", MAPS, {"continue": late.body["metadata"]["continue"]}).body
    assert [item["metadata"]["name"] for item in going_on["items"]] == ["c", "d"]


def test_a_watch_goes_on_where_another_ended_and_is_told_when_it_cannot(server: FakeApiServer) -> None:
    start = server.request("GET", MAPS).body["metadata"]["resourceVersion"]
    server.request("POST", MAPS, body=config_map("a"))
    watch = server.request("GET", MAPS, {"watch": "1", "resourceVersion": start}).stream
    assert watch is not None
    first = watch.pending()
    server.request("PATCH", f"{MAPS}/a", None, MERGE, {"data": {"k": "v"}})
    server.request("DELETE", f"{MAPS}/a")
    version = first[-1]["object"]["metadata"]["resourceVersion"]
    again = server.request("GET", MAPS, {"watch": "1", "resourceVersion": version}).stream
    assert again is not None
    assert [event["type"] for event in (*first, *again.pending())] == ["ADDED", "MODIFIED", "DELETED"]
    server.compact()
    late = server.request("GET", MAPS, {"watch": "1", "resourceVersion": version}).stream
    assert late is not None
    assert [(event["type"], event["object"]["code"]) for event in late.pending()] == [("ERROR", 410)]


@pytest.mark.parametrize(("policy", "left"), [("Background", False), ("Orphan", True), ("", True)])
def test_what_becomes_of_the_pods_of_a_deleted_job(server: FakeApiServer, policy: str, left: bool) -> None:
    uid = server.request("POST", JOBS, body=job()).body["metadata"]["uid"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": uid}
    owned = config_map("owned")
    owned["metadata"]["ownerReferences"] = [owner]
    server.request("POST", MAPS, body=owned)
    answer = server.request("DELETE", f"{JOBS}/j", {"propagationPolicy": policy} if policy else {})
    assert bool(answer.warnings) is (not policy)
    assert server.request("GET", f"{JOBS}/j").status == 404
    found = server.request("GET", f"{MAPS}/owned")
    assert (found.status == 200) is left
    assert "ownerReferences" not in found.body.get("metadata", {})


def test_objects_of_custom_kinds_are_applied_by_their_own_schema(server: FakeApiServer) -> None:
    item = {"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}}
    parts = {
        "type": "array",
        "items": item,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
    }
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"parts": parts}}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "queues.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "queues", "singular": "queue", "kind": "Queue"},
            "versions": [version],
        },
    }
    path = "/apis/example.com/v1/queues/q"
    assert server.request("GET", path).status == 404
    assert (
        server.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body=crd).status
        == 201
    )
    for who, name in (("one", "a"), ("two", "b")):
        spec = {"parts": [{"name": name, "size": 1}]}
        queue = {"apiVersion": "example.com/v1", "kind": "Queue", "metadata": {"name": "q"}, "spec": spec}
        assert apply(server, path, queue, who).status in {200, 201}
    assert [part["name"] for part in server.request("GET", path).body["spec"]["parts"]] == ["a", "b"]
    wrong = {"apiVersion": "example.com/v1", "kind": "Queue", "metadata": {"name": "q"}, "spec": {"partz": 1}}
    assert apply(server, path, wrong, "one").status == 500


def pod(name: str = "p") -> dict[str, Any]:
    spec = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]}
    return {"metadata": {"name": name}, "spec": spec}


def test_a_pod_on_a_node_stays_for_its_grace_period_and_is_bound_only_once(server: FakeApiServer) -> None:
    pods = "/api/v1/namespaces/team/pods"
    server.request("POST", pods, body=pod())
    binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}
    assert server.request("POST", f"{pods}/p/binding", body=binding).status == 201
    assert server.request("POST", f"{pods}/p/binding", body=binding).status == 409
    assert server.request("POST", f"{pods}/p/eviction", body={"metadata": {"name": "p"}}).status == 201
    found = server.request("GET", f"{pods}/p").body
    assert found["metadata"]["deletionGracePeriodSeconds"] == 30
    assert {each["type"] for each in found["status"]["conditions"]} == {"PodScheduled", "DisruptionTarget"}
    server.request("DELETE", f"{pods}/p", {"gracePeriodSeconds": "0"})
    assert server.request("GET", f"{pods}/p").status == 404


def test_a_pod_that_is_on_no_node_is_gone_at_once(server: FakeApiServer) -> None:
    pods = "/api/v1/namespaces/team/pods"
    server.request("POST", pods, body=pod())
    assert server.request("DELETE", f"{pods}/p").status == 200
    assert server.request("GET", f"{pods}/p").status == 404
