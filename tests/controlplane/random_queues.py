"""Made-up quotas and workloads for Kueue: a few ClusterQueues, and who comes and ends one after the other.

A scenario reaches no other: its flavors, cohorts, queues and namespace carry its seed. Its objects are as a
team's administrator would write them, so that Kueue's webhooks take them; what they leave out is for the
server to fill in. The queues of a scenario are all strict or none is: Kueue tries a strict queue's head all
the time and wakes those of others once a second, so that who comes first would be a matter of luck.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Final

Object = dict[str, Any]

API: Final = "kueue.x-k8s.io/v1beta2"
CPU: Final = "cpu"
CARD: Final = "example.org/card"
POOL: Final = "example.org/pool"
ANYBODY: Final = ("Never", "LowerPriority", "Any")
WITHIN: Final = ("Never", "LowerPriority", "LowerOrNewerEqualPriority")
SEARCH: Final = ("MayStopSearch", "TryNextFlavor")
STEPS: Final = 14


@dataclass(frozen=True, slots=True)
class Comes:
    """A workload is handed in."""

    workload: Object


@dataclass(frozen=True, slots=True)
class Ends:
    """One of those that hold quota is done: which, as a part of all of them by name."""

    part: float


@dataclass(frozen=True, slots=True)
class Leaves:
    """One of those that wait is deleted."""

    part: float


Step = Comes | Ends | Leaves


@dataclass(frozen=True, slots=True)
class Scenario:
    """Queues and quotas, and what happens."""

    name: str
    shared: tuple[Object, ...]
    lines: tuple[Object, ...]
    steps: tuple[Step, ...]


def scenario(seed: int) -> Scenario:
    """The scenario of a seed, always the same."""
    return _Maker(seed).made()


class _Maker:
    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.name = f"quotas-{seed}"
        self.pools = [f"{self.name}-pool-{n}" for n in range(self.dice.choice((1, 1, 2, 2, 3)))]
        self.queues = [f"{self.name}-{letter}" for letter in "abc"[: self.dice.choice((1, 2, 2, 3, 3))]]
        self.resources = [CPU, CARD] if self.dice.random() < 0.5 else [self.dice.choice((CPU, CARD))]
        self.split = len(self.resources) > 1 and self.dice.random() < 0.3
        self.strategy = self.dice.choice(("StrictFIFO", "BestEffortFIFO", "BestEffortFIFO"))
        self.tainted = {pool for pool in self.pools if self.dice.random() < 0.15}

    def made(self) -> Scenario:
        cohorts, joined = self.cohorts()
        flavors = [self.flavor(pool) for pool in self.pools]
        queues = [self.cluster_queue(name, joined.get(name)) for name in self.queues]
        lines = [
            {
                "apiVersion": API,
                "kind": "LocalQueue",
                "metadata": {"name": name, "namespace": self.name},
                "spec": {"clusterQueue": name},
            }
            for name in self.queues
        ]
        steps = tuple(self.step(number) for number in range(STEPS))
        return Scenario(self.name, (*flavors, *cohorts, *queues), tuple(lines), steps)

    def chance(self, part: float) -> bool:
        return self.dice.random() < part

    def cohorts(self) -> tuple[list[Object], dict[str, str]]:
        """Cohorts that are objects, and which queue is in which; a cohort need not be an object."""
        kind = self.dice.choice(("none", "plain", "plain", "object", "tree"))
        root = f"{self.name}-all"
        if kind == "none":
            return [], {}
        joined = dict.fromkeys(self.queues, root)
        if kind == "plain":
            return [], joined
        if kind == "object":
            return [self.cohort(root, None)], joined
        inner = f"{self.name}-some"
        joined |= dict.fromkeys(self.queues[:2], inner)
        return [self.cohort(root, None), self.cohort(inner, root)], joined

    def cohort(self, name: str, parent: str | None) -> Object:
        groups = self.groups(is_lending=parent is not None) if self.chance(0.5) else []
        spec: Object = {"resourceGroups": groups} if groups else {}
        spec |= {"parentName": parent} if parent else {}
        return {"apiVersion": API, "kind": "Cohort", "metadata": {"name": name}, "spec": spec}

    def flavor(self, name: str) -> Object:
        taints = [{"key": POOL, "value": name, "effect": "NoSchedule"}] if name in self.tainted else []
        spec: Object = {"nodeLabels": {POOL: name}}
        spec |= {"nodeTaints": taints} if taints else {}
        return {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": spec}

    def groups(self, *, is_lending: bool) -> list[Object]:
        covered = [[each] for each in self.resources] if self.split else [self.resources]
        pools = [self.pools[:1], self.pools[1:]] if self.split and len(self.pools) > 1 else [self.pools]
        pairs = zip(covered, pools, strict=False)
        return [
            {
                "coveredResources": resources,
                "flavors": [
                    {
                        "name": name,
                        "resources": [self.quota(each, is_lending=is_lending) for each in resources],
                    }
                    for name in names
                ],
            }
            for resources, names in pairs
        ]

    def quota(self, resource: str, *, is_lending: bool) -> Object:
        nominal = self.dice.choice((0, 1, 2, 2, 3, 3, 4, 5))
        said: Object = {"name": resource, "nominalQuota": str(nominal)}
        if is_lending and self.chance(0.3):
            said["borrowingLimit"] = str(self.dice.randint(0, 4))
        if is_lending and self.chance(0.3):
            said["lendingLimit"] = str(self.dice.randint(0, nominal))
        return said

    def cluster_queue(self, name: str, cohort: str | None) -> Object:
        reclaim = self.dice.choice(ANYBODY)
        preemption: Object = {
            "withinClusterQueue": self.dice.choice(WITHIN),
            "reclaimWithinCohort": reclaim,
        }
        if reclaim != "Never" and self.chance(0.4):
            preemption["borrowWithinCohort"] = {
                "policy": "LowerPriority",
                **({"maxPriorityThreshold": self.dice.choice((0, 100))} if self.chance(0.5) else {}),
            }
        spec: Object = {
            "namespaceSelector": {},
            "queueingStrategy": self.strategy,
            "resourceGroups": self.groups(is_lending=cohort is not None),
            "preemption": preemption,
            "flavorFungibility": {
                "whenCanBorrow": self.dice.choice(SEARCH),
                "whenCanPreempt": self.dice.choice(SEARCH),
            },
            **({"cohortName": cohort} if cohort else {}),
        }
        return {"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}

    def step(self, number: int) -> Step:
        thrown = self.dice.random()
        if number < 4 or thrown < 0.65:
            return Comes(self.workload(f"w{number:02d}"))
        return Ends(self.dice.random()) if thrown < 0.92 else Leaves(self.dice.random())

    def workload(self, name: str) -> Object:
        sets = ["main", "helpers"] if self.chance(0.2) else ["main"]
        spec = {
            "queueName": self.dice.choice(self.queues),
            "priority": self.dice.choice((0, 0, 0, 100, 100, 200)),
            "podSets": [self.pod_set(each, is_only=len(sets) == 1) for each in sets],
        }
        metadata = {"name": name, "namespace": self.name}
        return {"apiVersion": API, "kind": "Workload", "metadata": metadata, "spec": spec}

    def pod_set(self, name: str, *, is_only: bool) -> Object:
        asked = {each: str(self.dice.choice((1, 1, 1, 2))) for each in self.resources}
        if self.chance(0.04):
            asked["example.org/unknown"] = "1"
        spec: Object = {
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "main",
                    "image": "example.org/x:1",
                    "resources": {"requests": asked, "limits": asked},
                }
            ],
        }
        if self.chance(0.15):
            spec["nodeSelector"] = {POOL: self.dice.choice(self.pools)}
        if self.chance(0.5):
            spec["tolerations"] = [{"key": POOL, "operator": "Exists", "effect": "NoSchedule"}]
        count = self.dice.choice((1, 1, 2, 2, 3, 4))
        said: Object = {"name": name, "count": count, "template": {"spec": spec}}
        if is_only and count > 1 and self.chance(0.15):
            said["minCount"] = self.dice.randint(1, count - 1)
        return said
