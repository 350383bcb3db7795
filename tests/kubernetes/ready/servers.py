"""Two whole clusters on fake servers: one that is ready, and one with much in the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allotment.kubernetes.client import Client
from allotment.kubernetes.testing import FakeApiServer
from allotment.kubernetes.testing.transport import FakeTransport
from tests.kubernetes.ready.clusters import (
    ACTIVE,
    configuration_of,
    manager_of,
    patch_status,
    platform_of,
    quota_of,
    ready_server,
)

SECRET = {"metadata": {"name": "archive-bucket"}, "data": {"credentials": "aHVudGVyMg=="}}


def good() -> FakeApiServer:
    """A cluster that is ready for the example's platform."""
    server = ready_server(platform_of("kueue"))
    server.request("POST", "/api/v1/namespaces/archive/secrets", body=SECRET)
    return server


def broken() -> FakeApiServer:
    """The same with much in the way: cards twice, a node without a driver, quota moved, no credentials."""
    server = ready_server(platform_of("kueue"))
    client = Client(FakeTransport(server))

    def merged(path: str, change: Mapping[str, Any]) -> None:
        headers = {"Content-Type": "application/merge-patch+json"}
        assert server.request("PATCH", path, {}, headers, change).status == 200

    queues = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
    policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
    server.request("DELETE", "/apis/resource.k8s.io/v1/resourceslices/node-b-gpus")
    server.request("DELETE", "/apis/resource.k8s.io/v1/deviceclasses/gpu-l4")
    merged("/api/v1/nodes/node-a/status", {"status": {"allocatable": {"nvidia.com/gpu": "2"}}})
    merged("/api/v1/nodes/node-b", {"spec": {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}})
    merged(f"{queues}/archive", {"spec": {"stopPolicy": "HoldAndDrain"}})
    stopped = {**ACTIVE, "status": "False", "reason": "Stopped", "message": "is stopped"}
    patch_status(server, f"{queues}/archive", {"conditions": [stopped]})
    merged(f"{policies}/allotment-jobs", {"spec": {"failurePolicy": "Ignore"}})
    changes: dict[str, Any] = {"resources": {}, "waitForPodsReady": {"timeout": "5m"}, "featureGates": {}}
    old = configuration_of(platform_of("kueue"), **changes)
    client.apply(old, manager="tests", force=True)
    client.apply(manager_of("v0.19.2"), manager="tests", force=True)
    client.apply(quota_of({"limits.cpu": "64"}), manager="tests")
    return server
