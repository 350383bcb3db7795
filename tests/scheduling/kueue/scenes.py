"""Small clusters with Kueue's queues, and cycles that are carried out on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from allotment.scheduling.kueue import Admitted, Decision, Evicted, Memory, Settings, Waits, applied, decide
from allotment.scheduling.kueue.applying import released
from allotment.scheduling.state.queues import ClusterQueue, Cohort
from allotment.scheduling.state.read_queues import (
    read_cluster_queue,
    read_cohort,
    read_flavor,
    read_local_queue,
    read_node,
    read_topology,
)
from allotment.scheduling.state.read_workloads import read_workload
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import Workload

START = 1_800_000_000.0
MINUTE = 60.0
Raw = Mapping[str, Any]


def group(resource: str = "cpu", **flavors: Any) -> dict[str, Any]:
    """A resource group: a flavor's quota is an amount, or (amount, borrowing limit, lending limit)."""
    listed = []
    for name, given in flavors.items():
        nominal, borrowing, lending = (
            (*given, None, None)[:3] if isinstance(given, tuple) else (given, None, None)
        )
        quota = {"name": resource, "nominalQuota": str(nominal)}
        quota |= {} if borrowing is None else {"borrowingLimit": str(borrowing)}
        quota |= {} if lending is None else {"lendingLimit": str(lending)}
        listed.append({"name": name.replace("_", "-"), "resources": [quota]})
    return {"coveredResources": [resource], "flavors": listed}


def queue(name: str, *groups: Raw, cohort: str | None = None, **spec: Any) -> ClusterQueue:
    """A ClusterQueue; a LocalQueue of the same name leads to it."""
    named = {"cohortName": cohort} if cohort else {}
    return read_cluster_queue(
        {
            "metadata": {"name": name},
            "spec": {"namespaceSelector": {}, "resourceGroups": list(groups), **named, **spec},
        }
    )


def cohort(name: str, *groups: Raw, parent: str | None = None) -> Cohort:
    """A cohort."""
    named = {"parentName": parent} if parent else {}
    return read_cohort({"metadata": {"name": name}, "spec": {"resourceGroups": list(groups), **named}})


def job(
    name: str,
    queue: str = "a",
    *,
    pods: int = 1,
    priority: int = 0,
    at: int = 0,
    spec: Raw | None = None,
    topology: Raw | None = None,
    least: int | None = None,
    **requests: Any,
) -> Workload:
    """A workload of one pod set; ``at`` is when it was made, in minutes."""
    container = {"name": "c", "resources": {"requests": {key: str(n) for key, n in requests.items()}}}
    pod_set: dict[str, Any] = {
        "name": "main",
        "count": pods,
        "template": {"spec": {"containers": [container], **(spec or {})}},
    }
    pod_set |= {} if least is None else {"minCount": least}
    pod_set |= {} if topology is None else {"topologyRequest": dict(topology)}
    workload = read_workload(
        {
            "metadata": {"namespace": "team", "name": name, "uid": name},
            "spec": {"queueName": queue, "priority": priority, "podSets": [pod_set]},
        }
    )
    return replace(workload, created=START + MINUTE * at)


def flavor(name: str, **spec: Any) -> Raw:
    """A flavor."""
    return {"metadata": {"name": name}, "spec": spec}


def node(name: str, *, cpu: int = 4, **labels: str) -> Raw:
    """A node with a host name and other labels."""
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "status": {
            "allocatable": {"cpu": str(cpu), "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


@dataclass
class Told:
    """What a cycle came to, by a workload's name."""

    admitted: dict[str, Any] = field(default_factory=dict)
    evicted: dict[str, str] = field(default_factory=dict)
    waits: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, decisions: tuple[Decision, ...]) -> Told:
        told = cls()
        for decision in decisions:
            name = decision.workload.partition("/")[2]
            match decision:
                case Admitted():
                    told.admitted[name] = decision.admission
                case Evicted():
                    told.evicted[name] = str(decision.cause)
                case Waits():
                    told.waits[name] = decision.message
                    told.reasons[name] = str(decision.reason)
        return told

    def flavor(self, name: str, resource: str = "cpu") -> str:
        """The flavor that a workload got."""
        found: str = self.admitted[name].pod_sets[0].flavors[resource]
        return found


class Cluster:
    """A cluster whose cycles are carried out as Kueue and its jobs would."""

    def __init__(
        self,
        *parts: ClusterQueue | Cohort | Workload,
        flavors: tuple[Raw, ...] = (),
        nodes: tuple[Raw, ...] = (),
        levels: tuple[str, ...] = (),
        settings: Settings | None = None,
    ) -> None:
        queues = {each.name: each for each in parts if isinstance(each, ClusterQueue)}
        cohorts = {each.name: each for each in parts if isinstance(each, Cohort)}
        named = {flavor for each in queues.values() for part in each.groups for flavor in part.flavors}
        told = {each["metadata"]["name"]: each for each in flavors}
        lines = [
            read_local_queue(
                {"metadata": {"namespace": "team", "name": name}, "spec": {"clusterQueue": name}}
            )
            for name in queues
        ]
        topology = {"metadata": {"name": "rooms"}, "spec": {"levels": [{"nodeLabel": key} for key in levels]}}
        self.state = State(
            cluster_queues=queues,
            cohorts=cohorts,
            local_queues={each.key: each for each in lines},
            flavors={name: read_flavor(told.get(name, flavor(name))) for name in sorted(named)},
            topologies={"rooms": read_topology(topology)} if levels else {},
            nodes={each.name: each for each in map(read_node, nodes)},
            namespaces={"team": {}},
            workloads=Shelf({each.key: each for each in parts if isinstance(each, Workload)}),
        )
        self.memory = Memory(settings or Settings())
        self.now = START + 10 * MINUTE

    def add(self, *workloads: Workload) -> None:
        """More workloads come."""
        self.state = self.state.with_workloads({each.key: each for each in workloads})

    def cycle(self) -> Told:
        """One cycle; who is evicted gives its quota back at once."""
        self.now += MINUTE
        decisions, self.memory = decide(self.state, self.memory, self.now)
        self.state = applied(self.state, decisions, self.now)
        gone = [each.workload for each in decisions if isinstance(each, Evicted)]
        self.state = self.state.with_workloads({key: released(self.state.workloads[key]) for key in gone})
        return Told.of(decisions)

    def cycles(self, count: int) -> list[list[str]]:
        """Who is admitted in each of several cycles."""
        return [sorted(self.cycle().admitted) for _ in range(count)]

    def end(self, name: str) -> None:
        """A workload is done."""
        key = f"team/{name}"
        self.state = self.state.with_workloads({key: replace(self.state.workloads[key], finished=True)})

    @property
    def holders(self) -> set[str]:
        """Who has quota."""
        return {each.name for each in self.state.workloads.values() if each.reserved and not each.finished}
