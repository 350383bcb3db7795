"""A cluster at one time: its objects as plain values, and what could not be read of it.

Whoever follows a campaign, explains why it waits or plans reads this and asks no server, so that the answer
is the same for a live cluster, for a file of it, and in a test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from allotment.kubernetes.kinds import Kind, Object


@dataclass(frozen=True, slots=True, order=True)
class Missing:
    """A kind that could not be read: ``not served`` by this cluster, or ``forbidden`` to this identity."""

    kind: Kind
    why: str


@dataclass(frozen=True)
class Snapshot:
    """The objects of a cluster at ``time`` (Unix seconds), sorted; ``version`` is Kubernetes' (``1.36``)."""

    time: float
    objects: tuple[Object, ...]
    name: str = "the cluster"
    version: str = ""
    missing: tuple[Missing, ...] = ()

    def of(self, kind: Kind, namespace: str | None = None) -> tuple[Object, ...]:
        """The objects of a kind, in one namespace or in all."""
        found = self._by_kind.get((kind.api_version, kind.name), ())
        if namespace is None:
            return found
        return tuple(each for each in found if each["metadata"].get("namespace") == namespace)

    def named(self, kind: Kind, name: str, namespace: str | None = None) -> Object | None:
        """One object, or None."""
        return next((each for each in self.of(kind, namespace) if each["metadata"]["name"] == name), None)

    def owned(self, kind: Kind, uid: str, namespace: str | None = None) -> Iterator[Object]:
        """The objects of a kind that another one owns."""
        for each in self.of(kind, namespace):
            if any(owner.get("uid") == uid for owner in each["metadata"].get("ownerReferences") or ()):
                yield each

    def lacks(self, kind: Kind) -> str | None:
        """Why the kind could not be read, or None where it was."""
        return next((each.why for each in self.missing if each.kind == kind), None)

    @cached_property
    def _by_kind(self) -> Mapping[tuple[str, str], tuple[Object, ...]]:
        found: dict[tuple[str, str], list[Object]] = {}
        for each in self.objects:
            found.setdefault((str(each["apiVersion"]), str(each["kind"])), []).append(each)
        return {key: tuple(values) for key, values in found.items()}
