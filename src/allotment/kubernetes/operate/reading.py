"""What the window controller reads of a cluster: one list a kind, and no more kinds than there is need for.

Jobs come whole, since who moved a width stands in their ``managedFields``. Without a Job that goes on nothing
else is read; devices and pods that wait for a place only where some Job might take more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.cluster import Missing, Snapshot
from allotment.kubernetes.cluster.reading import FORBIDDEN, NOT_SERVED, OURS
from allotment.kubernetes.kinds import (
    CLAIM,
    CLAIM_TEMPLATE,
    CLUSTER_QUEUE,
    COHORT,
    DEVICE_CLASS,
    JOB,
    LOCAL_QUEUE,
    NODE,
    POD,
    SLICE,
    WORKLOAD,
    Kind,
    Object,
)
from allotment.kubernetes.operate.bounds import left_alone
from allotment.kubernetes.operate.part import Part, parts_of

OF_QUEUES: Final = (LOCAL_QUEUE, CLUSTER_QUEUE, COHORT)
OF_DEVICES: Final = (SLICE, DEVICE_CLASS, CLAIM, CLAIM_TEMPLATE, NODE)
PENDING: Final = "status.phase=Pending"
WHY: Final = {403: FORBIDDEN, 404: NOT_SERVED}


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose Jobs: of these namespaces (none named: of all), of one team where it is named.

    ``home`` is looked at where the cluster as a whole may not be.
    """

    namespaces: tuple[str, ...] = ()
    team: str | None = None
    home: str | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """A cluster at one time, and from which version of which kind a watch goes on."""

    snapshot: Snapshot
    kind: Kind = JOB
    version: str = ""


@dataclass(slots=True)
class _Reader:
    client: Client
    scope: Scope
    objects: list[Object] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)

    def needed(self, kind: Kind, labels: str) -> str:
        """Of a kind without which nothing can be decided; returns its version."""
        try:
            return self._listed(kind, self.scope.namespaces or (None,), labels, "")
        except ApiError as error:
            if error.status != 403 or self.scope.namespaces or self.scope.home is None:
                raise
        self.scope = replace(self.scope, namespaces=(self.scope.home,))
        return self._listed(kind, self.scope.namespaces, labels, "")

    def read(self, kind: Kind, labels: str = "", fields: str = "") -> str:
        """Of a kind in all namespaces, for peers wait elsewhere; what may not be read is missing."""
        try:
            return self._listed(kind, (None,), labels, fields)
        except ApiError as error:
            if error.status not in WHY:
                raise
            why = WHY[error.status]
        if why == FORBIDDEN and kind.is_namespaced and self.scope.namespaces:
            return self._listed(kind, self.scope.namespaces, labels, fields)
        self.missing.append(Missing(kind, why))
        return ""

    def _listed(self, kind: Kind, namespaces: Sequence[str | None], labels: str, fields: str) -> str:
        version = ""
        for namespace in namespaces:
            found = self.client.listed_at(kind, namespace, labels=labels, fields=fields)
            self.objects += found.objects
            version = found.version
        return version


def look(client: Client, scope: Scope, now: float) -> Looked:
    """The cluster as it is now; ApiError for what cannot be done without."""
    reader = _Reader(client, scope)
    labels = OURS if scope.team is None else f"{OURS},allotment/team={scope.team}"
    version, kind = reader.needed(JOB, labels), JOB
    parts = tuple(parts_of(_snapshot(reader, now)))
    if any(part.is_queued for part in parts):
        kind = WORKLOAD
        version = reader.read(WORKLOAD)
        for each in OF_QUEUES:
            reader.read(each)
    for each, selected, said in _for_growth(parts):
        reader.read(each, selected, said)
    return Looked(_snapshot(reader, now), kind, version)


def _for_growth(parts: Sequence[Part]) -> Iterator[tuple[Kind, str, str]]:
    if not any(_may_grow(part) for part in parts):
        return
    yield POD, OURS, PENDING
    for kind in OF_DEVICES:
        yield kind, "", ""


def _may_grow(part: Part) -> bool:
    if left_alone(part) is not None or part.window is None or part.is_by_kai:
        return False
    return part.width < min(part.window[1], part.left)


def _snapshot(reader: _Reader, now: float) -> Snapshot:
    return Snapshot(now, tuple(reader.objects), reader.client.name, "", tuple(reader.missing))
