"""A work as pod groups, as KAI's pod-grouper makes them, and the pods that it has at the moment.

A Job is one group of which one pod is enough, unless ``batch-min-member`` says more; each pod of a Deployment
is a group of its own. Pods that have succeeded still count as members, as far as that matters: a job that
lost others to success may be cut below its least number, and never is stale. Of pods that wait only as many
are listed as could get a place beside those that have one; the others are a number until then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

from allotment.scheduling.state.pod_groups import GroupPod, PodGroup, PodStatus, flat
from allotment.simulation.adapters.adapter import PodId
from allotment.simulation.adapters.kai_ground import Asked
from allotment.simulation.work import Kind, Work


def pod_name(pod: PodId) -> str:
    """How a pod is called in the model."""
    return f"{pod.work}-{pod.number}-{pod.attempt}"


@dataclass(slots=True)
class Job:
    """A work and its pods. ``minimum`` start together; ``firm`` ones are taken from by nobody.

    At most ``most`` of its pods could ever have a place at once; None where that is not looked at, and all
    are listed. ``line`` has those that are not, in the order in which they would come, and some that are gone
    or listed by now.
    """

    work: Work
    namespace: str
    queue: str
    asked: Asked
    created: float
    minimum: int
    firm: bool
    pods: dict[PodId, GroupPod] = field(default_factory=dict)
    succeeded: int = 0
    changed: bool = True
    gone: list[str] = field(default_factory=list)
    stirred: set[PodId] = field(default_factory=set)
    most: int | None = None
    line: list[tuple[float, str, PodId]] = field(default_factory=list)
    unlisted: dict[PodId, float] = field(default_factory=dict)
    waiting: set[PodId] = field(default_factory=set)
    leaving: set[PodId] = field(default_factory=set)
    last: tuple[float, str] = (float("-inf"), "")

    @property
    def key(self) -> str:
        """The key of its group."""
        return f"{self.namespace}/{self.work.name}"

    @property
    def apart(self) -> bool:
        """Whether each pod is a group of its own."""
        return self.work.kind is Kind.FLEET

    def key_of(self, pod: PodId) -> str:
        """The key of the group that a pod is in."""
        return f"{self.namespace}/{pod_name(pod)}" if self.apart else self.key

    def add(self, pod: PodId, now: float, claims: tuple[str, ...]) -> None:
        """The pod exists, and waits."""
        if self.most is None:
            self._list(pod, self._pod(pod_name(pod), now, claims))
            return
        heappush(self.line, (now, pod_name(pod), pod))
        self.unlisted[pod] = now
        self.changed = True

    def _pod(self, name: str, created: float, claims: tuple[str, ...] = ()) -> GroupPod:
        ask = self.work.ask
        return GroupPod(
            name,
            request=self.asked.request,
            claims=claims,
            node_selector=self.asked.node_selector,
            affinity=ask.affinity,
            tolerations=ask.tolerations,
            created=created,
        )

    def _list(self, pod: PodId, made: GroupPod) -> None:
        self.pods[pod] = made
        self.waiting.add(pod)
        self._stir(pod)

    def lists(self) -> None:
        """List as many of those that wait as could get a place: the first of them, and one more.

        Also a place of a pod that leaves can be promised.
        """
        if self.most is None:
            return
        staying = len(self.pods) - len(self.waiting) - len(self.leaving)
        wanted = max(self.most - staying, self.minimum) + 1
        while self.line:
            created, name, pod = self.line[0]
            if pod in self.unlisted:
                if len(self.waiting) >= wanted and (created, name) > self.last:
                    return
                del self.unlisted[pod]
                self.last = max(self.last, (created, name))
                self._list(pod, self._pod(name, created))
            heappop(self.line)

    def set(self, pod: PodId, status: PodStatus, **more: object) -> None:
        """The pod has come so far."""
        if pod in self.unlisted:
            self._list(pod, self._pod(pod_name(pod), self.unlisted.pop(pod)))
        self.pods[pod] = replace(self.pods[pod], status=status, **more)  # type: ignore[arg-type]  # its fields
        self.waiting.discard(pod)
        if status is PodStatus.RELEASING:
            self.leaving.add(pod)
        self._stir(pod)

    def _stir(self, pod: PodId) -> None:
        self.changed = True
        self.stirred.add(pod)

    def remove(self, pod: PodId, *, succeeded: bool) -> GroupPod | None:
        """The pod is gone."""
        if pod in self.unlisted:
            self.changed = True
            return self._pod(pod_name(pod), self.unlisted.pop(pod))
        self.waiting.discard(pod)
        self.leaving.discard(pod)
        known = self.pods.pop(pod, None)
        if known is not None:
            self.changed = True
            self.succeeded += succeeded
            if self.apart:
                self.gone.append(self.key_of(pod))
        return known

    def groups(self) -> Iterator[tuple[str, PodGroup | None]]:
        """Its groups as they are now, and those that are gone."""
        yield from ((key, None) for key in self.gone)
        if not self.apart:
            yield self.key, self._group(self.work.name, (*self.pods.values(), *self._done()), self.created)
            return
        for pod, known in self.pods.items():
            yield self._apart(pod, known)

    def changes(self) -> Iterator[tuple[str, PodGroup | None]]:
        """Those that are not as they were written down."""
        if not self.apart:
            yield from self.groups()
            return
        yield from ((key, None) for key in self.gone)
        yield from (self._apart(pod, known) for pod, known in self.pods.items() if pod in self.stirred)

    def _apart(self, pod: PodId, known: GroupPod) -> tuple[str, PodGroup]:
        return self.key_of(pod), self._group(pod_name(pod), (known,), known.created)

    def written(self) -> None:
        """Its groups are written down."""
        self.gone, self.changed = [], False
        self.stirred.clear()

    def _group(self, name: str, pods: tuple[GroupPod, ...], created: float) -> PodGroup:
        return PodGroup(
            name,
            self.queue,
            pods,
            flat(1 if self.apart else self.minimum, self.work.together),
            priority=self.work.priority,
            preemptible=not self.firm,
            created=created,
            namespace=self.namespace,
            more=len(self.unlisted),
            like=self._pod(f"{self.work.name}-more", self.created) if self.unlisted else None,
        )

    def _done(self) -> Iterator[GroupPod]:
        """As many of those that succeeded as can make a difference."""
        for number in range(min(self.succeeded, self.minimum)):
            yield GroupPod(f"{self.work.name}-done-{number}", PodStatus.SUCCEEDED, request=self.asked.request)
