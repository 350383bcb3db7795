"""A cluster that is looked at again and again: what moves is read anew, and the rest now and then.

A look asks for seven lists of the team's namespace and of claims, whatever the cluster holds otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from allotment.kubernetes import kinds
from allotment.kubernetes.client import Client
from allotment.kubernetes.cluster.needed import kept as cut
from allotment.kubernetes.cluster.overlooked import overlooked
from allotment.kubernetes.cluster.reading import ASKED, Asked, read_snapshot
from allotment.kubernetes.cluster.snapshot import Snapshot, key_of

MOVING: Final = (
    kinds.JOB,
    kinds.DEPLOYMENT,
    kinds.POD,
    kinds.CLAIM,
    kinds.WORKLOAD,
    kinds.KAI_POD_GROUP,
    kinds.EVENT,
)
_ASKED: Final[tuple[Asked, ...]] = tuple(each for each in ASKED if each.kind in MOVING)


def again(client: Client, before: Snapshot, now: float, *, home: str | None = None) -> Snapshot:
    """The cluster as it is now, in what moves; everything else is as it was before.

    A server that has just begun may refuse for a moment what it allowed: that kind is as before, and asked
    for again.
    """
    gone = {each.kind for each in before.missing}
    asked = [each for each in _ASKED if each.kind not in gone]
    found = read_snapshot(client, now=now, home=home, asked=asked)
    refused = {each.kind for each in found.missing}
    read = {each.kind.name for each in asked if each.kind not in refused}
    kept = [each for each in before.objects if each["kind"] not in read]
    objects = [*kept, *found.objects]
    objects = sorted((*objects, *map(cut, overlooked(client, objects))), key=key_of)
    return replace(before, time=now, objects=tuple(objects), origins={})


def pods_of_team(client: Client, namespace: str, now: float) -> Snapshot:
    """What is needed to find the pods of a volume, and no more."""
    wanted = {kinds.JOB, kinds.DEPLOYMENT, kinds.POD, kinds.CONFIG_MAP}
    asked = [each for each in ASKED if each.kind in wanted]
    return read_snapshot(client, now=now, namespaces=(namespace,), asked=asked)
