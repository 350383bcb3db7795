"""Jobs of ours that are there and that a list by our label does not have: somebody took the label away.

What stays of a part (its volumes, a gang's Service) remembers which Job it was for, by its uid. One that is
remembered, not listed, and of which no end was seen is asked for by its name, before anybody calls it gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.kinds import JOB, Object
from allotment.kubernetes.render.names import PREFIX

UID: Final = f"{PREFIX}job-uid"
ENDED: Final = f"{PREFIX}job-ended"
VOLUMES: Final = "-volumes"
MOST_BY_NAME: Final = 10
"""Where more than so many of a namespace are missed, all of its Jobs are listed instead."""
_Remembered = tuple[str, str, str]  # namespace, name, uid


def overlooked(client: Client, objects: Sequence[Object]) -> Iterator[Object]:
    """The Jobs that are remembered by these objects, are not among them, and are there."""
    there = {str(each["metadata"].get("uid")) for each in objects if each["kind"] == JOB.name}
    missed = [each for each in _remembered(objects) if each[2] not in there]
    for namespace in sorted({namespace for namespace, _, _ in missed}):
        wanted = {name: uid for place, name, uid in missed if place == namespace}
        for found in _asked(client, namespace, wanted):
            if found["metadata"].get("uid") == wanted.get(found["metadata"]["name"]):
                yield found


def _remembered(objects: Sequence[Object]) -> Iterator[_Remembered]:
    for each in objects:
        metadata = each["metadata"]
        notes, labels = metadata.get("annotations") or {}, metadata.get("labels") or {}
        uid, name = notes.get(UID), str(metadata["name"])
        if not isinstance(uid, str) or ENDED in notes:
            continue
        namespace = str(metadata.get("namespace") or "")
        if each["kind"] == "ConfigMap" and f"{PREFIX}part" in labels and name.endswith(VOLUMES):
            yield namespace, name.removesuffix(VOLUMES), uid
        elif each["kind"] == "Service" and f"{PREFIX}gang" in labels:
            yield namespace, name, uid


def _asked(client: Client, namespace: str, wanted: dict[str, Any]) -> Iterator[Object]:
    """By name, or all of them; nothing where that is forbidden."""
    try:
        if len(wanted) > MOST_BY_NAME:
            yield from client.listed(JOB, namespace)
            return
        for name in wanted:
            found = client.get(JOB, name, namespace)
            if found is not None:
                yield found
    except ApiError as error:
        if error.status != 403:
            raise
