"""One Job (or Deployment) with everything that belongs to it: a part of a campaign, a gang, a fleet.

What is joined here is joined by owner and by uid, as the controllers do it; names are the second choice, for
objects whose owner was left out of a snapshot.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.pods import Phase, index_of, phase_of
from allotment.kubernetes.follow.ranges import indexes_of
from allotment.kubernetes.follow.seen import Seen
from allotment.kubernetes.kinds import (
    CLAIM_TEMPLATE,
    CONFIG_MAP,
    GANG_POD_GROUPS,
    KAI_POD_GROUP,
    POD,
    WORKLOAD,
    Object,
)
from allotment.kubernetes.kueue_jobs import ELASTIC, LEAST, QUEUE
from allotment.kubernetes.render.documents import VOLUMES_FILE
from allotment.kubernetes.render.names import PREFIX
from allotment.kubernetes.render.placing import KAI_QUEUE, MIN_MEMBER
from allotment.needs.ways.fraction import SCHEDULER as KAI

JOB_NAME: Final = "batch.kubernetes.io/job-name"
GROUP_OF_POD: Final = "pod-group-name"
FINISHED: Final = "Finished"
RESERVED: Final = "QuotaReserved"


@dataclass(frozen=True)
class Part:
    """An owner of pods and what belongs to it. ``kind`` is campaign, fleet or gang."""

    seen: Seen
    kind: str
    name: str
    owner: Object

    @property
    def namespace(self) -> str:
        """Where it is."""
        return fields.namespace(self.owner)

    @property
    def number(self) -> int:
        """Which part of the campaign it is."""
        return fields.number(self.owner, "metadata", "labels", f"{PREFIX}part") or 1

    @property
    def now(self) -> float:
        """The time of the snapshot."""
        return self.seen.now

    @cached_property
    def pods(self) -> tuple[Object, ...]:
        """Its pods."""
        if self.kind == "fleet":
            key = f"{PREFIX}fleet"
            return tuple(each for each in self._all_pods if fields.label(each, key) == self.name)
        owned = self.seen.owned(POD, fields.uid(self.owner))
        if owned:
            return owned
        name = fields.name(self.owner)
        named = (each for each in self._all_pods if name and fields.label(each, JOB_NAME) == name)
        return tuple(each for each in named if not fields.owners(each))

    @property
    def _all_pods(self) -> tuple[Object, ...]:
        return self.seen.of(POD, self.namespace)

    @cached_property
    def phases(self) -> Mapping[Phase, tuple[Object, ...]]:
        """Its pods by how far they are."""
        found: dict[Phase, list[Object]] = {}
        for pod in self.pods:
            found.setdefault(phase_of(pod, self.seen), []).append(pod)
        return {phase: tuple(pods) for phase, pods in found.items()}

    def in_phase(self, *phases: Phase) -> tuple[Object, ...]:
        """Its pods that are so far."""
        return tuple(pod for phase in phases for pod in self.phases.get(phase, ()))

    @property
    def is_job(self) -> bool:
        """Whether it is a Job and not a Deployment."""
        return self.kind != "fleet"

    @property
    def queue(self) -> str:
        """The LocalQueue that it names; empty without Kueue."""
        return fields.label(self.owner, QUEUE)

    @property
    def kai_queue(self) -> str:
        """The queue of KAI that it names."""
        return fields.label(self.owner, KAI_QUEUE)

    @property
    def by_kai(self) -> bool:
        """Whether KAI places its pods."""
        return fields.text(self.owner, "spec", "template", "spec", "schedulerName") == KAI

    @property
    def is_elastic(self) -> bool:
        """Whether Kueue moves its window by slices."""
        return fields.annotation(self.owner, ELASTIC) == "true"

    @property
    def is_suspended(self) -> bool:
        """Whether the Job is suspended."""
        return fields.is_true(self.owner, "spec", "suspend")

    @property
    def width(self) -> int:
        """How many pods are asked for at once."""
        key = "parallelism" if self.is_job else "replicas"
        found = fields.number(self.owner, "spec", key)
        return 1 if found is None else max(0, found)

    @property
    def total(self) -> int:
        """How many indexes it has, or copies."""
        found = fields.number(self.owner, "spec", "completions") if self.is_job else None
        return self.width if found is None else max(0, found)

    @property
    def together(self) -> int:
        """How many of its pods start together: of a gang as many as it says, else each by itself."""
        if self.kind != "gang":
            return 1
        told = (fields.number(self.owner, "metadata", "annotations", key) for key in (MIN_MEMBER, LEAST))
        return max(1, next((each for each in told if each is not None), self.width))

    @cached_property
    def done(self) -> frozenset[int]:
        """The indexes that are complete."""
        return indexes_of(fields.text(self.owner, "status", "completedIndexes"))

    @cached_property
    def failed(self) -> frozenset[int]:
        """The indexes that have failed for good."""
        return indexes_of(fields.text(self.owner, "status", "failedIndexes")) - self.done

    @cached_property
    def by_index(self) -> Mapping[int, tuple[Object, ...]]:
        """Its pods by index."""
        found: dict[int, list[Object]] = {}
        for pod in self.pods:
            number = index_of(pod)
            if number is not None:
                found.setdefault(number, []).append(pod)
        return {number: tuple(pods) for number, pods in found.items()}

    @cached_property
    def workloads(self) -> tuple[Object, ...]:
        """Kueue's Workloads of it, finished slices too; of a fleet those of its pods."""
        owned = self.seen.owned(WORKLOAD, fields.uid(self.owner))
        of_pods = (each for pod in self.pods for each in self.seen.owned(WORKLOAD, fields.uid(pod)))
        return (*owned, *of_pods)

    @cached_property
    def unfinished(self) -> tuple[Object, ...]:
        """The Workloads that are not finished."""
        return tuple(each for each in self.workloads if not fields.holds(each, FINISHED))

    @cached_property
    def live(self) -> Object | None:
        """The slice that has quota."""
        return next((each for each in self.unfinished if fields.holds(each, RESERVED)), None)

    @cached_property
    def wished(self) -> Object | None:
        """The slice that waits for quota: the newest of them."""
        waiting = [each for each in self.unfinished if not fields.holds(each, RESERVED)]
        return max(waiting, key=lambda each: fields.created(each) or 0.0, default=None)

    @property
    def is_growth(self) -> bool:
        """Whether what waits is a wider window of one that runs."""
        return self.live is not None and self.wished is not None and self.is_job

    @cached_property
    def groups(self) -> tuple[Object, ...]:
        """KAI's PodGroups of it."""
        owned = self.seen.owned(KAI_POD_GROUP, fields.uid(self.owner))
        named = {fields.annotation(pod, GROUP_OF_POD) for pod in self.pods} - {""}
        others = (
            each
            for each in self.seen.of(KAI_POD_GROUP, self.namespace)
            if fields.name(each) in named and each not in owned
        )
        return (*owned, *others)

    @cached_property
    def gang_groups(self) -> tuple[Object, ...]:
        """The PodGroups of Kubernetes itself."""
        name = fields.name(self.owner)
        found = (each for kind in GANG_POD_GROUPS for each in self.seen.of(kind, self.namespace))
        return tuple(each for each in found if name and fields.name(each) == name)

    @cached_property
    def templates(self) -> tuple[str, ...]:
        """The claim templates that its pods name."""
        claims = fields.items(self.owner, "spec", "template", "spec", "resourceClaims")
        return tuple(filter(None, (fields.text(each, "resourceClaimTemplateName") for each in claims)))

    @cached_property
    def requests(self) -> tuple[Mapping[str, Any], ...]:
        """What each pod of it claims: the requests of its templates that are there."""
        found = (self.seen.named(CLAIM_TEMPLATE, name, self.namespace) for name in self.templates)
        return tuple(
            request for each in found for request in fields.items(each, "spec", "spec", "devices", "requests")
        )

    @property
    def cards_per_pod(self) -> int:
        """How many devices each pod of it claims, as far as its templates tell."""
        return sum(fields.number(each, "exactly", "count") or 1 for each in self.requests)

    @cached_property
    def device_classes(self) -> tuple[str, ...]:
        """The device classes that its pods ask for."""
        listed = [(each, *fields.items(each, "firstAvailable")) for each in self.requests]
        names = (
            fields.text(one, "exactly", "deviceClassName") or fields.text(one, "deviceClassName")
            for each in listed
            for one in each
        )
        return tuple(dict.fromkeys(filter(None, names)))

    @cached_property
    def volumes(self) -> tuple[tuple[str, ...], ...]:
        """The volumes of each index, as the part's ConfigMap says; empty where it is not there."""
        name = fields.name(self.owner)
        found = self.seen.named(CONFIG_MAP, f"{name}-volumes", self.namespace) if name else None
        return tuple(_volumes(fields.text(found, "data", VOLUMES_FILE)))

    def volumes_at(self, index: int) -> tuple[str, ...]:
        """The volumes of an index."""
        return self.volumes[index] if index < len(self.volumes) else ()

    def called(self, index: int) -> str:
        """An index by its volumes where they are known."""
        volumes = self.volumes_at(index)
        if not volumes:
            return f"{'worker' if self.kind == 'gang' else 'index'} {index}"
        return volumes[0] if len(volumes) == 1 else f"{volumes[0]} and {len(volumes) - 1} more"

    def pod_called(self, pod: Object) -> str:
        """A pod by the volumes of its index."""
        number = index_of(pod)
        return fields.name(pod) or "a pod" if number is None else self.called(number)


def _volumes(written: str) -> Iterator[tuple[str, ...]]:
    try:
        value: Any = json.loads(written) if written else {}
    except ValueError:
        return
    indexes = fields.at(value, "indexes")
    for pack in indexes if isinstance(indexes, list) else ():
        listed = pack if isinstance(pack, list) else [pack]
        yield tuple(fields.text(each, "id") or "?" for each in listed)
