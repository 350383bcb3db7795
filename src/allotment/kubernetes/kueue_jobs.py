"""What Kueue's webhook refuses of a Job: on creation, and of a change of one that is there.

What is rendered is held to it before it is sent, and whoever applies knows beforehand which change costs a
new Job. Facts: Kueue 0.19, ``pkg/controller/jobs/job`` and ``jobframework`` (validation of Jobs).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

PREFIX: Final = "kueue.x-k8s.io/"
QUEUE: Final = f"{PREFIX}queue-name"
PRIORITY: Final = f"{PREFIX}priority-class"
LONGEST: Final = f"{PREFIX}max-exec-time-seconds"
PREBUILT: Final = f"{PREFIX}prebuilt-workload-name"
ELASTIC: Final = f"{PREFIX}elastic-job"
LEAST: Final = f"{PREFIX}job-min-parallelism"
IN_STEP: Final = f"{PREFIX}job-completions-equal-parallelism"
GATED: Final = f"{PREFIX}admission-gated-by"
LAYOUTS: Final = tuple(
    f"{PREFIX}podset-{kind}-topology" for kind in ("required", "preferred", "unconstrained")
)
SLICES: Final = f"{PREFIX}podset-slice-required-topology"
SLICE_SIZE: Final = f"{PREFIX}podset-slice-size"

SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_KEY: Final = re.compile(
    r"(?:[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]"
)
GATE: Final = re.compile(r"[A-Za-z0-9-.]+/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")
LONGEST_GATE: Final = 63
INTEGER: Final = re.compile(r"[+-]?[0-9]+")
TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})

INVALID, FORBIDDEN, REQUIRED, TOO_LONG = "invalid", "forbidden", "required", "too long"
IMMUTABLE: Final = "field is immutable"

GATES: Final = frozenset({"AdmissionGatedBy", "ElasticJobsViaWorkloadSlices", "TopologyAwareScheduling"})
"""The feature gates that are on by default in 0.19 and matter to a Job."""
BY_ANNOTATION: Final = "WorkloadIdentifierAnnotations"


@dataclass(frozen=True, slots=True)
class Fault:
    """What is refused: where, in which way, and why."""

    field: str
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class JobView:
    """A Job as the webhook reads it."""

    value: Mapping[str, Any]
    gates: Collection[str] = GATES

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""
        return self.value["metadata"].get("labels") or {}

    @property
    def annotations(self) -> Mapping[str, str]:
        """Its annotations."""
        return self.value["metadata"].get("annotations") or {}

    @property
    def spec(self) -> Mapping[str, Any]:
        """Its spec."""
        found: Mapping[str, Any] = self.value["spec"]
        return found

    @property
    def of_pods(self) -> Mapping[str, str]:
        """The annotations of its pods."""
        return (self.spec["template"].get("metadata") or {}).get("annotations") or {}

    @property
    def parallelism(self) -> int:
        """How many pods at once."""
        return int(self.spec.get("parallelism", 1))

    @property
    def pods(self) -> int:
        """How many pods it has at once as long as there is work."""
        return min(self.parallelism, int(self.spec.get("completions", self.parallelism)))

    @property
    def suspended(self) -> bool:
        """Whether it is suspended."""
        return bool(self.spec.get("suspend"))

    @property
    def elastic(self) -> bool:
        """Whether it has slices of a window."""
        return "ElasticJobsViaWorkloadSlices" in self.gates and self.annotations.get(ELASTIC) == "true"

    @property
    def in_step(self) -> bool:
        """Whether completions follow parallelism."""
        return self.annotations.get(IN_STEP) in TRUE

    @property
    def partial(self) -> bool:
        """Whether it may be admitted with fewer pods."""
        return LEAST in self.annotations

    @property
    def prebuilt(self) -> str | None:
        """The Workload that it names."""
        if BY_ANNOTATION in self.gates and PREBUILT in self.annotations:
            return self.annotations[PREBUILT]
        return self.labels.get(PREBUILT)

    @property
    def gated_by(self) -> tuple[str, ...]:
        """The gates that hold it back."""
        return tuple(filter(None, self.annotations.get(GATED, "").split(",")))


def creation_faults(job: Mapping[str, Any], gates: Collection[str] = GATES) -> Iterator[Fault]:
    """What is refused of a new Job."""
    view = JobView(job, gates)
    for rule in RULES:
        yield from rule(view)


def change_faults(
    old: Mapping[str, Any], new: Mapping[str, Any], gates: Collection[str] = GATES
) -> Iterator[Fault]:
    """What is refused of a change: what is refused of a new Job, and what may not change any more."""
    before, after = JobView(old, gates), JobView(new, gates)
    for rule in RULES[:-1]:
        yield from rule(after)
    yield from _kept_labels(before, after)
    yield from _kept_annotations(before, after)
    if "AdmissionGatedBy" in gates and not set(after.gated_by) <= set(before.gated_by):
        yield Fault(_annotation(GATED), FORBIDDEN, "can only remove gates, not add new ones")


def _kept_labels(before: JobView, after: JobView) -> Iterator[Fault]:
    held = not (before.suspended and after.suspended)
    if not after.suspended and before.labels.get(QUEUE) != after.labels.get(QUEUE):
        yield Fault(_label(QUEUE), INVALID, IMMUTABLE)
    if PRIORITY in before.labels and PRIORITY not in after.labels:
        yield Fault(_label(PRIORITY), INVALID, "WorkloadPriorityClass cannot be removed from a workload")
    if held and before.labels.get(LONGEST) != after.labels.get(LONGEST):
        yield Fault(_label(LONGEST), INVALID, IMMUTABLE)
    if held and before.prebuilt != after.prebuilt:
        yield Fault(_prebuilt_place(after), INVALID, IMMUTABLE)


def _kept_annotations(before: JobView, after: JobView) -> Iterator[Fault]:
    if not before.suspended and before.partial and before.parallelism != after.parallelism:
        words = "cannot change when partial admission is enabled and the job is not suspended"
        yield Fault("spec.parallelism", FORBIDDEN, words)
    running = not (before.suspended or after.suspended)
    if running and before.annotations.get(IN_STEP) != after.annotations.get(IN_STEP):
        words = "field is immutable while the job is not suspended"
        yield Fault(_annotation(IN_STEP), FORBIDDEN, words)
    if "ElasticJobsViaWorkloadSlices" in after.gates and before.elastic != after.elastic:
        yield Fault(_annotation(ELASTIC), INVALID, IMMUTABLE)


def _names(job: JobView) -> Iterator[Fault]:
    for place, name in ((_label(QUEUE), job.labels.get(QUEUE)), (_prebuilt_place(job), job.prebuilt)):
        if name is not None and not SUBDOMAIN.fullmatch(name):
            yield Fault(place, INVALID, "it must be a lowercase RFC 1123 subdomain")


def _longest(job: JobView) -> Iterator[Fault]:
    value = job.labels.get(LONGEST)
    if value is None:
        return
    if not INTEGER.fullmatch(value):
        yield Fault(_label(LONGEST), INVALID, "it must be a number")
    elif int(value) <= 0:
        yield Fault(_label(LONGEST), INVALID, "should be greater than 0")


def _partial(job: JobView) -> Iterator[Fault]:
    value = job.annotations.get(LEAST)
    if value is None:
        return
    if job.elastic:
        words = "partial admission and elastic job cannot be used together"
        yield Fault(_annotation(LEAST), INVALID, words)
    elif not INTEGER.fullmatch(value):
        yield Fault(_annotation(LEAST), INVALID, "it must be a number")
    elif not 0 < int(value) < job.pods:
        yield Fault(_annotation(LEAST), INVALID, f"should be between 0 and {job.pods - 1}")


def _in_step(job: JobView) -> Iterator[Fault]:
    value = job.annotations.get(IN_STEP)
    if value is None:
        return
    if value not in TRUE | FALSE:
        yield Fault(_annotation(IN_STEP), INVALID, "it must be true or false")
    elif job.in_step and job.spec.get("completionMode", "NonIndexed") != "Indexed":
        yield Fault(_annotation(IN_STEP), INVALID, "should not be enabled for NonIndexed jobs")
    elif job.in_step and job.spec.get("completions", 1) != job.parallelism:
        words = f"should be equal to parallelism when {IN_STEP} annotation is true"
        yield Fault("spec.completions", INVALID, words)


def _layout(job: JobView) -> Iterator[Fault]:
    if "TopologyAwareScheduling" not in job.gates:
        return
    asked = [key for key in LAYOUTS if key in job.of_pods]
    if len(asked) > 1:
        yield Fault(_OF_PODS, INVALID, "must not contain more than one topology annotation")
    for key in (*LAYOUTS[:2], SLICES):
        if key in job.of_pods and not LABEL_KEY.fullmatch(job.of_pods[key]):
            yield Fault(f"{_OF_PODS}[{key}]", INVALID, "it must be the key of a label")
    yield from _slices(job)
    for key in LAYOUTS[:2]:
        if job.elastic and key in job.of_pods:
            kind = key.removeprefix(f"{PREFIX}podset-").removesuffix("-topology")
            words = f"{kind} topology is not supported with elastic jobs"
            yield Fault(f"{_OF_PODS}.{key}", FORBIDDEN, words)


def _slices(job: JobView) -> Iterator[Fault]:
    size, place = job.of_pods.get(SLICE_SIZE), f"{_OF_PODS}[{SLICE_SIZE}]"
    if SLICES in job.of_pods and size is None:
        yield Fault(place, REQUIRED, f"must be set when '{SLICES}' is specified")
    elif size is not None and SLICES not in job.of_pods:
        yield Fault(place, FORBIDDEN, f"may not be set when '{SLICES}' is not specified")
    elif size is not None and not INTEGER.fullmatch(size):
        yield Fault(place, INVALID, "must be a numeric value")
    elif size is not None and int(size) < 1:
        yield Fault(place, INVALID, "must be greater than or equal to 1")


def _gated(job: JobView) -> Iterator[Fault]:
    if "AdmissionGatedBy" not in job.gates:
        return
    names = [name.strip() for name in job.gated_by]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield Fault(_annotation(GATED), INVALID, f"duplicate gate name: {name}")
        if len(name.encode()) > LONGEST_GATE:
            yield Fault(_annotation(GATED), TOO_LONG, f"may not be more than {LONGEST_GATE} bytes")
        elif not GATE.fullmatch(name):
            yield Fault(_annotation(GATED), INVALID, "a gate is a domain, a `/` and a path")


def _prebuilt_place(job: JobView) -> str:
    by_annotation = BY_ANNOTATION in job.gates and PREBUILT in job.annotations
    return _annotation(PREBUILT) if by_annotation else _label(PREBUILT)


def _label(key: str) -> str:
    return f"metadata.labels[{key}]"


def _annotation(key: str) -> str:
    return f"metadata.annotations[{key}]"


_OF_PODS: Final = "spec.template.metadata.annotations"

RULES: Final[tuple[Callable[[JobView], Iterator[Fault]], ...]] = (
    _names,
    _longest,
    _partial,
    _in_step,
    _layout,
    _gated,
)
