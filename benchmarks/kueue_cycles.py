"""Kueue's model at work on Kueue's own performance shape, by CPU.

15,000 workloads wait in 30 ClusterQueues of 5 cohorts; what is admitted runs for some cycles and ends, until
all have run. The rival is the same model without its memory: it learns the whole state anew in every cycle.
Beside that: what an admission costs with four times as many workloads, and a cycle with twenty-five times
as many that wait.
"""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass, field, replace
from typing import Any

from allotment.scheduling.kueue import Admitted, Evicted, Memory, Settings, applied, decide
from allotment.scheduling.kueue.applying import released
from allotment.scheduling.state.read_queues import read_cluster_queue, read_flavor, read_local_queue
from allotment.scheduling.state.read_workloads import read_workload
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import Workload
from benchmarks.ratio import Ratio

START = 1_800_000_000.0
KINDS = (("small", 350, 1, 50, 1), ("medium", 100, 5, 100, 2), ("large", 50, 20, 200, 4))
RUN = {name: cycles for name, _count, _cpu, _priority, cycles in KINDS}
COHORTS, QUEUES = 5, 6
FORGETFUL = 5  # cycles of the rival, or this would take minutes
MIB = 500


def run() -> list[Ratio]:
    """Remembering beside not remembering; growth with the number of workloads; memory."""
    whole = _play(Play(_world(1.0)))
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    quarter, double = _play(Play(_world(0.5))), _play(Play(_world(2.0)))
    each = whole.seconds / whole.cycles
    rival = _forgetful(Play(_world(1.0)))
    rate = f"{whole.admitted / whole.seconds:.0f} admissions a second of CPU"
    few, many = _cycle(20), _cycle(500)
    return [
        Ratio(
            "a cycle over 15,000 workloads",
            each / rival,
            0.1,
            f"{each * 1000:.1f} ms, {rate}; without a memory {rival * 1000:.0f} ms",
        ),
        Ratio(
            "an admission among 30,000 workloads beside 7,500",
            (double.seconds / double.admitted) / (quarter.seconds / quarter.admitted),
            1.6,
            f"{double.seconds / double.admitted * 1e6:.0f} and "
            f"{quarter.seconds / quarter.admitted * 1e6:.0f} µs of CPU",
        ),
        Ratio(
            "a cycle over 100 queues where 50,000 wait beside 2,000",
            many / few,
            3.0,
            f"{many * 1000:.0f} and {few * 1000:.0f} ms",
        ),
        Ratio("memory of 15,000 workloads, of 500 MiB", mib / MIB, 1.0, f"{mib:.0f} MiB"),
    ]


@dataclass(slots=True)
class Play:
    """A world that is played, and what it has come to."""

    state: State
    memory: Memory = field(default_factory=lambda: Memory(Settings()))
    cycles: int = 0
    admitted: int = 0
    seconds: float = 0.0
    ends: dict[str, int] = field(default_factory=dict)

    def step(self) -> None:
        """One cycle, and what its decisions lead to; only the deciding and the applying are timed."""
        self.cycles += 1
        now = START + self.cycles
        before = time.process_time()
        decisions, self.memory = decide(self.state, self.memory, now)
        self.state = applied(self.state, decisions, now)
        self.seconds += time.process_time() - before
        changes: dict[str, Workload | None] = {}
        for decision in decisions:
            key = decision.workload
            if isinstance(decision, Admitted):
                self.admitted += 1
                self.ends[key] = self.cycles + RUN[key.split(".")[1]]
            elif isinstance(decision, Evicted):
                del self.ends[key]
                changes[key] = released(self.state.workloads[key])
        for key in [key for key, end in self.ends.items() if end <= self.cycles]:
            del self.ends[key]
            changes[key] = replace(self.state.workloads[key], finished=True)
        self.state = self.state.with_workloads(changes)


def _play(play: Play) -> Play:
    while any(line.lanes.kinds for line in play.memory.lines.values()) or play.ends or not play.cycles:
        play.step()
    return play


def _forgetful(play: Play) -> float:
    for _ in range(FORGETFUL):
        play.memory = Memory(Settings())
        play.step()
    return play.seconds / FORGETFUL


def _cycle(pending: int) -> float:
    """One cycle over 100 queues in each of which so many wait, once all have been taken in."""
    play = Play(_world(pending / 500, cohorts=10, queues=10))
    play.step()
    taken, rounds = play.seconds, 5
    for _ in range(rounds):
        play.step()
    return (play.seconds - taken) / rounds


def _world(scale: float, cohorts: int = COHORTS, queues: int = QUEUES) -> State:
    names = [(f"c{cohort}-q{number}", f"c{cohort}") for cohort in range(cohorts) for number in range(queues)]
    lines = [
        read_local_queue({"metadata": {"namespace": "n", "name": name}, "spec": {"clusterQueue": name}})
        for name, _cohort in names
    ]
    workloads = [
        _workload(name, kind, number, cpu, priority)
        for name, _cohort in names
        for kind, count, cpu, priority, _cycles in KINDS
        for number in range(int(count * scale))
    ]
    return State(
        cluster_queues={name: read_cluster_queue(_queue(name, cohort)) for name, cohort in names},
        local_queues={line.key: line for line in lines},
        flavors={"default": read_flavor({"metadata": {"name": "default"}, "spec": {}})},
        namespaces={"n": {}},
        workloads=Shelf({each.key: each for each in workloads}),
    )


def _queue(name: str, cohort: str) -> dict[str, Any]:
    quota = {"name": "cpu", "nominalQuota": "20", "borrowingLimit": "100"}
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "default", "resources": [quota]}]}
    preemption = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}
    spec = {
        "cohortName": cohort,
        "namespaceSelector": {},
        "resourceGroups": [group],
        "preemption": preemption,
    }
    return {"metadata": {"name": name}, "spec": spec}


def _workload(queue: str, kind: str, number: int, cpu: int, priority: int) -> Workload:
    container = {"name": "c", "resources": {"requests": {"cpu": str(cpu)}}}
    pods = {"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}}
    name = f"{queue}.{kind}.{number}"
    return read_workload(
        {
            "metadata": {"namespace": "n", "name": name, "uid": name},
            "spec": {"queueName": queue, "priority": priority, "podSets": [pods]},
        }
    )
