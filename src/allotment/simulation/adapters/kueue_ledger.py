"""What Kueue has been told of the works: Jobs and Workloads, which pods they have, and where those are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from allotment.scheduling.kueue import Memory
from allotment.scheduling.kueue.applying import released
from allotment.scheduling.state.state import State
from allotment.scheduling.state.workloads import Workload
from allotment.simulation.adapters.adapter import MayRun, Order, PodId, Start
from allotment.simulation.adapters.controlling import Controller
from allotment.simulation.adapters.kueue_jobs import Job, admitted, resized, with_done
from allotment.simulation.adapters.quotas import Quotas
from allotment.simulation.adapters.room import Room
from allotment.simulation.adapters.widths import open_indexes
from allotment.simulation.setting import Setting
from allotment.simulation.work import Kind, Work


class Ledger:
    """The state that Kueue's model decides on, and what the Jobs of it are to the loop."""

    def __init__(self, setting: Setting, works: Sequence[Work]) -> None:
        self.setting, self.pace = setting, setting.pace
        self.state: State = setting.state
        self.memory = Memory(setting.kueue)
        self.room = Room(setting.state, works)
        self.works: dict[str, Work] = {}
        self.jobs: dict[str, Job] = {}
        self.owners: dict[str, str] = {}
        self.pods: dict[PodId, str] = {}
        self.gated: set[PodId] = set()
        self.held: dict[PodId, tuple[str, tuple[str, ...]]] = {}
        self.shapes: dict[object, str] = {}
        self.untold: dict[str, None] = {}
        self.releasing: dict[str, float] = {}
        self.moved: dict[str, float] = {}
        self.movable = 0
        self.orders: list[Order] = []
        self.dirty = False
        self.controller = None if setting.window is None else Controller(self, setting.window)

    def job_of(self, work: Work) -> Job:
        """The Job of a work that has one."""
        return self.jobs[self.key_of(work)]

    def key_of(self, work: Work, name: str | None = None) -> str:
        """The namespace and name of a work's Job, or of a pod of it."""
        return f"{self.setting.teams[work.team].namespace}/{name or work.name}"

    def pod_key(self, pod: PodId) -> str:
        """The same of a pod that has a Workload of its own."""
        return self.key_of(self.works[pod.work], f"{pod.work}-{pod.number}-{pod.attempt}")

    def make(self, work: Work, key: str, width: int, now: float, since: float | None = None) -> Job:
        """A Job is made, with a Workload that asks for its width, as it does ``since`` it was there."""
        queue = self.setting.teams[work.team].local_queue
        left = open_indexes(work) if work.kind is Kind.CAMPAIGN else width
        job = Job(work, key, queue, self._shape(work), now, width, left, stepped=now)
        self.jobs[key] = job
        self.movable += job.may_move
        name, job.serial = key.rpartition("/")[2], 1
        job.asked = self.put(job, job.workload(name, width, now if since is None else since))
        self.untold[key] = None
        return job

    def _shape(self, work: Work) -> str:
        """Equal for pods that cannot be told apart; a campaign that may grow has a template of its own."""
        if work.kind is Kind.CAMPAIGN and work.most > 1:
            return work.name
        ask = work.ask
        specs = tuple((claim.spec, claim.shared) for claim in ask.claims)
        selector = tuple(sorted(ask.node_selector.items()))
        key = (specs, ask.request, selector, ask.affinity, ask.tolerations)
        return self.shapes.setdefault(key, f"shape-{len(self.shapes) + 1}")

    def stands(self, job: Job, starts: Sequence[Start], now: float) -> None:
        """Pods of a Job run already, so it has had quota for them."""
        count = len(starts) if job.work.kind is Kind.CAMPAIGN else job.width
        workload = resized(self.state.workloads[job.asked or ""], max(count, 1))
        queue = self.queue_of(job)
        flavors = self._flavors_at(queue, job.work, starts[0].node)
        self.put(job, admitted(workload, queue, flavors, now))
        job.granted, job.asked, job.width, job.admitted = job.asked, None, count, count
        self.untold.pop(job.key, None)
        for start in starts:
            self.pods[start.pod] = job.key
            self.starts(start, now)
        if job.work.kind is not Kind.FLEET:
            self.orders.append(MayRun(job.work.name, count, reason="Admitted"))

    def _flavors_at(self, queue: str, work: Work, node: str) -> dict[str, str]:
        """The flavors of the node that a queue charges; none where the queue is not there any more."""
        labels = self.state.nodes[node].labels if node in self.state.nodes else {}
        found: dict[str, str] = {}
        known = self.state.cluster_queues.get(queue)
        for group in () if known is None else known.groups:
            fitting = [name for name in group.flavors if _suits(self.state, name, labels)]
            flavor = (fitting or group.flavors)[0]
            found |= dict.fromkeys((name for name in group.resources if name in work.ask.charges), flavor)
        return found

    def put(self, job: Job, workload: Workload) -> str:
        """A Workload of a Job is so now; its key."""
        self.state = self.state.with_workloads({workload.key: workload})
        self.owners[workload.key] = job.key
        self.changed()
        return workload.key

    def changed(self) -> None:
        """Something is to be looked at."""
        self.dirty = True
        if self.controller is not None:
            self.controller.hears()

    def starts(self, start: Start, now: float) -> None:
        """A pod has a node."""
        job = self.jobs[self.pods[start.pod]]
        job.pods[start.pod] = now
        self.held[start.pod] = start.node, start.devices
        self.room.take(job.work, start.node, start.devices)

    def forget(self, job: Job) -> None:
        """A Job is deleted."""
        self.state = self.state.with_workloads({key: None for key in (job.granted, job.asked) if key})
        for key in (job.granted, job.asked):
            self.owners.pop(key or "", None)
        if self.jobs.pop(job.key, None) is not None:
            self.movable -= job.may_move
        self.untold.pop(job.key, None)
        self.releasing.pop(job.key, None)
        self.changed()

    def release(self, job: Job) -> None:
        """Quota of an evicted Job is free."""
        self.moved[self.queue_of(job)] = self.releasing.pop(job.key)
        if job.granted is None:
            return
        job.asked, job.granted, job.evicted, job.admitted = job.granted, None, None, 0
        workload = released(self.state.workloads[job.asked])
        spare = with_done(workload, job.left) if job.work.kind is Kind.CAMPAIGN else workload
        self.put(job, spare)

    def too_large(self, job: Job, *, refused: bool) -> bool:
        """Whether it would get nothing with all quota free; who may be lowered needs room for a pod."""
        quotas = Quotas.of(self.memory)
        queue = self.queue_of(job)
        if quotas is None or queue not in quotas.tree.queues:
            return refused
        possible = quotas.most(queue, quotas.best(queue, job.work.ask.charges, empty=True))
        if self.controller is not None and job.elastic:
            return possible < 1 or (refused and possible >= job.width)
        needed = min(job.work.least, job.width) if job.work.kind is Kind.GANG else job.width
        return refused or possible < needed

    def queue_of(self, job: Job) -> str:
        """The ClusterQueue of a Job; empty if its LocalQueue is not there."""
        line = self.state.local_queues.get(f"{job.key.rpartition('/')[0]}/{job.queue}")
        return "" if line is None else line.cluster_queue

    def take_back(self, job: Job, now: float) -> None:
        """A growth that was not granted is not asked for any more, for a while."""
        pace = self.setting.window
        if job.asked is not None:
            self.state = self.state.with_workloads({job.asked: None})
            self.owners.pop(job.asked, None)
        job.asked, job.width, job.stepped = None, job.admitted, now
        job.refused += 1
        if pace is not None:
            job.paused = now + min(pace.longest_pause, pace.pause * 2.0 ** min(job.refused - 1, 10))
        self.changed()


def _suits(state: State, flavor: str, labels: Mapping[str, str]) -> bool:
    known = state.flavors.get(flavor)
    return known is not None and all(labels.get(key) == value for key, value in known.labels.items())
