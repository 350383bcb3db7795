"""One scenario decided twice: by Kueue's manager on a plane, and by our model over the same objects.

The objects are read back from the server, so that the model sees what Kueue does, with the server's names and
times. No job stands behind a workload: what a job's controller does, giving the quota back once an evicted
workload's pods have stopped, is done here, one workload at a time. After every step both have to be at rest
in the same state before the next one is taken: who holds what, who is evicted and why, and what is used.

What those who wait are told is compared too, and counted by how far it is the same. Kueue 0.17 looks at the
resources of a workload in any order and stops at the first that there is too little of; later versions, and
the model, tell of all of them, in order. Its only reason is ``Pending``, so reasons are not compared.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.kinds import (
    CLUSTER_QUEUE,
    COHORT,
    FLAVOR,
    NAMESPACE,
    WORKLOAD,
    Object,
    kind_of,
)
from allotment.scheduling.kueue import Memory, Settings, applied, decide
from allotment.scheduling.kueue.applying import released
from allotment.scheduling.kueue.catching_up import caught_up
from allotment.scheduling.kueue.pending import wake
from allotment.scheduling.state.read_queues import (
    read_cluster_queue,
    read_cohort,
    read_flavor,
    read_local_queue,
    read_quota,
)
from allotment.scheduling.state.read_workloads import read_workload
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import Workload
from tests.controlplane.processes import until
from tests.controlplane.random_queues import Comes, Ends, Leaves, Scenario, Step

MANAGER: Final = "quotas"
SECONDS: Final = 12.0
"""How long the two may differ after a step: Kueue lets those who wait try again once a second."""
BATCH: Final = 2.2
WORDS_SECONDS: Final = 3.0
"""How long what those who wait are told may differ before it is counted."""
STILL: Final = 6
MOST_CYCLES: Final = 80
MOST_RELEASES: Final = 8
"""After one step: two who drive each other out again and again, in both, end their scenario."""
Told = Mapping[str, Any]
_Condition = tuple[str, str, str, str]


@dataclass(slots=True)
class Agreed:
    """What came of a scenario. ``difference`` is empty, or the step after which the two were not the same."""

    scenario: str
    rests: int = 0
    admitted: int = 0
    evicted: int = 0
    waited: int = 0
    in_part: int = 0
    in_any_order: int = 0
    otherwise: list[str] = field(default_factory=list)
    difference: str = ""


def told_of(workload: Workload) -> Told:
    """What there is to compare of a workload: how it stands, and what it is told."""
    if workload.finished:
        return {"finished": True}
    evicted, preempted = workload.evicted, workload.preempted
    told: dict[str, Any] = {
        "evicted": (evicted.reason, evicted.message) if evicted else None,
        "preempted": (preempted.reason, preempted.message) if evicted and preempted else None,
    }
    if workload.reserved and workload.admission is not None:
        given = workload.admission.pod_sets
        told["given"] = [(each.name, each.count, dict(each.flavors), dict(each.usage)) for each in given]
    else:
        told["waits"] = workload.waiting is not None
    return told


def words_of(workloads: Iterable[Workload]) -> dict[str, str]:
    """What those who wait are told."""
    waiting = ((each, each.waiting) for each in workloads if not each.reserved and not each.finished)
    return {each.name: told.message for each, told in waiting if told is not None}


def phrases(message: str) -> set[str]:
    """The parts of what somebody is told."""
    return set(re.split(r"; |, |: |\. ", message))


class Model:
    """The model's side."""

    def __init__(self, state: State, settings: Settings) -> None:
        self.state = state
        self.memory = Memory(settings)
        self.words: dict[str, set[str]] = {}

    def put(self, key: str, workload: Workload | None) -> None:
        """A workload comes, changes or goes."""
        self.state = self.state.with_workloads({key: workload})

    def change(self, key: str, change: Callable[[Workload], Workload]) -> None:
        """A workload is another one."""
        self.put(key, change(self.state.workloads[key]))

    def rest(self) -> None:
        """Cycle after cycle until nobody stands otherwise any more.

        A strict queue's head is tried for ever, perhaps with other flavors each time: ``words`` has all that
        those who wait are told meanwhile.
        """
        still = 0
        for _ in range(MOST_CYCLES):
            before = self._standing()
            now = float(int(time.time()))
            decisions, self.memory = decide(self.state, self.memory, now)
            self.state = applied(self.state, decisions, now)
            self.memory = caught_up(self.memory, self.state, now)
            is_still = self._standing() == before
            still = still + 1 if is_still else 0
            said = words_of(self.state.workloads.values())
            known = self.words if is_still else {}
            self.words = {name: {*known.get(name, ()), message} for name, message in said.items()}
            if still == STILL:
                return
        raise AssertionError("the model does not come to rest")

    def wake(self) -> None:
        """Let all who wait try once more: Kueue does so up to a second after there is room, when some of it
        may have been given away again.
        """
        lines = {
            name: wake(line, lambda _namespace: True, lambda _info: True)
            for name, line in self.memory.lines.items()
        }
        self.memory = replace(self.memory, lines=lines)

    def _standing(self) -> Told:
        return {each.name: told_of(each) for each in self.state.workloads.values()}

    def told(self) -> Told:
        """Everything there is to compare."""
        tree, usage = self.memory.tree, self.memory.usage
        assert tree is not None
        assert usage is not None
        used = {
            f"{name}: {flavor}/{resource}": amount
            for name, node in tree.queues.items()
            for (flavor, resource), amount in usage.of(node).items()
            if amount
        }
        return {**self._standing(), "used": used}


