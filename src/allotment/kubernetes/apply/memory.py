"""What is remembered of Jobs that are gone: that they were, and how they ended.

A finished Job goes when its time is up, and must not come back by the next apply, which would pay for every
volume again. So each Job has an object that stays and is its memory: a part's volumes, a gang's Service, for
what prepares a recipe the campaign's settings. Three annotations, by a manager of their own, say which Job it
was (its uid), of which recipe, and how it ended where an apply saw that. An object without them never had a
Job, and gets one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from allotment.kubernetes.apply.groups import labels, notes_on
from allotment.kubernetes.kinds import CONFIG_MAP, SERVICE, Object
from allotment.kubernetes.render.documents import settings_name
from allotment.kubernetes.render.names import PREFIX

JOB_UID: Final = f"{PREFIX}job-uid"
JOB_RECIPE: Final = f"{PREFIX}job-recipe"
JOB_ENDED: Final = f"{PREFIX}job-ended"
PART: Final = f"{PREFIX}part"
CAMPAIGN: Final = f"{PREFIX}campaign"
RECIPE: Final = f"{PREFIX}recipe"
ENDINGS: Final = ("Complete", "Failed")


def holder_of(job: Object) -> tuple[str, str]:
    """The address of the object that remembers a Job."""
    own, name = labels(job), str(job["metadata"]["name"])
    if PART in own:
        return CONFIG_MAP.shown, f"{name}-volumes"
    if CAMPAIGN in own:
        return CONFIG_MAP.shown, settings_name(own[CAMPAIGN])
    return SERVICE.shown, name


def is_prepare(job: Object) -> bool:
    """Whether a Job prepares a recipe, and runs no volumes."""
    return CAMPAIGN in labels(job) and PART not in labels(job)


def ending_of(job: Object) -> str | None:
    """``Complete`` or ``Failed``, or None for a Job that has not ended."""
    for condition in (job.get("status") or {}).get("conditions") or ():
        if condition.get("type") in ENDINGS and condition.get("status") == "True":
            return str(condition["type"])
    return None


def memory_of(job: Object) -> dict[str, str]:
    """What is to be remembered of a live Job."""
    found = {JOB_UID: str(job["metadata"]["uid"])}
    recipe = labels(job).get(RECIPE)
    if recipe is not None:
        found[JOB_RECIPE] = recipe
    ending = ending_of(job)
    if ending is not None:
        found[JOB_ENDED] = json.dumps(_ended(job, ending), sort_keys=True)
    return found


def remembers(holder: Object, memory: Mapping[str, str]) -> bool:
    """Whether the object says all of it, and no ending of another Job."""
    own = notes_on(holder)
    same = all(own.get(key) == value for key, value in memory.items())
    return same and (JOB_ENDED in memory or JOB_ENDED not in own)


def had_job(holder: Object | None) -> bool:
    """Whether there was a Job."""
    return holder is not None and JOB_UID in notes_on(holder)


def remembering(holder: Object, memory: Mapping[str, str]) -> Object:
    """What is applied to the object; its uid, so that none is made of one that is gone."""
    metadata = holder["metadata"]
    named = {key: metadata[key] for key in ("name", "namespace", "uid")}
    return {
        "apiVersion": holder["apiVersion"],
        "kind": holder["kind"],
        "metadata": {**named, "annotations": dict(memory)},
    }


def ending_words(job: Object | None, holder: Object | None) -> str:
    """How a Job ended, as a person reads it, from the Job or from what is remembered."""
    ending = ending_of(job) if job is not None else None
    if job is not None and ending is not None:
        return _words(_ended(job, ending))
    told = notes_on(holder).get(JOB_ENDED) if holder is not None else None
    if told is None:
        return "its Job is gone; how it ended was not seen"
    return f"{_words(json.loads(told))}; its Job is gone"


def _words(ended: Mapping[str, Any]) -> str:
    how = {"Complete": "complete", "Failed": "failed"}[str(ended["phase"])]
    of = f" of {ended['completions']}" if ended.get("completions") else ""
    failed = f", failed indexes {ended['failed_indexes']}" if ended.get("failed_indexes") else ""
    return f"{how}: {ended['succeeded']}{of} indexes done{failed}"


def _ended(job: Object, ending: str) -> Mapping[str, Any]:
    status, spec = job.get("status") or {}, job.get("spec") or {}
    at = next(
        (each.get("lastTransitionTime") for each in status["conditions"] if each["type"] == ending), None
    )
    return {
        "phase": ending,
        "completions": spec.get("completions", 1),
        "succeeded": status.get("succeeded", 0),
        "failed": status.get("failed", 0),
        "failed_indexes": status.get("failedIndexes", ""),
        "started": status.get("startTime"),
        "ended": status.get("completionTime") or at,
    }
