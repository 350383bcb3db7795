"""What becomes of campaigns on a plane, taken down from two sides.

Pods say themselves when they begin, end and leave; and the cluster is looked at a few times a second for
where they are, on which devices, whom Kueue takes quota from, and when Jobs are there and have ended.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from allotment.errors import AllotmentError
from allotment.kubernetes.client import Client
from allotment.kubernetes.kinds import CLAIM, JOB, POD, WORKLOAD, Object
from tests.controlplane.small_campaigns import MINE, OTHERS
from tests.controlplane.team import ending

TEAMS: Final = (MINE, OTHERS)
LOOK: Final = 0.15
_JOB: Final = re.compile(r"JobUID: ([^)]+)\)")


@dataclass(slots=True)
class Ran:
    """One pod that ran. Times are of the clock; ``left`` is when it went because it was told to."""

    name: str
    job: str
    index: int
    attempt: int = 0
    node: str = ""
    devices: tuple[str, ...] = ()
    begun: float = 0.0
    ended: float = 0.0
    left: bool = False


@dataclass(slots=True)
class Seen:
    """What was seen of the cluster."""

    jobs: dict[str, float] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)
    devices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    evicted: dict[tuple[str, str], str] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    ended: dict[str, float] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Happened:
    """What became of it: every run in the order of their starts, and when Jobs ``ended``, since the plan.

    ``overlooked`` are those whose pods Kueue overlooked, who ran only after their Job had been touched.
    """

    runs: tuple[Ran, ...]
    evicted: tuple[tuple[str, str], ...]
    overlooked: frozenset[str]
    ended: Mapping[str, float]


class Watch:
    """A look at the cluster a few times a second, from ``start`` to ``stop``."""

    def __init__(self, client: Client, *, with_kueue: bool) -> None:
        self.seen = Seen()
        self._client, self._with_kueue = client, with_kueue
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._work, name="watching", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> Seen:
        """End; what was seen."""
        self._is_over.set()
        self._thread.join()
        return self.seen

    def _work(self) -> None:
        while not self._is_over.wait(LOOK):
            try:
                for team in TEAMS:
                    self._look(team)
            except (AllotmentError, OSError):
                continue

    def _look(self, team: str) -> None:
        seen, now = self.seen, time.time()
        for job in self._client.listed(JOB, team):
            seen.jobs.setdefault(job["metadata"]["name"], now)
            seen.names[job["metadata"]["uid"]] = job["metadata"]["name"]
            if "allotment/touched" in (job["metadata"].get("annotations") or {}):
                seen.touched.add(job["metadata"]["name"])
            if ending(job):
                seen.ended.setdefault(job["metadata"]["name"], now)
        for pod in self._client.listed(POD, team):
            node = pod["spec"].get("nodeName")
            if node:
                seen.nodes[pod["metadata"]["name"]] = node
        for claim in self._client.listed(CLAIM, team):
            devices = tuple(_devices(claim))
            for owner in claim["metadata"].get("ownerReferences") or ():
                if devices:
                    seen.devices[owner["name"]] = devices
        if self._with_kueue:
            for workload in self._client.listed(WORKLOAD, team):
                self._evictions(workload)

    def _evictions(self, workload: Object) -> None:
        told = workload.get("status", {}).get("conditions") or ()
        owner = str(workload["metadata"]["ownerReferences"][0]["name"])
        for each in told:
            if each["type"] == "Evicted" and each["status"] == "True":
                self.seen.evicted[owner, each["lastTransitionTime"]] = f"{each['reason']}: {each['message']}"


def happened(log: Path, seen: Seen, since: float) -> Happened:
    """What pods said of themselves, with what was seen of them."""
    runs: dict[str, Ran] = {}
    attempts: dict[tuple[str, int], int] = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        at, word, pod = line.split()
        job, index = pod.rsplit("-", 2)[0], int(pod.rsplit("-", 2)[1])
        if word == "begins":
            attempt = attempts.get((job, index), 0)
            attempts[job, index] = attempt + 1
            node, devices = seen.nodes.get(pod, ""), seen.devices.get(pod, ())
            runs[pod] = Ran(pod, job, index, attempt, node, devices, float(at) - since)
        else:
            runs[pod].ended = float(at) - since
            runs[pod].left = word == "leaves"
    evicted = tuple((job, _preemptor(words, seen.names)) for (job, _), words in seen.evicted.items())
    ended = {job: at - since for job, at in seen.ended.items()}
    return Happened(tuple(runs.values()), evicted, frozenset(seen.touched), ended)


def _preemptor(words: str, names: Mapping[str, str]) -> str:
    """The Job for which somebody is evicted, by Kueue's words."""
    found = _JOB.search(words)
    return names.get(found[1], found[1]) if found else words


def _devices(claim: Object) -> Iterator[str]:
    allocation = claim.get("status", {}).get("allocation") or {}
    for each in allocation.get("devices", {}).get("results") or ():
        yield f"{each['driver']}/{each['pool']}/{each['device']}"