class Real:
    """Kueue's side: the server, and what the controllers of jobs would do."""

    def __init__(self, client: Client, scenario: Scenario) -> None:
        self.client = client
        self.namespace = scenario.name
        self.queues = [each["metadata"]["name"] for each in scenario.lines]

    def told(self) -> Told:
        """Everything there is to compare."""
        told: dict[str, Any] = {each.name: told_of(each) for each in self.workloads()}
        return {**told, "used": self._used()}

    def workloads(self) -> list[Workload]:
        """Those there are."""
        return [read_workload(each) for each in self.client.listed(WORKLOAD, self.namespace)]

    def _used(self) -> dict[str, int]:
        used = {}
        for name in self.queues:
            queue = self.client.get(CLUSTER_QUEUE, name)
            assert queue is not None
            for flavor in queue.get("status", {}).get("flavorsReservation") or ():
                for each in flavor["resources"]:
                    amount = read_quota(each["name"], str(each["total"]))
                    if amount:
                        used[f"{name}: {flavor['name']}/{each['name']}"] = amount
        return used

    def finish(self, name: str) -> None:
        """A workload is done."""
        self._tell(name, {}, ("Finished", "True", "Succeeded", "Job finished successfully"))

    def release(self, name: str, message: str) -> None:
        """The pods of an evicted workload have stopped."""
        self._tell(
            name,
            {"admission": None},
            ("QuotaReserved", "False", "Pending", message),
            ("Admitted", "False", "NoReservation", "The workload has no reservation"),
        )

    def _tell(self, name: str, status: Mapping[str, Any], *told: _Condition) -> None:
        until(lambda: self._told(name, status, told), f"{name} to be told", seconds=SECONDS)

    def _told(
        self, name: str, status: Mapping[str, Any], told: tuple[tuple[str, str, str, str], ...]
    ) -> bool:
        found = self.client.get(WORKLOAD, name, self.namespace)
        assert found is not None
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        conditions = {each["type"]: each for each in found.get("status", {}).get("conditions") or ()}
        for kind, value, reason, message in told:
            conditions[kind] = {
                "type": kind,
                "status": value,
                "reason": reason,
                "message": message,
                "lastTransitionTime": now,
                "observedGeneration": found["metadata"]["generation"],
            }
        change = {
            "metadata": {"resourceVersion": found["metadata"]["resourceVersion"]},
            "status": {**status, "conditions": list(conditions.values())},
        }
        try:
            self.client.patch(WORKLOAD, name, self.namespace, change, manager=MANAGER, subresource="status")
        except ApiError as error:
            if error.status == 409:
                return False
            raise
        return True


