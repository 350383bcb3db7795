"""Queues and quotas: ClusterQueues, Cohorts and LocalQueues as ``kueue.x-k8s.io/v1beta2`` has them.

Values that an object leaves out are None or empty here, and mean what Kueue's own code takes them for; the
defaults that the API server puts in are the reader's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Strategy(StrEnum):
    """Whether a head that does not fit holds up what comes behind it."""

    BEST_EFFORT = "BestEffortFIFO"
    STRICT = "StrictFIFO"


NEVER = "Never"
LOWER = "LowerPriority"
LOWER_OR_NEWER = "LowerOrNewerEqualPriority"
ANY = "Any"
TRY_NEXT = "TryNextFlavor"
PREEMPTION_FIRST = "PreemptionOverBorrowing"
BY_USAGE = "UsageBasedAdmissionFairSharing"
MULTIKUEUE = "kueue.x-k8s.io/multikueue"
PROVISIONING = "kueue.x-k8s.io/provisioning-request"


@dataclass(frozen=True, slots=True)
class Quota:
    """What is given of one resource in one flavor; a limit of None is none."""

    nominal: int = 0
    borrowing: int | None = None
    lending: int | None = None


@dataclass(frozen=True, slots=True)
class ResourceGroup:
    """Resources that come from one flavor together, and the flavors in the order of preference."""

    resources: tuple[str, ...]
    flavors: tuple[str, ...]
    quotas: Mapping[tuple[str, str], Quota] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Preemption:
    """Whom a workload of the queue may evict."""

    within: str = NEVER
    reclaim: str = NEVER
    while_borrowing: str = NEVER
    threshold: int | None = None


@dataclass(frozen=True, slots=True)
class Fungibility:
    """When the next flavor is tried although one would do."""

    when_borrowing: str = "MayStopSearch"
    when_preempting: str = TRY_NEXT
    preference: str | None = None


@dataclass(frozen=True, slots=True)
class LabelTerm:
    """One expression of a label selector."""

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """Labels that must be there and expressions that must hold; empty selects everything."""

    labels: tuple[tuple[str, str], ...] = ()
    terms: tuple[LabelTerm, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected."""
        named = all(labels.get(key) == value for key, value in self.labels)
        return named and all(_holds(term, labels.get(term.key)) for term in self.terms)


def _holds(term: LabelTerm, value: str | None) -> bool:
    answers = {
        "In": value is not None and value in term.values,
        "NotIn": value is None or value not in term.values,
        "Exists": value is not None,
        "DoesNotExist": value is None,
    }
    return answers.get(term.operator, False)


@dataclass(frozen=True, slots=True)
class AdmissionCheck:
    """A check that a queue asks for: its controller, whether it is active, and the flavors it is about."""

    name: str
    controller: str = ""
    active: bool = True
    flavors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterQueue:
    """A ClusterQueue. ``inactive`` says why nothing of it may be admitted, if so."""

    name: str
    cohort: str | None = None
    groups: tuple[ResourceGroup, ...] = ()
    strategy: Strategy = Strategy.BEST_EFFORT
    namespaces: LabelSelector | None = None
    preemption: Preemption = Preemption()
    fungibility: Fungibility = Fungibility()
    weight: float = 1.0
    admission: str | None = None
    checks: tuple[AdmissionCheck, ...] = ()
    last_acceptable_flavor: str | None = None
    inactive: str | None = None

    def group_of(self, resource: str) -> ResourceGroup | None:
        """The group that gives a resource."""
        for group in self.groups:
            if resource in group.resources:
                return group
        return None


@dataclass(frozen=True, slots=True)
class Cohort:
    """A Cohort: queues and cohorts that lend to each other, perhaps with quota of their own."""

    name: str
    parent: str | None = None
    groups: tuple[ResourceGroup, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class LocalQueue:
    """A LocalQueue: where the jobs of a namespace are handed in."""

    namespace: str
    name: str
    cluster_queue: str
    weight: float = 1.0
    stopped: bool = False

    @property
    def key(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"
