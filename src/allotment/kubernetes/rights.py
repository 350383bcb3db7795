"""Which rights each command needs of a cluster: the one table of them.

The platform's Roles give these to a team, `allot doctor` asks the server for each of them, and a refusal
names the Role that has it. Rights of the cluster as a whole are for reading alone. What may be listed may be
read by any verb, as people look by other tools too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

READ: Final = ("get", "list", "watch")
WRITE: Final = ("create", "delete", "get", "list", "patch")
RESOURCE: Final = "resource.k8s.io"
KUEUE: Final = "kueue.x-k8s.io"
KAI: Final = "scheduling.run.ai"
GANGS: Final = "scheduling.k8s.io"

ALL: Final = frozenset({"default", "kueue", "kai", "both"})
BY_DEFAULT: Final = frozenset({"default"})
WITH_KUEUE: Final = frozenset({"kueue", "both"})
WITH_KAI: Final = frozenset({"kai", "both"})

APPLY: Final = "apply"
FOLLOW: Final = "status, logs and why"
OPERATE: Final = "operate"
PLAN: Final = "devices, plan and why"
QUEUES: Final = "queues"
DOCTOR: Final = "doctor"


@dataclass(frozen=True, slots=True)
class Needed:
    """What a command does to resources of a group, where these schedulers place pods."""

    purpose: str
    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    schedulers: frozenset[str] = ALL


IN_NAMESPACE: Final = (
    Needed(APPLY, "", ("configmaps", "services"), WRITE),
    Needed(APPLY, "", ("namespaces",), ("get",)),  # of this one: it says whose it is
    Needed(APPLY, "apps", ("deployments",), WRITE),
    Needed(APPLY, "batch", ("jobs",), WRITE),
    Needed(APPLY, RESOURCE, ("resourceclaims", "resourceclaimtemplates"), WRITE),
    Needed(APPLY, GANGS, ("podgroups", "workloads"), WRITE, BY_DEFAULT),
    Needed(APPLY, "coordination.k8s.io", ("leases",), ("create", "get", "update")),
    Needed(APPLY, KUEUE, ("localqueues",), ("list",), WITH_KUEUE),
    Needed(APPLY, KUEUE, ("workloads",), ("list", "patch"), WITH_KUEUE),
    Needed(FOLLOW, "", ("events", "pods"), ("list",)),
    Needed(FOLLOW, "", ("pods/log",), ("get",)),
    Needed(FOLLOW, "", ("configmaps",), ("list",)),
    Needed(FOLLOW, "apps", ("deployments",), ("list",)),
    Needed(FOLLOW, "batch", ("jobs",), ("list",)),
    Needed(FOLLOW, RESOURCE, ("resourceclaims", "resourceclaimtemplates"), ("list",)),
    Needed(FOLLOW, KUEUE, ("localqueues", "workloads"), ("list",), WITH_KUEUE),
    Needed(FOLLOW, KAI, ("podgroups",), ("list",), WITH_KAI),
    Needed(OPERATE, "batch", ("jobs",), ("list", "patch", "watch"), WITH_KUEUE),
    Needed(OPERATE, KUEUE, ("workloads",), ("list", "watch"), WITH_KUEUE),
    Needed(DOCTOR, "", ("limitranges", "resourcequotas"), ("list",)),
)
IN_CLUSTER: Final = (
    Needed(PLAN, "", ("nodes",), ("list",)),
    Needed(PLAN, RESOURCE, ("deviceclasses", "devicetaintrules", "resourceslices"), ("list",)),
    Needed(QUEUES, KUEUE, ("clusterqueues", "cohorts", "resourceflavors"), ("list",), WITH_KUEUE),
    Needed(QUEUES, KAI, ("queues",), ("list",), WITH_KAI),
    Needed(DOCTOR, GANGS, ("priorityclasses",), ("list",)),
    Needed(DOCTOR, KUEUE, ("topologies", "workloadpriorityclasses"), ("list",), WITH_KUEUE),
    Needed(DOCTOR, "kai.scheduler", ("schedulingshards", "topologies"), ("list",), WITH_KAI),
)
TO_EXPLAIN: Final = frozenset({PLAN, QUEUES, DOCTOR})
"""What campaigns run without."""

Rule = tuple[str, tuple[str, ...], tuple[str, ...]]


def rules_of(needed: Iterable[Needed]) -> tuple[Rule, ...]:
    """Group, resources and verbs, as a Role has them: what is alike in one rule, sorted."""
    verbs: dict[tuple[str, str], set[str]] = {}
    for each in needed:
        for resource in each.resources:
            verbs.setdefault((each.group, resource), set()).update(each.verbs)
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, resource), found in sorted(verbs.items()):
        alike.setdefault((group, _widened(resource, found)), []).append(resource)
    return tuple((group, tuple(resources), told) for (group, told), resources in alike.items())


def _widened(resource: str, verbs: set[str]) -> tuple[str, ...]:
    """Reading by any verb where it may be listed."""
    listed = "list" in verbs and "/" not in resource
    return tuple(sorted(verbs | set(READ) if listed else verbs))


ROLE: Final = rules_of(IN_NAMESPACE)
"""What a team may do in its namespace."""

CLUSTER_ROLE: Final = rules_of(IN_CLUSTER)
"""What every team may read of the cluster."""


def needed_for(scheduler: str) -> Mapping[str, tuple[tuple[Needed, bool], ...]]:
    """What each command needs, and whether in the namespace."""
    found: dict[str, tuple[tuple[Needed, bool], ...]] = {}
    for table, within in ((IN_NAMESPACE, True), (IN_CLUSTER, False)):
        for each in table:
            if scheduler in each.schedulers:
                found[each.purpose] = (*found.get(each.purpose, ()), (each, within))
    return found
