"""A cluster at one time: its objects as plain values, and what could not be read of it.

Whoever follows a campaign, explains why it waits or plans reads this and asks no server, so that the answer
is the same for a live cluster, for a file of it, and in a test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from allotment.documents import Document
from allotment.documents.positions import Loc
from allotment.kubernetes.kinds import Kind, Object

Key = tuple[str, str, str, str]
"""What tells an object from all others: kind, API version, namespace, name."""


def key_of(value: Object) -> Key:
    """The key of an object, by which objects are sorted too."""
    metadata = value["metadata"]
    return value["kind"], value["apiVersion"], metadata.get("namespace") or "", metadata["name"]


@dataclass(frozen=True, slots=True, order=True)
class Missing:
    """A kind that could not be read: ``not served`` by this cluster, or ``forbidden`` to this identity."""

    kind: Kind
    why: str


@dataclass(frozen=True)
class Snapshot:
    """The objects of a cluster at ``time`` (Unix seconds), sorted; ``version`` is Kubernetes' (``1.36``).

    ``partly`` are kinds of which something could not be read, such as other namespaces; ``notes`` are
    sentences about the snapshot itself. Of one that is not dated nobody knows how old it is. ``origins`` says
    where each object stands in a file, if it does.
    """

    time: float
    objects: tuple[Object, ...]
    name: str = "the cluster"
    version: str = ""
    missing: tuple[Missing, ...] = ()
    partly: tuple[Missing, ...] = ()
    notes: tuple[str, ...] = ()
    is_dated: bool = True
    origins: Mapping[Key, tuple[Document, Loc]] = field(default_factory=dict, compare=False, repr=False)

    def of(self, kind: Kind, namespace: str | None = None) -> tuple[Object, ...]:
        """The objects of a kind, in one namespace or in all."""
        found = self._by_kind.get((kind.api_version, kind.name), ())
        if namespace is None:
            return found
        return tuple(each for each in found if each["metadata"].get("namespace") == namespace)

    def named(self, kind: Kind, name: str, namespace: str | None = None) -> Object | None:
        """One object, or None; without a namespace, the first of the name."""
        found = self._by_name.get((kind.api_version, kind.name, name), ())
        told = (each for each in found if namespace is None or each["metadata"].get("namespace") == namespace)
        return next(told, None)

    def owned(self, kind: Kind, uid: str, namespace: str | None = None) -> Iterator[Object]:
        """The objects of a kind that another one owns."""
        for each in self._by_owner.get((kind.api_version, kind.name, uid), ()):
            if namespace is None or each["metadata"].get("namespace") == namespace:
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

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str, str], tuple[Object, ...]]:
        found: dict[tuple[str, str, str], list[Object]] = {}
        for each in self.objects:
            key = str(each["apiVersion"]), str(each["kind"]), str(each["metadata"]["name"])
            found.setdefault(key, []).append(each)
        return {key: tuple(values) for key, values in found.items()}

    @cached_property
    def _by_owner(self) -> Mapping[tuple[str, str, str], tuple[Object, ...]]:
        found: dict[tuple[str, str, str], list[Object]] = {}
        for each in self.objects:
            for uid in {owner.get("uid") for owner in each["metadata"].get("ownerReferences") or ()}:
                found.setdefault((str(each["apiVersion"]), str(each["kind"]), str(uid)), []).append(each)
        return {key: tuple(values) for key, values in found.items()}
