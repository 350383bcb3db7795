"""Recorded worlds: ten cycles of Kueue's own scheduler, with what lies between them, against the model.

Between two cycles the adapter does what Kueue's controllers and the jobs do: what was decided reaches the
queues, evicted workloads stop and give their quota back, others end, elastic ones ask for more. A world
agrees if every cycle does, in everything that is recorded; of one that does not, the first difference is
shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from allotment.scheduling.kueue import Admitted, Decision, Evicted, Memory, Settings, Waits, applied, decide
from allotment.scheduling.kueue.applying import released
from allotment.scheduling.kueue.catching_up import caught_up
from allotment.scheduling.kueue.gates import LATEST, gates_of
from allotment.scheduling.kueue.settings import BOTH_RULES, FairRule
from allotment.scheduling.state.amounts import amount_text
from allotment.scheduling.state.read_queues import (
    read_cluster_queue,
    read_cohort,
    read_flavor,
    read_local_queue,
    read_node,
    read_topology,
)
from allotment.scheduling.state.read_workloads import read_workload, seconds
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import PodSetAdmission, Workload
from tests.conformance.outcomes import ALL, Outcome, Share, attempt, read_json_lines

START = seconds("2026-01-01T00:00:00Z")
CYCLE = 60.0
TOLD = (
    "created",
    "activeBefore",
    "ran",
    "reserved",
    "evicted",
    "replaced",
    "pending",
    "activeAfter",
    "inadmissibleAfter",
    "usageAfter",
    "released",
    "finished",
)
Raw = Mapping[str, Any]


def run_worlds(path: Path, share: Share = ALL) -> Iterator[Outcome]:
    """Every world."""
    for world in read_json_lines(path, share):
        feature = world["id"].rpartition("-")[0]
        recorded: list[Raw] = [_normal(cycle) for cycle in world["cycles"]]
        found = attempt(lambda world=world: list(World(world["world"]).run()))  # type: ignore[misc]
        expected, answer = _first_difference(recorded, found)
        yield Outcome(world["id"], feature, expected, answer)


def _first_difference(recorded: list[Raw], found: Any) -> tuple[object, object]:
    if not isinstance(found, list):
        return "ten cycles", found
    for number, (ours, theirs) in enumerate(zip(found, recorded, strict=True)):
        for name in TOLD:
            if ours.get(name) != theirs.get(name):
                return (number, name, repr(theirs.get(name))), (number, name, repr(ours.get(name)))
    return "all cycles", "all cycles"


def _normal(cycle: Raw) -> dict[str, Any]:
    """A recorded cycle in the form of ours."""
    return {
        "created": sorted(cycle.get("created") or ()),
        "activeBefore": _lists(cycle.get("activeBefore")),
        "ran": bool(cycle.get("ran")),
        "reserved": dict(sorted((cycle.get("reserved") or {}).items())),
        "evicted": dict(sorted((cycle.get("evicted") or {}).items())),
        "replaced": sorted(cycle.get("replaced") or ()),
        "pending": dict(sorted((cycle.get("pending") or {}).items())),
        "activeAfter": _lists(cycle.get("activeAfter")),
        "inadmissibleAfter": _lists(cycle.get("inadmissibleAfter")),
        "usageAfter": {
            queue: dict(sorted((cell, str(amount)) for cell, amount in cells.items()))
            for queue, cells in sorted((cycle.get("usageAfter") or {}).items())
        },
        "released": sorted(cycle.get("released") or ()),
        "finished": sorted(cycle.get("finished") or ()),
    }


def _lists(raw: Mapping[str, list[str]] | None) -> dict[str, list[str]]:
    return {queue: sorted(names) for queue, names in sorted((raw or {}).items()) if names}


def settings_of(raw: Raw) -> Settings:
    """The settings of a world."""
    fair = raw.get("fairSharing")
    rules = None
    if fair is not None:
        rules = tuple(FairRule(name) for name in fair.get("preemptionStrategies") or ()) or BOTH_RULES
    return Settings(gates=gates_of(LATEST, raw.get("featureGates")), fair=rules)


def state_of(raw: Raw) -> State:
    """The queues, flavors and nodes of a world."""
    return State(
        cluster_queues=_named(map(read_cluster_queue, raw.get("clusterQueues") or ())),
        cohorts=_named(map(read_cohort, raw.get("cohorts") or ())),
        local_queues={each.key: each for each in map(read_local_queue, raw.get("localQueues") or ())},
        flavors=_named(map(read_flavor, raw.get("resourceFlavors") or ())),
        topologies=_named(map(read_topology, raw.get("topologies") or ())),
        nodes=_named(map(read_node, raw.get("nodes") or ())),
        namespaces={"default": {}},
        workloads=Shelf(),
    )


def _named(each: Iterator[Any]) -> dict[str, Any]:
    return {value.name: value for value in each}


@dataclass
class World:
    """A world that is played."""

    raw: Raw
    state: State = field(init=False)
    memory: Memory = field(init=False)
    evicted_at: dict[str, int] = field(default_factory=dict)
    reserved_at: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.state = state_of(self.raw)
        self.memory = Memory(settings_of(self.raw))
        self.run_for = {_name(each): each.get("run", 0) for each in self.raw["workloads"]}

    def run(self) -> Iterator[dict[str, Any]]:
        """What each cycle comes to."""
        for number in range(self.raw["cycles"]):
            yield self._cycle(number)

    def _cycle(self, number: int) -> dict[str, Any]:
        now = START + CYCLE * number
        told: dict[str, Any] = {"created": self._create(number)}
        self.memory = caught_up(self.memory, self.state, now)
        told["activeBefore"] = self._lines("active")
        told["ran"] = bool(told["activeBefore"])
        before = self.state
        decisions, self.memory = decide(self.state, self.memory, now)
        told["activeAfter"], told["inadmissibleAfter"] = self._lines("active"), self._lines("aside")
        self.state = applied(self.state, decisions, now)
        self.memory = caught_up(self.memory, self.state, now)
        told |= self._decided(decisions, before, number)
        told["usageAfter"] = self._usage()
        told["released"], told["finished"] = self._release(number), self._finish(number)
        return told

    def _create(self, number: int) -> list[str]:
        new: dict[str, Workload | None] = {}
        for each in self.raw["workloads"]:
            needs = each.get("ifReserved")
            if each.get("at", 0) != number or (needs and not self._holds(f"default/{needs}")):
                continue
            workload = read_workload(each["workload"])
            new[workload.key] = workload
        self.state = self.state.with_workloads(new)
        return sorted(key.partition("/")[2] for key in new)

    def _holds(self, key: str) -> bool:
        workload = self.state.workloads.get(key)
        return (
            workload is not None and workload.reserved and not workload.finished and workload.evicted is None
        )

    def _lines(self, part: str) -> dict[str, list[str]]:
        lines = {
            queue: sorted(key.partition("/")[2] for key in getattr(line, part))
            for queue, line in sorted(self.memory.lines.items())
        }
        return {queue: names for queue, names in lines.items() if names}

    def _decided(self, decisions: tuple[Decision, ...], before: State, number: int) -> dict[str, Any]:
        reserved: dict[str, Any] = {}
        evicted: dict[str, str] = {}
        pending: dict[str, str] = {}
        replaced: list[str] = []
        for decision in decisions:
            name = decision.workload.partition("/")[2]
            match decision:
                case Admitted():
                    reserved[name] = [_given(each) for each in decision.admission.pod_sets]
                    self.reserved_at[decision.workload] = number
                    if decision.replaces:
                        replaced.append(decision.replaces.partition("/")[2])
                case Evicted():
                    evicted[name] = str(decision.cause)
                    self.evicted_at[decision.workload] = number
                case Waits():
                    told = self.state.workloads[decision.workload].waiting
                    if told != before.workloads[decision.workload].waiting:
                        pending[name] = f"{decision.reason}: {decision.message}"
        return {
            "reserved": dict(sorted(reserved.items())),
            "evicted": dict(sorted(evicted.items())),
            "replaced": sorted(replaced),
            "pending": dict(sorted(pending.items())),
        }

    def _usage(self) -> dict[str, dict[str, str]]:
        tree, usage = self.memory.tree, self.memory.usage
        assert tree is not None
        assert usage is not None
        told = {}
        for name, node in sorted(tree.queues.items()):
            cells = {f"{flavor}/{resource}": str(n) for (flavor, resource), n in usage.of(node).items() if n}
            if cells:
                told[name] = dict(sorted(cells.items()))
        return told

    def _release(self, number: int) -> list[str]:
        due = [key for key, at in self.evicted_at.items() if number - at >= self.raw.get("releaseDelay", 0)]
        for key in due:
            del self.evicted_at[key]
            self.reserved_at.pop(key, None)
        due = [key for key in due if not self.state.workloads[key].finished]
        self.state = self.state.with_workloads({key: released(self.state.workloads[key]) for key in due})
        return sorted(key.partition("/")[2] for key in due)

    def _finish(self, number: int) -> list[str]:
        due = [
            key
            for key, at in self.reserved_at.items()
            if self.run_for[key] and number - at >= self.run_for[key] and self._holds(key)
        ]
        for key in due:
            del self.reserved_at[key]
        done = {key: replace(self.state.workloads[key], finished=True) for key in due}
        self.state = self.state.with_workloads(done)
        return sorted(key.partition("/")[2] for key in due)


def _name(each: Raw) -> str:
    meta = each["workload"]["metadata"]
    return f"{meta['namespace']}/{meta['name']}"


def _given(given: PodSetAdmission) -> dict[str, Any]:
    told: dict[str, Any] = {"name": given.name, "count": given.count}
    told["flavors"] = dict(given.flavors)
    told["resourceUsage"] = {name: amount_text(name, amount) for name, amount in given.usage.items()}
    if given.placement is not None:
        domains = [{"values": list(each.values), "count": each.count} for each in given.placement.domains]
        told["topology"] = {"domains": domains, "levels": list(given.placement.levels)}
    return told
