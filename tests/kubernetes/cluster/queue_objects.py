"""Objects of Kueue and KAI for tests, as short as they can be."""

from __future__ import annotations

from typing import Any

KUEUE = "kueue.x-k8s.io/v1beta2"
KAI = "scheduling.run.ai/v2"


def local_queue(name: str, namespace: str, cluster_queue: str) -> dict[str, Any]:
    """A namespace's queue."""
    return made(KUEUE, "LocalQueue", name, {"clusterQueue": cluster_queue}, namespace)


def workload(name: str, namespace: str, count: int = 1, **rest: Any) -> dict[str, Any]:
    """A Workload of pods that count cards, waiting unless it says otherwise; ``conditions`` are true."""
    container = {"name": "c", "resources": {"requests": {"gpus": "1"}}}
    spec = {
        "queueName": rest.pop("queue", namespace),
        "podSets": [{"name": "main", "count": count, "template": {"spec": {"containers": [container]}}}],
    }
    conditions = [{"type": each, "status": "True"} for each in rest.pop("conditions", ())]
    status = rest.pop("status", {}) | {"conditions": conditions}
    metadata = rest.pop("metadata", {})
    found = made(KUEUE, "Workload", name, {**spec, **rest}, namespace) | {"status": status}
    found["metadata"] |= metadata
    return found


def made(
    api_version: str, kind: str, name: str, spec: dict[str, Any], namespace: str | None = None
) -> dict[str, Any]:
    """An object."""
    metadata = {"name": name} | ({} if namespace is None else {"namespace": namespace})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def of_kai(name: str, quota: float, limit: float, parent: str | None = None, **status: Any) -> dict[str, Any]:
    """A queue of KAI; ``status`` is given as amounts of cards."""
    spec: dict[str, Any] = {"resources": {"gpu": {"quota": quota, "limit": limit, "overQuotaWeight": 1}}}
    if parent is not None:
        spec["parentQueue"] = parent
    told = {key: {"nvidia.com/gpu": str(amount)} for key, amount in status.items()}
    return made(KAI, "Queue", name, spec) | {"status": told}


def of_kueue(name: str, nominal: int, used: int = 0, **rest: Any) -> dict[str, Any]:
    """A ClusterQueue in the cohort of all."""
    numbers = {"name": "gpus", "nominalQuota": str(nominal)}
    if "borrow" in rest:
        numbers["borrowingLimit"] = str(rest["borrow"])
    cores = {"name": "cpu", "nominalQuota": "1000000"}
    flavors = [{"name": "any", "resources": [numbers, cores]}]
    groups = [{"coveredResources": ["gpus", "cpu"], "flavors": flavors}]
    spec = {"cohortName": "all", "resourceGroups": groups, "fairSharing": {"weight": rest.get("weight", "1")}}
    reserved = [{"name": "any", "resources": [{"name": "gpus", "total": str(used)}]}]
    status = {"flavorsReservation": reserved, "conditions": rest.get("conditions", [])}
    return made(KUEUE, "ClusterQueue", name, spec) | {"status": status}
