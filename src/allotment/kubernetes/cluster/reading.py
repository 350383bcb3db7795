"""Reading a cluster once: few calls, nothing secret, and what could not be read said and not hidden.

A list for each kind, page by page; which groups are served is asked first, so that a cluster without Kueue
is not asked for its queues. Where the cluster as a whole is forbidden, the ``home`` namespace is read: that
is all that a team may see. Secrets are never asked for, and ConfigMaps, Jobs and Deployments only where they
are ours. Facts: an API server looks at who may do what before it looks at what it serves, so that a
refusal alone does not tell whether there is such a kind (Kubernetes 1.34 to 1.37).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from allotment.errors import AllotmentError
from allotment.kubernetes import kinds
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.cluster.needed import is_needed, is_ours, kept
from allotment.kubernetes.cluster.nesting import HINT, too_deep
from allotment.kubernetes.cluster.overlooked import overlooked
from allotment.kubernetes.cluster.snapshot import Missing, Snapshot, key_of
from allotment.kubernetes.kinds import Kind, Object
from allotment.kubernetes.render.names import MANAGED_BY

OURS: Final = ",".join(f"{key}={value}" for key, value in MANAGED_BY.items())
NOT_SERVED: Final = "not served"
FORBIDDEN: Final = "forbidden"
LEFT_OUT: Final = "left out"
Told = Callable[[Kind, int], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A kind in the versions of it that will do, the best first, and which objects of it."""

    kinds: tuple[Kind, ...]
    labels: str = ""

    @property
    def kind(self) -> Kind:
        """The kind by which it is known."""
        return self.kinds[0]


def _any_of(*found: Kind, labels: str = "") -> Asked:
    return Asked(found, labels)


def _versions(kind: Kind, *versions: str) -> Asked:
    others = tuple(replace(kind, api_version=f"{kind.group}/{version}") for version in versions)
    return Asked((kind, *others))


ASKED: Final = (
    _any_of(kinds.NAMESPACE),
    _any_of(kinds.NODE),
    _versions(kinds.SLICE, "v1beta2", "v1beta1"),
    _versions(kinds.DEVICE_CLASS, "v1beta2", "v1beta1"),
    _versions(kinds.TAINT_RULE, "v1beta2", "v1"),
    _versions(kinds.CLAIM, "v1beta2", "v1beta1"),
    _versions(kinds.CLAIM_TEMPLATE, "v1beta2", "v1beta1"),
    _any_of(kinds.PRIORITY_CLASS),
    _any_of(kinds.CLUSTER_QUEUE),
    _any_of(kinds.COHORT),
    _any_of(kinds.FLAVOR),
    _any_of(kinds.LOCAL_QUEUE),
    _any_of(kinds.WORKLOAD),
    _any_of(kinds.KUEUE_TOPOLOGY),
    _any_of(kinds.WORKLOAD_PRIORITY),
    _any_of(kinds.KAI_QUEUE),
    _any_of(kinds.KAI_POD_GROUP),
    _any_of(kinds.KAI_TOPOLOGY),
    _any_of(kinds.KAI_SHARD),
    _any_of(*reversed(kinds.GANG_WORKLOADS)),
    _any_of(*reversed(kinds.GANG_POD_GROUPS)),
    _any_of(kinds.RESOURCE_QUOTA),
    _any_of(kinds.LIMIT_RANGE),
    _any_of(kinds.JOB, labels=OURS),
    _any_of(kinds.DEPLOYMENT, labels=OURS),
    _any_of(kinds.CONFIG_MAP, labels=OURS),
    _any_of(kinds.POD),
    _any_of(kinds.EVENT),
)
"""All that is read, in this order: events last, so that what they are about is known."""


def read_snapshot(
    client: Client,
    *,
    now: float,
    namespaces: Sequence[str] | None = None,
    home: str | None = None,
    asked: Sequence[Asked] = ASKED,
    told: Told = lambda _kind, _count: None,
) -> Snapshot:
    """The cluster as it is now; of ``namespaces`` alone, where they are named.

    ``told`` hears of each kind that was read, and how many objects of it there were.
    """
    reader = _Reader(client, tuple(namespaces or ()), home, told)
    served, groups = _told(client, "/version"), _told(client, "/apis")
    reader.groups = None if groups is None else _groups(groups)
    for each in asked:
        reader.read(each)
    reader.objects += map(kept, overlooked(client, reader.objects))
    objects = sorted(_pruned(reader.objects, reader.namespaces), key=key_of)
    for _key, _name, words in too_deep(objects):
        raise AllotmentError(words, client.name, HINT)
    return Snapshot(
        time=now,
        objects=tuple(objects),
        name=client.name,
        version=_version(served),
        missing=tuple(sorted(reader.missing)),
        partly=tuple(sorted(reader.partly)),
    )


