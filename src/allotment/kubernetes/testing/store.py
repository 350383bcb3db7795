"""The store: every version of every object, under one count of revisions, as etcd keeps them.

Lists of an older revision and watches from one are read from the same history. What is older than the last
compaction is forgotten.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

Object = dict[str, Any]
_FIRST: Final = 1000


class Key(NamedTuple):
    """Where an object is kept."""

    resource: tuple[str, str]
    namespace: str
    name: str


@dataclass(frozen=True)
class Change:
    """One write: the object before and after it; None where there is none."""

    revision: int
    key: Key
    before: Object | None
    after: Object | None


class Store:
    """Objects by key, and the changes that led to them."""

    def __init__(self) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.revision = _FIRST
        self.oldest = _FIRST
        self._objects: dict[Key, Object] = {}
        self._changes: list[Change] = []

    def get(self, key: Key) -> Object | None:
        """The object as it is now; it is not to be changed."""
        return self._objects.get(key)

    def put(self, key: Key, value: Object) -> Object:
        """Keep an object under the next revision; what is kept is answered."""
        with self.changed:
            self.revision += 1
            metadata = {**value["metadata"], "resourceVersion": str(self.revision)}
            kept = {**value, "metadata": metadata}
            self._changes.append(Change(self.revision, key, self._objects.get(key), kept))
            self._objects[key] = kept
            self.changed.notify_all()
            return kept

    def remove(self, key: Key) -> Object:
        """Take an object away; the last state is answered, with the revision of the removal."""
        with self.changed:
            self.revision += 1
            last = self._objects.pop(key)
            self._changes.append(Change(self.revision, key, last, None))
            self.changed.notify_all()
            return {**last, "metadata": {**last["metadata"], "resourceVersion": str(self.revision)}}

    def listed(
        self, resource: tuple[str, str], namespace: str, at: int | None = None
    ) -> list[tuple[Key, Object]]:
        """The objects of a resource in the order of their keys, now or at a revision."""
        objects = self._objects if at is None else self._at(at)
        found = (
            (key, value)
            for key, value in objects.items()
            if key.resource == resource and namespace in {"", key.namespace}
        )
        return sorted(found, key=lambda each: each[0])

    def everything(self) -> list[tuple[Key, Object]]:
        """All objects of all resources."""
        return sorted(self._objects.items(), key=lambda each: each[0])

    def since(self, revision: int, is_wanted: Callable[[Key], bool]) -> Iterator[Change]:
        """The changes after a revision."""
        first = next((place for place, each in enumerate(self._changes) if each.revision > revision), None)
        if first is not None:
            yield from (each for each in self._changes[first:] if is_wanted(each.key))

    def compact(self) -> None:
        """Forget what was before the present revision."""
        with self.changed:
            self.oldest = self.revision
            self._changes = []

    def _at(self, revision: int) -> dict[Key, Object]:
        objects = dict(self._objects)
        for change in reversed(self._changes):
            if change.revision <= revision:
                break
            if change.before is None:
                objects.pop(change.key, None)
            else:
                objects[change.key] = change.before
        return objects
