"""What an API server holds the status of a Job to: counts, indexes, and conditions that are final.

From ``pkg/apis/batch/validation`` of Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.kubernetes.testing.answers import Cause, required, wrong
from allotment.kubernetes.testing.names import quoted
from allotment.kubernetes.testing.rules.policies import count_indexes

Raw = Mapping[str, Any]
_COUNTS: Final = ("active", "succeeded", "failed", "terminating", "ready")
_FINAL: Final = ("Complete", "Failed")
_BEFORE: Final = (("Complete", "SuccessCriteriaMet"), ("Failed", "FailureTarget"))


def of_job_status(old: Raw, new: Raw) -> Iterator[Cause]:
    """A status that has been written."""
    before, status = old.get("status") or {}, new.get("status") or {}
    for name in _COUNTS:
        if (status.get(name) or 0) < 0:
            yield wrong(f"status.{name}", str(status[name]), "must be greater than or equal to 0")
    if (status.get("ready") or 0) > (status.get("active") or 0) >= 0:
        yield wrong("status.ready", str(status["ready"]), "cannot set more ready pods than active")
    yield from _of_indexes(new, status)
    yield from _of_completion(status)
    yield from _of_conditions(_true(before), _true(status))
    if _true(status) & set(_FINAL) and not status.get("startTime"):
        yield required("status.startTime", "startTime is required for finished job")


def _of_indexes(job: Raw, status: Raw) -> Iterator[Cause]:
    total = job["spec"].get("completions") or 0
    for name in ("completedIndexes", "failedIndexes"):
        text = status.get(name)
        if not text:
            continue
        problem, _ = count_indexes(text, total)
        if problem:
            yield wrong(f"status.{name}", quoted(text), f"error parsing {name}: {problem}")


def _of_completion(status: Raw) -> Iterator[Cause]:
    true = _true(status)
    ended = status.get("completionTime")
    if "Complete" in true and not ended:
        yield required("status.completionTime", "completionTime is required for Complete jobs")
    if ended and "Complete" not in true:
        why = "cannot set completionTime when there is no Complete=True condition"
        yield wrong("status.completionTime", quoted(ended), why)


def _of_conditions(before: set[str], after: set[str]) -> Iterator[Cause]:
    for final, first in _BEFORE:
        if final in after and first not in after:
            yield _condition(f"cannot set {final}=True condition without the {first}=true condition")
    for final in _FINAL:
        if final in before - after:
            yield _condition(f"cannot disable the terminal {final}=True condition")
    for _, first in _BEFORE:
        if first in before - after:
            yield _condition(f"cannot disable the {first}=True condition")


def _condition(why: str) -> Cause:
    return Cause("status.conditions", "FieldValueInvalid", f"Invalid value: {why}")


def _true(status: Raw) -> set[str]:
    return {each["type"] for each in status.get("conditions") or () if each.get("status") == "True"}