@dataclass(slots=True)
class _Reader:
    """What has been read so far."""

    client: Client
    namespaces: tuple[str, ...]
    home: str | None
    told: Told
    groups: Mapping[str, frozenset[str]] | None = None  # None: they are not told
    served: dict[str, frozenset[str] | None] = field(default_factory=dict)
    objects: list[Object] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    partly: list[Missing] = field(default_factory=list)

    def read(self, asked: Asked) -> None:
        """All objects of a kind, in the first version that there is."""
        why = ""
        for kind in asked.kinds:
            if not self._may_be_served(kind):
                continue
            try:
                found = self._listed(kind, asked.labels)
            except ApiError as error:
                if error.status not in {403, 404}:
                    raise
                why = self._words(kind, error)
                if why != NOT_SERVED:
                    break
                continue
            self.objects += (kept(each) for each in found if is_needed(each))
            self.told(kind, len(found))
            return
        self.missing.append(Missing(asked.kind, why or self._not_served(asked.kind)))

    def _listed(self, kind: Kind, labels: str) -> Sequence[Object]:
        if self.namespaces and kind.is_namespaced:
            found = [
                each for name in self.namespaces for each in self.client.listed(kind, name, labels=labels)
            ]
            self.partly.append(Missing(kind, f"{LEFT_OUT} outside of {self._places()}"))
            return found
        try:
            return self.client.listed(kind, labels=labels)
        except ApiError as error:
            is_elsewhere = kind.is_namespaced or kind == kinds.NAMESPACE
            if error.status != 403 or not is_elsewhere or self.home is None:
                raise
            if self._words(kind, error) == NOT_SERVED:
                raise
            at_home = self._at_home(kind, self.home, labels)
        self.partly.append(Missing(kind, f"{FORBIDDEN} outside of namespace {self.home}"))
        return at_home

    def _at_home(self, kind: Kind, home: str, labels: str) -> Sequence[Object]:
        """What the own namespace has, or itself."""
        if kind.is_namespaced:
            return self.client.listed(kind, home, labels=labels)
        found = self.client.get(kind, home)
        return () if found is None else (found,)

    def _places(self) -> str:
        return f"namespace{'s' if len(self.namespaces) > 1 else ''} {', '.join(self.namespaces)}"

    def _may_be_served(self, kind: Kind) -> bool:
        if self.groups is None or not kind.group:
            return True
        return kind.api_version in self.groups.get(kind.group, ())

    def _words(self, kind: Kind, error: ApiError) -> str:
        """Whether it is forbidden, or not there to be forbidden."""
        if error.status == 404:
            return NOT_SERVED
        plurals = self._plurals(kind)
        return FORBIDDEN if plurals is None or kind.plural in plurals else NOT_SERVED

    def _plurals(self, kind: Kind) -> frozenset[str] | None:
        """What a version of a group serves; None where that is not told."""
        version = kind.api_version
        if version not in self.served:
            try:
                told = self.client.raw(f"/{'apis' if kind.group else 'api'}/{version}")
            except ApiError:
                self.served[version] = None
            else:
                self.served[version] = frozenset(str(each["name"]) for each in told.get("resources") or ())
        return self.served[version]

    def _not_served(self, kind: Kind) -> str:
        others = sorted((self.groups or {}).get(kind.group, ()))
        return f"{NOT_SERVED}: only {', '.join(others)}" if others else NOT_SERVED


def _told(client: Client, path: str) -> Any:
    """What the server says of itself; None where this identity may not hear it."""
    try:
        return client.raw(path)
    except ApiError as error:
        if error.status != 403:
            raise
        return None


def _groups(told: Any) -> Mapping[str, frozenset[str]]:
    """The versions of each group that is served, as objects say them."""
    return {
        str(group["name"]): frozenset(str(each["groupVersion"]) for each in group.get("versions") or ())
        for group in told.get("groups") or ()
    }


def _version(told: Any) -> str:
    numbers = re.match(r"v?(\d+)\.(\d+)", str((told or {}).get("gitVersion") or ""))
    return f"{numbers[1]}.{numbers[2]}" if numbers else ""


def _pruned(objects: Sequence[Object], namespaces: Sequence[str]) -> Iterator[Object]:
    """Without the events of namespaces that have nothing of ours, and without others' namespaces if asked."""
    ours = set(namespaces)
    for each in objects:
        if is_ours(each):
            metadata = each["metadata"]
            ours.add(metadata["name"] if each["kind"] == "Namespace" else metadata.get("namespace"))
    for each in objects:
        if each["kind"] == "Event" and each["metadata"].get("namespace") not in ours:
            continue
        if each["kind"] == "Namespace" and namespaces and each["metadata"]["name"] not in namespaces:
            continue
        yield each
