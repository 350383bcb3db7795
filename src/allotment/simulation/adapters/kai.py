"""KAI over work on virtual time: its model decides, a round every period in which anything may come of it.

The rounds are those of ``scheduling.kai.decide``. None is run while nothing waits, or after one that only
placed pods until something else happens: such a round has looked at everybody who waits, and what it placed
has left less. A round that evicted is followed by another one. Pods that are to follow others on a node get
it once those are gone; pods that are evicted are deleted, and their Job makes new ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from allotment.scheduling.both import unlimited
from allotment.scheduling.kai import Bound, Evicted, Memory, Reason, Ties, decide
from allotment.scheduling.kai import Waits as KaiWaits
from allotment.scheduling.state.pod_groups import PodStatus
from allotment.scheduling.state.shelf import Shelf
from allotment.scheduling.state.state import State
from allotment.simulation.adapters.adapter import Order, PodId, Start, Stop, Waits
from allotment.simulation.adapters.kai_ground import Asked, KaiGround, least_runtimes, most_placed
from allotment.simulation.adapters.kai_holdings import Holdings
from allotment.simulation.adapters.kai_jobs import Job, pod_name
from allotment.simulation.adapters.widths import open_indexes, width_of
from allotment.simulation.machines import emptied, is_held
from allotment.simulation.setting import Setting
from allotment.simulation.work import Kind, Work

LOWERED: Final = (
    "KAI holds a Job to `batch-min-member`: here it is lowered to the volumes that are left, as somebody has "
    "to do by hand"
)


def adapter(setting: Setting, works: Sequence[Work] = ()) -> KaiAdapter:
    """The adapter for a setting."""
    return KaiAdapter(setting, works)


class KaiAdapter:
    """KAI's model. ``placing``: somebody else admits, so that it takes from nobody and only places."""

    heeds_ready = False

    def __init__(self, setting: Setting, works: Sequence[Work] = (), *, placing: bool = False) -> None:
        self.setting, self.placing = setting, placing
        self.ground = KaiGround(setting.state, works)
        state = self.ground.state
        self.state: State = replace(state, share_queues=unlimited(state.share_queues)) if placing else state
        self.memory = Memory(setting.kai)
        self.ties = Ties.FIRST_USED
        self.period = max(setting.pace.kai_period, setting.pace.coarse)
        self.jobs: dict[str, Job] = {}
        self.names: dict[str, PodId] = {}
        self.owners: dict[str, str] = {}
        self.holdings = Holdings(self.state.claims, self.ground.shelves)
        self.waiting: set[PodId] = set()
        self.lately: list[tuple[float, str, Job]] = []
        self.leaving: set[PodId] = set()
        self.gangs: set[str] = set()
        self.told: dict[str, tuple[str, str]] = {}
        self.hopeless: dict[str, bool] = {}
        self.said: dict[str, None] = dict.fromkeys(self.ground.matching.notes)
        self.runtimes = least_runtimes(setting.kai, self.state.share_queues)
        self.dirty, self.last = False, float("-inf")
        self.counted = 0

    def arrived(self, work: Work, now: float) -> int:
        """The Job is made, with all of its width."""
        team = self.setting.teams[work.team]
        width = width_of(work, open_indexes(work))
        alone = work.kind is Kind.FLEET or (self.placing and work.kind is Kind.CAMPAIGN)
        least = 1 if alone else max(1, min(work.least, width))
        asked, queue = self.ground.asked(work), team.share_queue
        job = Job(
            work=work,
            namespace=team.namespace,
            queue=queue,
            asked=asked,
            created=min(now, work.arrival),
            minimum=least,
            firm=self.placing or not work.preemptible,
            most=None if work.kind is Kind.FLEET else self._most(asked, queue),
        )
        self.jobs[work.name] = job
        if least > 1:
            self.gangs.add(work.name)
        return width

    def _most(self, asked: Asked, queue: str) -> int | None:
        """How many pods like this could ever have a place, if that bounds what KAI looks at."""
        return most_placed(asked, queue, self.ground.nodes, self.state.share_queues)

    def placed(self, starts: Sequence[Start], now: float) -> None:
        """Pods that run already."""
        for start in starts:
            self._create(start.pod, now)
            self._run(start.pod, start.node, start.devices)
            self.holdings.found(start, self.jobs[start.pod.work].asked.devices)
        self.dirty = True

    def created(self, pods: Sequence[PodId], now: float) -> None:
        """Pods that wait."""
        for pod in pods:
            self._create(pod, now)
            self.waiting.add(pod)
        self.dirty = self.dirty or bool(pods)

    def _create(self, pod: PodId, now: float) -> None:
        job = self.jobs[pod.work]
        job.add(pod, now, self.holdings.make(pod, job.asked, job.queue))
        self.names[pod_name(pod)] = pod
        self.owners[job.key_of(pod)] = pod.work

    def ready(self, pods: Iterable[PodId], now: float) -> None:
        """KAI does not look at that."""

    def ended(self, pods: Iterable[PodId], now: float) -> None:
        """Pods are gone."""
        for pod in pods:
            self._end(pod, now)

    def _end(self, pod: PodId, now: float) -> None:
        """A pod is gone: by itself, it counts as a success, unless its gang goes on without it."""
        job = self.jobs.get(pod.work)
        if job is None:
            return
        by_itself = pod not in self.waiting and pod not in self.leaving
        known = job.remove(pod, succeeded=by_itself and job.work.kind is not Kind.GANG)
        if known is None:
            return
        if by_itself and known.node is not None and job.work.kind is Kind.CAMPAIGN:
            self.lately = [each for each in self.lately if each[0] == now]
            self.lately.append((now, known.node, job))
        self.names.pop(known.id, None)
        if job.apart:
            self.owners.pop(job.key_of(pod), None)
        self.waiting.discard(pod)
        self.leaving.discard(pod)
        self.holdings.give_back(pod, known.node or "", known.claims)
        self.dirty = True

    def left(self, work: str, units: int, now: float) -> int:
        """So few units are left."""
        job = self.jobs[work]
        width = width_of(job.work, units)
        if job.work.kind is Kind.CAMPAIGN and 0 < width < job.minimum:
            job.minimum, job.changed, self.dirty = width, True, True
            self.said[LOWERED] = None
        return width

    def finished(self, work: str, now: float) -> None:
        """The Job is over, and deleted."""
        job = self.jobs[work]
        for pod in [*job.pods, *job.unlisted]:
            self._end(pod, now)
        keys = [*job.gone, job.key]
        self.state = self.state.with_pod_groups({key: None for key in keys if key in self.state.pod_groups})
        for key in keys:
            self.owners.pop(key, None)
        self.gangs.discard(work)
        self.told.pop(work, None)
        del self.jobs[work]

    def node(self, name: str, now: float, *, up: bool) -> None:
        """A node is lost, or back."""
        nodes = dict(self.state.nodes)
        if up:
            nodes = {
                each: self.ground.nodes[each] for each in self.ground.nodes if each in nodes or each == name
            }
        else:
            nodes.pop(name, None)
            for at, node, job in self.lately:
                job.succeeded -= at == now and node == name
        self.state = replace(self.state, nodes=nodes)
        self.hopeless.clear()
        self.dirty = True

    def due(self, now: float) -> float | None:
        """A period after the last round, if there is anything to look at."""
        if self.dirty and (self.waiting or self.gangs):
            return max(now, self.last + self.period)
        timer = self._timer(now) if self.waiting or self.gangs else None
        return None if timer is None else max(timer, self.last + self.period)

    def _timer(self, now: float) -> float | None:
        """When a minimum runtime or a grace period is over next."""
        times = [since + self.setting.kai.grace for since in self.memory.stale.values() if since is not None]
        if self.waiting:
            times += [since + least for since in self.memory.started.values() for least in self.runtimes]
        return min((each for each in times if each > self.last), default=None)

    def round(self, now: float) -> Sequence[Order]:
        """A round of the model."""
        self._write_down()
        decisions, self.memory = decide(self.state, self.memory, now, self.ties)
        self.last, self.counted = now, self.counted + 1
        orders: list[Order] = []
        self.dirty = False
        for each in decisions:
            if isinstance(each, Bound):
                orders.append(self._bound(each))
            elif isinstance(each, Evicted) and self._stands_on(each):
                orders.append(self._evicted(each))
                self.dirty = True
        return [*orders, *self._waits(decisions, now)]

    def _write_down(self) -> None:
        """Put what has changed into the state."""
        changed = [job for job in self.jobs.values() if job.changed]
        for job in changed:
            job.lists()
        groups = {key: group for job in changed for key, group in job.changes()}
        for job in changed:
            job.written()
        self.state = replace(self.state.with_pod_groups(groups), claims=self.holdings.claims)

    def _bound(self, bound: Bound) -> Start:
        pod = self.names[bound.pod]
        devices = tuple(key for keys in bound.claims.values() for key in keys)
        count = self.jobs[pod.work].asked.devices
        if count:
            devices = self.holdings.hand_out(pod, bound.node, count)
        self._run(pod, bound.node, devices, bound)
        return Start(pod, bound.node, devices, str(bound.action), bound.gpu_groups)

    def _run(self, pod: PodId, node: str, devices: tuple[str, ...], bound: Bound | None = None) -> None:
        job = self.jobs[pod.work]
        groups = bound.gpu_groups if bound is not None else ()
        job.set(pod, PodStatus.RUNNING, node=node, gpu_groups=groups)
        self.waiting.discard(pod)
        names = job.pods[pod].claims
        if bound is None:
            given = self.holdings.told(names, devices)
        else:
            given = {name: bound.claims.get(name, ()) for name in names}
        self.holdings.reserve(pod, node, given)

    def _stands_on(self, evicted: Evicted) -> bool:
        """Whether a pod is on a node, and not only promised one in this very round."""
        pod = self.names[evicted.pod]
        return self.jobs[pod.work].pods[pod].node is not None

    def _evicted(self, evicted: Evicted) -> Stop:
        pod = self.names[evicted.pod]
        self.jobs[pod.work].set(pod, PodStatus.RELEASING)
        self.leaving.add(pod)
        by = self.owners.get(evicted.by or "", "")
        return Stop(pod, by, str(evicted.action), evicted.message)

    def _waits(self, decisions: Iterable[object], now: float) -> list[Waits]:
        """What the works that wait are told, where it is something new."""
        told: dict[str, tuple[str, str]] = {}
        for each in decisions:
            if isinstance(each, KaiWaits):
                work = self.owners.get(each.group)
                if work is not None:
                    told.setdefault(work, (str(each.reason), each.message))
        fresh = [(work, *words) for work, words in told.items() if self.told.get(work) != words]
        self.told = told
        return [Waits(work, why, words, self._never(work, why, now)) for work, why, words in fresh]

    def _never(self, work: str, reason: str, now: float) -> bool:
        """Whether a work that has nothing would get nothing in an empty cluster either."""
        if reason in {Reason.DELAY}:
            return False
        job = self.jobs[work]
        if any(pod.node is not None for pod in job.pods.values()):
            return False
        if work not in self.hopeless:
            self.hopeless[work] = not self._would_start(job, now)
        return self.hopeless[work]

    def _would_start(self, job: Job, now: float) -> bool:
        """Whether its least would start with nobody else there, and all given back that others have."""
        if is_held(self.setting.state):
            return self._would_start_where_all_is_free(job, now)
        key, group = next((key, group) for key, group in job.groups() if group is not None)
        few = replace(group, pods=group.pods[: job.minimum], more=0, like=None)
        names = [name for pod in few.pods for name in pod.claims]
        known = self.holdings.claims
        claims = {name: replace(known[name], allocation=None, reserved_for=()) for name in names}
        alone = replace(self.state, pod_groups=Shelf({key: few}), claims=claims)
        decisions, _ = decide(alone, Memory(self.setting.kai), now, self.ties)
        return any(isinstance(each, Bound) for each in decisions)

    def _would_start_where_all_is_free(self, job: Job, now: float) -> bool:
        setting = replace(self.setting, state=emptied(self.setting.state))
        alone = KaiAdapter(setting, [job.work], placing=self.placing)
        alone.arrived(job.work, now)
        alone.created([PodId(job.work.name, number, 0) for number in range(job.minimum)], now)
        return any(isinstance(each, Start) for each in alone.round(now))

    def notes(self) -> Sequence[str]:
        """What counting by class cannot say, and what was done by hand."""
        return tuple(self.said)
