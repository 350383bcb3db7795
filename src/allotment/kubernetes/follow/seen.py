"""A snapshot as it is looked at here: by kind, by name and by owner, whatever its objects lack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from allotment.kubernetes.cluster import Snapshot
from allotment.kubernetes.follow import fields
from allotment.kubernetes.kinds import EVENT, Kind, Object

_Key = tuple[str, str]


class Seen:
    """The objects of a snapshot. Objects without a kind are passed over."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.now = snapshot.time
        self._named: dict[_Key, Mapping[str, tuple[Object, ...]]] = {}
        self._owned: dict[_Key, Mapping[str, tuple[Object, ...]]] = {}
        self._namespaced: dict[_Key, Mapping[str, tuple[Object, ...]]] = {}

    def of(self, kind: Kind, namespace: str | None = None) -> tuple[Object, ...]:
        """The objects of a kind, in one namespace or in all."""
        key = (kind.api_version, kind.name)
        if namespace is None:
            return self._by_kind.get(key, ())
        if key not in self._namespaced:
            found: dict[str, list[Object]] = {}
            for each in self._by_kind.get(key, ()):
                found.setdefault(fields.namespace(each), []).append(each)
            self._namespaced[key] = {place: tuple(values) for place, values in found.items()}
        return self._namespaced[key].get(namespace, ())

    def named(self, kind: Kind, name: str, namespace: str | None = None) -> Object | None:
        """One object, or None."""
        if not name:
            return None
        key = (kind.api_version, kind.name)
        if key not in self._named:
            found: dict[str, list[Object]] = {}
            for each in self.of(kind):
                found.setdefault(fields.name(each), []).append(each)
            self._named[key] = {called: tuple(values) for called, values in found.items()}
        called = self._named[key].get(name, ())
        return next((each for each in called if namespace in {None, fields.namespace(each)}), None)

    def owned(self, kind: Kind, uid: str) -> tuple[Object, ...]:
        """The objects of a kind that another one owns."""
        key = (kind.api_version, kind.name)
        if key not in self._owned:
            found: dict[str, list[Object]] = {}
            for each in self.of(kind):
                for owner in fields.owners(each):
                    found.setdefault(fields.text(owner, "uid"), []).append(each)
            self._owned[key] = {owner: tuple(values) for owner, values in found.items()}
        return self._owned[key].get(uid, ()) if uid else ()

    def knows(self, kind: Kind) -> bool:
        """Whether the kind was read, so that an object which is not among them is not there."""
        return all(each.kind != kind for each in self.snapshot.missing)

    def serves(self, kind: Kind) -> bool:
        """Whether the cluster has the kind at all, as far as is known."""
        return self.snapshot.lacks(kind) != "not served"

    def events(self, about: Object) -> tuple[Object, ...]:
        """The events of an object, the newest first."""
        key = (fields.text(about, "kind"), fields.namespace(about), fields.name(about))
        return self._events.get(key, ()) if key[2] else ()

    @cached_property
    def _events(self) -> Mapping[tuple[str, str, str], tuple[Object, ...]]:
        found: dict[tuple[str, str, str], list[Object]] = {}
        for each in self.of(EVENT):
            about = fields.mapping(each, "involvedObject")
            key = tuple(fields.text(about, part) for part in ("kind", "namespace", "name"))
            found.setdefault((key[0], key[1] or fields.namespace(each), key[2]), []).append(each)
        return {key: tuple(sorted(values, key=when, reverse=True)) for key, values in found.items()}

    @cached_property
    def _by_kind(self) -> Mapping[_Key, tuple[Object, ...]]:
        found: dict[_Key, list[Object]] = {}
        for each in self._objects():
            found.setdefault((fields.text(each, "apiVersion"), fields.text(each, "kind")), []).append(each)
        return {key: tuple(values) for key, values in found.items()}

    @cached_property
    def sound(self) -> Snapshot:
        """The snapshot with those objects alone that have a name: others count for nothing."""
        whole = all(map(_is_sound, self.snapshot.objects))
        return (
            self.snapshot
            if whole
            else replace(self.snapshot, objects=tuple(filter(_is_sound, self.snapshot.objects)))
        )

    def _objects(self) -> Iterator[Object]:
        return iter(self.snapshot.objects)


def _is_sound(value: Object) -> bool:
    return all(fields.text(value, key) for key in ("apiVersion", "kind")) and bool(fields.name(value))


def when(event: Object) -> float:
    """When an event was last seen."""
    for place in ("lastTimestamp", "eventTime", "firstTimestamp"):
        found = fields.moment(event, place)
        if found is not None:
            return found
    return fields.created(event) or 0.0
