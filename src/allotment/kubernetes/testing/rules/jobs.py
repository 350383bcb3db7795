"""What an API server holds a Job to, new and changed.

From ``pkg/apis/batch/validation`` of Kubernetes 1.36: Indexed Jobs, failure and success policies, and what
of a Job may change: its width always, its scheduling while it is suspended and has no pods.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.kubernetes.testing.answers import Cause, required, unsupported, wrong
from allotment.kubernetes.testing.names import by_name, of_label_name, of_subdomain, quoted
from allotment.kubernetes.testing.rules.pods import of_template
from allotment.kubernetes.testing.rules.policies import of_failure_policy, of_success_policy

Raw = Mapping[str, Any]
_MOST: Final = 100_000
_NEGATIVE: Final = "must be greater than or equal to 0"
_IMMUTABLE: Final = "field is immutable"
UID_LABEL: Final = "batch.kubernetes.io/controller-uid"
_COUNTS: Final = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_FIXED: Final = (
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)
_SCHEDULING: Final = ("nodeSelector", "tolerations", "schedulingGates", "affinity")
_REPLACEMENT: Final = ("Failed", "TerminatingOrFailed")


def of_new(job: Raw) -> Iterator[Cause]:
    """A new Job; its defaults and its own labels are in it."""
    spec = job["spec"]
    yield from _of_selector(job, spec)
    yield from _of_spec(spec)
    yield from _of_pod_names(job)


def of_change(old: Raw, new: Raw) -> Iterator[Cause]:
    """A Job that has been changed: as a new one, then its spec once more, then what may not change."""
    before, after = old["spec"], new["spec"]
    yield from of_new(new)
    yield from _of_spec(after)
    yield from _of_completions(before, after)
    yield from _of_fixed(before, after, "selector")
    if _template_of(before, old) != _template_of(after, old):
        place = "spec.template.spec" if _is_at_rest(old) else "spec.template"
        yield wrong(place, "{…}", _IMMUTABLE)
    yield from _of_fixed(before, after, *_FIXED)


def _of_fixed(before: Raw, after: Raw, *names: str) -> Iterator[Cause]:
    for name in names:
        if before.get(name) != after.get(name):
            show = by_name if name == "selector" else go_struct
            yield wrong(f"spec.{name}", show(after.get(name)), _IMMUTABLE)


def _of_completions(before: Raw, after: Raw) -> Iterator[Cause]:
    old, new = before.get("completions"), after.get("completions")
    if after.get("completionMode") != "Indexed":
        if old != new:
            yield wrong("spec.completions", quoted(new), _IMMUTABLE)
    elif new is None and old is not None:
        yield required("spec.completions", "when completion mode is Indexed")
    elif old != new and new != after.get("parallelism"):
        yield wrong("spec.completions", str(new), "can only be modified in tandem with spec.parallelism")


def _is_at_rest(job: Raw) -> bool:
    """Whether a Job is suspended and none of its pods is left."""
    return bool(job["spec"].get("suspend")) and not (job.get("status") or {}).get("active")


def _template_of(spec: Raw, job: Raw) -> Any:
    """The template without what may change while nothing of the Job runs."""
    template = copy.deepcopy(spec.get("template") or {})
    if not _is_at_rest(job):
        return template
    pod = template.get("spec") or {}
    for name in _SCHEDULING:
        pod.pop(name, None)
    metadata = template.get("metadata") or {}
    metadata.pop("annotations", None)
    metadata.pop("labels", None)
    for container in (*(pod.get("containers") or ()), *(pod.get("initContainers") or ())):
        for sort in ("limits", "requests"):
            (container.get("resources") or {}).pop(sort, None)
    return template


def _of_spec(spec: Raw) -> Iterator[Cause]:
    for name in _COUNTS:
        value = spec.get(name)
        if value is not None and value < 0:
            yield wrong(f"spec.{name}", str(value), _NEGATIVE)
    if spec.get("completionMode") not in {"Indexed", "NonIndexed"}:
        yield unsupported(
            "spec.completionMode", quoted(spec.get("completionMode")), ("NonIndexed", "Indexed")
        )
    yield from _of_indexes(spec)
    policy = spec.get("podFailurePolicy")
    if policy is not None:
        yield from of_failure_policy(policy, spec, "spec.podFailurePolicy")
    success = spec.get("successPolicy")
    if success is not None and spec.get("completionMode") != "Indexed":
        yield wrong("spec.successPolicy", go_struct(success), "requires indexed completion mode")
    elif success is not None:
        yield from of_success_policy(success, spec, "spec.successPolicy")
    known = ("Failed",) if policy is not None else _REPLACEMENT
    if spec.get("podReplacementPolicy") not in known:
        yield unsupported("spec.podReplacementPolicy", quoted(spec.get("podReplacementPolicy")), known)
    manager = spec.get("managedBy")
    if manager is not None:
        yield from (wrong("spec.managedBy", quoted(manager), each) for each in _of_manager(manager))
    yield from of_template(spec["template"], "spec.template")
    restart = spec["template"]["spec"].get("restartPolicy")
    if restart not in {"OnFailure", "Never"}:
        yield required("spec.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"')
    elif policy is not None and restart != "Never":
        why = 'only "Never" is supported when podFailurePolicy is specified'
        yield wrong("spec.template.spec.restartPolicy", quoted(restart), why)


def _of_manager(text: str) -> Iterator[str]:
    domain, _, path = text.partition("/")
    if not path:
        yield 'must be a domain-prefixed path (such as "acme.io/foo")'
        return
    yield from of_subdomain(domain)


def _of_indexes(spec: Raw) -> Iterator[Cause]:
    indexed = spec.get("completionMode") == "Indexed"
    for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
        if spec.get(name) is not None and not indexed:
            yield wrong(f"spec.{name}", str(spec[name]), "requires indexed completion mode")
    if not indexed:
        return
    if spec.get("completions") is None:
        yield required("spec.completions", "when completion mode is Indexed")
    width = spec.get("parallelism") or 0
    if width > _MOST:
        why = f"must be less than or equal to {_MOST} when completion mode is Indexed"
        yield wrong("spec.parallelism", str(width), why)
    most = spec.get("maxFailedIndexes")
    if most is None:
        return
    if spec.get("backoffLimitPerIndex") is None:
        yield required("spec.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if spec.get("completions") is not None and most > spec["completions"]:
        yield wrong("spec.maxFailedIndexes", str(most), "must be less than or equal to completions")


def _of_selector(job: Raw, spec: Raw) -> Iterator[Cause]:
    selector = spec.get("selector") or {}
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    matched = selector.get("matchLabels") or {}
    if not spec.get("manualSelector") and matched != {UID_LABEL: job["metadata"].get("uid")}:
        yield wrong("spec.selector", by_name(selector), "`selector` not auto-generated")
    if any(labels.get(key) != value for key, value in matched.items()):
        yield wrong(
            "spec.template.metadata.labels", by_name(labels), "`selector` does not match template `labels`"
        )


def _of_pod_names(job: Raw) -> Iterator[Cause]:
    spec, name = job["spec"], job["metadata"].get("name") or ""
    count = spec.get("completions") or 0
    if spec.get("completionMode") != "Indexed" or count < 1:
        return
    last = f"{name}-{count - 1}"
    if any(of_label_name(last)):
        yield wrong(
            "metadata.name", quoted(name), f"will not able to create pod with invalid DNS label: {last}"
        )


def go_struct(value: Any) -> str:
    """A value as Go shows its own form of it: names with a capital."""
    return quoted(_capital(value)) if isinstance(value, dict | list) else quoted(value)


def _capital(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            re.sub(r"^\w", lambda first: first[0].upper(), key): _capital(each) for key, each in value.items()
        }
    return [_capital(each) for each in value] if isinstance(value, list) else value
