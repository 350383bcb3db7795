"""Who has devices, in words: a campaign's volume where the pod is one of ours, else the pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.follow import fields
from allotment.kubernetes.follow.part import Part
from allotment.kubernetes.follow.pods import index_of
from allotment.kubernetes.follow.seen import Seen
from allotment.kubernetes.kinds import JOB, POD, Object
from allotment.kubernetes.render.names import PREFIX

KINDS: Final = ("campaign", "gang", "fleet")


def pod_words(snapshot: Snapshot) -> Mapping[tuple[str, str], str]:
    """What to call each pod, by its namespace and name; one that stops says so."""
    seen = Seen(snapshot)
    jobs = {fields.uid(job): job for job in seen.of(JOB)}
    parts: dict[str, Part] = {}
    found = {}
    for pod in seen.of(POD):
        ending = " (stopping)" if fields.is_ending(pod) else ""
        words = _of_ours(seen, pod, jobs, parts) or f"pod {fields.namespace(pod)}/{fields.name(pod)}"
        found[fields.namespace(pod), fields.name(pod)] = words + ending
    return found


def _of_ours(seen: Seen, pod: Object, jobs: Mapping[str, Object], parts: dict[str, Part]) -> str:
    name = next((value for kind in KINDS if (value := fields.label(pod, f"{PREFIX}{kind}"))), "")
    index = index_of(pod)
    if not name or index is None:
        return f"{name} ({fields.name(pod)})" if name else ""
    owner = next(
        (each for each in (fields.text(one, "uid") for one in fields.owners(pod)) if each in jobs), ""
    )
    if not owner:
        return f"{name}/{index}"
    if owner not in parts:
        parts[owner] = Part(seen, "campaign", name, jobs[owner])
    return f"{name}/{'+'.join(parts[owner].volumes_at(index)[:3]) or index}"