@dataclass(slots=True)
class Both:
    """Both sides of a scenario. ``gates`` are what the manager decides with."""

    client: Client
    scenario: Scenario
    settings: Settings
    real: Real = field(init=False)
    model: Model = field(init=False)
    agreed: Agreed = field(init=False)
    known: set[tuple[str, frozenset[str], str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.real = Real(self.client, self.scenario)
        self.agreed = Agreed(self.scenario.name)

    def compare(self) -> Agreed:
        """Take every step, until the two are not the same."""
        self._publish()
        try:
            for number, step in enumerate(self.scenario.steps):
                if not self._took(number, step):
                    break
            else:
                time.sleep(2 * BATCH)
                self._same("at the end", 0)
        finally:
            self._withdraw()
        return self.agreed

    def _publish(self) -> None:
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.scenario.name}}
        for each in (space, *self.scenario.shared, *self.scenario.lines):
            self.client.create(each, manager=MANAGER)
        until(self._is_active, f"the queues of {self.scenario.name}", seconds=60)
        time.sleep(2 * BATCH)
        shared = [self._read(each) for each in self.scenario.shared]
        of = {
            kind: [each for each in shared if kind_of(each) == kind]
            for kind in (CLUSTER_QUEUE, COHORT, FLAVOR)
        }
        lines = [read_local_queue(self._read(each)) for each in self.scenario.lines]
        self.model = Model(
            State(
                cluster_queues={q.name: q for q in map(read_cluster_queue, of[CLUSTER_QUEUE])},
                cohorts={c.name: c for c in map(read_cohort, of[COHORT])},
                flavors={f.name: f for f in map(read_flavor, of[FLAVOR])},
                local_queues={each.key: each for each in lines},
                namespaces={self.scenario.name: {}},
                workloads=Shelf(),
            ),
            self.settings,
        )

    def _read(self, value: Object) -> Object:
        metadata = value["metadata"]
        found = self.client.get(kind_of(value), metadata["name"], metadata.get("namespace"))
        assert found is not None
        return found

    def _is_active(self) -> bool:
        asked = [each for each in self.scenario.shared if kind_of(each) == CLUSTER_QUEUE]
        for each in map(self._read, (*asked, *self.scenario.lines)):
            told = {one["type"]: one["status"] for one in each.get("status", {}).get("conditions") or ()}
            if told.get("Active") != "True":
                return False
        return True

    def _withdraw(self) -> None:
        for each in self.real.workloads():
            self.client.delete(WORKLOAD, each.name, each.namespace)
        for each in reversed((*self.scenario.shared, *self.scenario.lines)):
            metadata = each["metadata"]
            self.client.delete(kind_of(each), metadata["name"], metadata.get("namespace"))
        self.client.delete(NAMESPACE, self.scenario.name)

    def _took(self, number: int, step: Step) -> bool:
        """Take a step, and give back what those who are evicted hold; whether both agree all along."""
        self._take(step)
        word = f"step {number}, {type(step).__name__.lower()}"
        if not self._same(word, 0.0 if isinstance(step, Comes) else BATCH):
            return False
        for _ in range(MOST_RELEASES):
            if not (due := self._due()):
                return True
            key = f"{self.scenario.name}/{due[0]}"
            evicted = self.model.state.workloads[key].evicted
            self.real.release(due[0], evicted.message if evicted else "")
            self.model.change(key, released)
            self.agreed.evicted += 1
            if not self._same(f"{word}, {due[0]} has stopped", BATCH):
                return False
        return not self._due()

    def _due(self) -> list[str]:
        """Those who are evicted and still hold what they had."""
        everyone = self.model.state.workloads.values()
        return sorted(each.name for each in everyone if each.evicted and each.reserved and not each.finished)

    def _take(self, step: Step) -> None:
        match step:
            case Comes(workload):
                made = self.client.create(workload, manager=MANAGER)
                read = read_workload(made)
                self.model.put(read.key, read)
            case Ends(part):
                holds = [each for each in self.model.state.workloads.values() if each.reserved]
                if found := _one_of(part, [each for each in holds if not each.finished]):
                    self.real.finish(found.name)
                    self.model.change(found.key, lambda workload: replace(workload, finished=True))
            case Leaves(part):
                waits = [each for each in self.model.state.workloads.values() if not each.reserved]
                if found := _one_of(part, [each for each in waits if not each.finished]):
                    self.client.delete(WORKLOAD, found.name, found.namespace)
                    self.model.put(found.key, None)

    def _same(self, word: str, first: float) -> bool:
        """Whether both come to the same; the model's times become the server's."""
        before = {each.key for each in self.model.state.workloads.values() if each.reserved}
        self.model.rest()
        if first:
            self.model.wake()
            self.model.rest()
        ours = self.model.told()
        ends = time.monotonic() + first + SECONDS
        time.sleep(first)
        while (theirs := self.real.told()) != ours:
            if time.monotonic() > ends:
                self.agreed.difference = f"{self.scenario.name}, {word}: {_differ(ours, theirs)}"
                return False
            time.sleep(0.1)
        self.agreed.rests += 1
        now = self.model.state.workloads.values()
        self.agreed.admitted += sum(each.reserved and each.key not in before for each in now)
        self._compare_words(word)
        self._set_clocks()
        return True

    def _compare_words(self, word: str) -> None:
        """Count how far those who wait are told the same; what is known to be different is not told again."""
        ends = time.monotonic() + WORDS_SECONDS
        while pairs := self._unlike():
            if time.monotonic() > ends:
                break
            time.sleep(0.1)
        self.agreed.waited += len(self.model.words)
        for pair in pairs:
            self.known.add(pair)
            name, ours, theirs = pair
            if any(phrases(theirs) < phrases(each) for each in ours):
                self.agreed.in_part += 1
            elif self._asks_several(name):
                self.agreed.in_any_order += 1
            else:
                said = f"{self.scenario.name}, {word}, {name}: Kueue {theirs!r}, the model {sorted(ours)}"
                self.agreed.otherwise.append(said)

    def _unlike(self) -> list[tuple[str, frozenset[str], str]]:
        theirs = words_of(self.real.workloads())
        pairs = [(name, frozenset(said), theirs.get(name, "")) for name, said in self.model.words.items()]
        return [pair for pair in pairs if pair[2] not in pair[1] and pair not in self.known]

    def _asks_several(self, name: str) -> bool:
        workload = self.model.state.workloads[f"{self.scenario.name}/{name}"]
        return len({resource for each in workload.pod_sets for resource in each.requests}) > 1

    def _set_clocks(self) -> None:
        for real in self.real.workloads():
            mine = self.model.state.workloads.get(real.key)
            if mine is not None and mine.reserved and mine.reserved_at != real.reserved_at:
                self.model.put(real.key, replace(mine, reserved_at=real.reserved_at))
            mine = self.model.state.workloads.get(real.key)
            if mine is not None and mine.evicted and real.evicted:
                self.model.put(real.key, replace(mine, evicted=replace(mine.evicted, at=real.evicted.at)))


def _one_of(part: float, found: list[Workload]) -> Workload | None:
    ordered = sorted(found, key=lambda each: each.name)
    return ordered[int(part * len(ordered))] if ordered else None


def _differ(ours: Told, theirs: Told) -> str:
    names = sorted(set(ours) | set(theirs))
    parts = [
        f"{name}: Kueue {theirs.get(name)}, the model {ours.get(name)}"
        for name in names
        if ours.get(name) != theirs.get(name)
    ]
    return "; ".join(parts)
