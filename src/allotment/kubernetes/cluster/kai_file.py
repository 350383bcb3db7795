"""KAI's own snapshot as one of ours: what its scheduler saw, which it answers ``/get-snapshot`` with.

A zip with ``snapshot.json``: the scheduler's configuration and parameters, raw objects in a list for each
kind, and what the server said of itself. The objects are written by Go without their kind and version,
which follow from the list that they stand in. There is no time in it. Facts: KAI 0.17, its plugin
``snapshot`` and docs/plugins/snapshot.md (kai-scheduler/KAI-Scheduler); older releases have fewer lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from allotment.documents.checking import Place
from allotment.errors import Severity, did_you_mean
from allotment.kubernetes import kinds
from allotment.kubernetes.kinds import Kind

LISTS: Final[Mapping[str, Kind]] = {
    "pods": kinds.POD,
    "nodes": kinds.NODE,
    "queues": kinds.KAI_QUEUE,
    "podGroups": kinds.KAI_POD_GROUP,
    "priorityClasses": kinds.PRIORITY_CLASS,
    "configMaps": kinds.CONFIG_MAP,
    "resourceClaims": kinds.CLAIM,
    "resourceSlices": kinds.SLICE,
    "deviceClasses": kinds.DEVICE_CLASS,
    "topologies": kinds.KAI_TOPOLOGY,
}
NOT_KEPT: Final = frozenset(
    {
        "bindRequests", "persistentVolumes", "persistentVolumeClaims", "csiStorageCapacities",
        "storageClasses", "csiDrivers", "nodeResourceTopologies",
    }
)  # fmt: skip
OBJECTS: Final = "rawObjects"
_VERSION: Final = re.compile(r"[0-9]{1,4}\.[0-9]{1,4}")
NOT_SEEN: Final = "not in what KAI's scheduler saw"


def is_of_kai(value: Any) -> bool:
    """Whether a document is a snapshot of KAI's scheduler."""
    return isinstance(value, dict) and OBJECTS in value and "items" not in value


def raw_objects(value: Mapping[str, Any], place: Place) -> Iterator[tuple[Any, Place, Kind]]:
    """Each object with its place and its kind, which it does not say itself."""
    lists = value[OBJECTS]
    if not isinstance(lists, dict):
        (place / OBJECTS).refuse_type(lists, "a mapping")
    for name, items in lists.items():
        kind = LISTS.get(name)
        where = place / OBJECTS / name
        if kind is None:
            if name not in NOT_KEPT:
                words, hint = (
                    f"`{name}` is no list that is known here; it is left out",
                    did_you_mean(name, LISTS),
                )
                where.found("unknown-key", words, hint, key=True, severity=Severity.WARNING)
            continue
        if not isinstance(items or [], list):
            where.found("wrong-type", f"`{name}` is no list", "fetch the snapshot again")
            continue
        for number, item in enumerate(items or ()):
            yield item, where / number, kind


def version_of(value: Mapping[str, Any]) -> str:
    """Kubernetes' version (``1.36``), where the server told it."""
    discovery = value.get("discovery")
    found = discovery.get("serverVersion") if isinstance(discovery, dict) else None
    told = found if isinstance(found, dict) else {}
    version = f"{told.get('major')}.{str(told.get('minor')).rstrip('+')}"
    return version if _VERSION.fullmatch(version) else ""
