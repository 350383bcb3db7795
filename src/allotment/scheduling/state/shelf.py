"""A mapping that never changes, of which a changed copy costs only the change.

A state holds every workload of a cluster and each decision changes a few. Copying a dictionary for that costs
as much as the cluster is large; here the newest copy owns one dictionary, and an older copy knows how it
differs from the next newer one (Baker's trick for persistent arrays). Reading an old copy moves the
dictionary there. ``changes`` says by which keys two copies differ without looking at the others, so a
scheduler that remembers the copy it saw last learns in a moment what happened since.

Not for use from several threads at once.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class _Absent:
    """Stands for a key that was not there."""


_ABSENT = _Absent()


class Shelf(Mapping[Key, Value], Generic[Key, Value]):
    """A mapping by value; make one from a dictionary, and others with ``put``."""

    __slots__ = ("_items", "_newer", "_undo")

    def __init__(self, items: Mapping[Key, Value] | None = None) -> None:
        self._items: dict[Key, Value] | None = dict(items or {})
        self._undo: dict[Key, Value | _Absent] = {}
        self._newer: Shelf[Key, Value] | None = None

    def put(self, changes: Mapping[Key, Value | None]) -> Shelf[Key, Value]:
        """Another shelf with these values; None takes a key away."""
        if not changes:
            return self
        items = self._owned()
        if not items:
            return Shelf({key: value for key, value in changes.items() if value is not None})
        newer: Shelf[Key, Value] = Shelf.__new__(Shelf)
        newer._items, newer._undo, newer._newer = items, {}, None
        undo: dict[Key, Value | _Absent] = {key: items.get(key, _ABSENT) for key in changes}
        for key, value in changes.items():
            if value is None:
                items.pop(key, None)
            else:
                items[key] = value
        self._items, self._undo, self._newer = None, undo, newer
        return newer

    def changes(self, since: Mapping[Key, Value] | None) -> Iterator[tuple[Key, Value | None, Value | None]]:
        """Each key with its value in ``since`` and here (None: not there), where they are not the same."""
        if since is None or since is self:
            return iter(()) if since is self else ((key, None, value) for key, value in self.items())
        before = self._before(since)
        items = self._owned()
        pairs = ((key, old, items.get(key)) for key, old in before.items())
        return iter([(key, old, new) for key, old, new in pairs if old is not new])

    def _before(self, since: Mapping[Key, Value]) -> dict[Key, Value | None]:
        """What ``since`` has under each key that may differ."""
        self._owned()
        found: dict[Key, Value | None] = {}
        step: Shelf[Key, Value] | None = since if isinstance(since, Shelf) else None
        while step is not None and step._newer is not None:
            for key, value in step._undo.items():
                found.setdefault(key, None if isinstance(value, _Absent) else value)
            step = step._newer
        if step is self:
            return found
        since = dict(since)
        return {key: since.get(key) for key in (*since, *self)}

    def _owned(self) -> dict[Key, Value]:
        """The dictionary, moved here if another copy has it."""
        return self._take_over() if self._items is None else self._items

    def _take_over(self) -> dict[Key, Value]:
        line: list[Shelf[Key, Value]] = []
        step: Shelf[Key, Value] = self
        while step._items is None and step._newer is not None:
            line.append(step)
            step = step._newer
        items: dict[Key, Value] = {} if step._items is None else step._items
        for older in reversed(line):
            older._swap(items)
        return items

    def _swap(self, items: dict[Key, Value]) -> None:
        """Turn the link to the next newer copy round: this one owns the dictionary afterwards."""
        newer = self._newer
        if newer is None:
            return
        redo: dict[Key, Value | _Absent] = {key: items.get(key, _ABSENT) for key in self._undo}
        for key, value in self._undo.items():
            if isinstance(value, _Absent):
                items.pop(key, None)
            else:
                items[key] = value
        self._items, self._undo, self._newer = items, {}, None
        newer._items, newer._undo, newer._newer = None, redo, self

    def __getitem__(self, key: Key) -> Value:
        return self._owned()[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(tuple(self._owned()))

    def get(self, key: Key, default: Value | None = None) -> Value | None:  # type: ignore[override]
        """The value of a key, or the default."""
        return self._owned().get(key, default)

    def items(self) -> ItemsView[Key, Value]:
        """The pairs as they are now, whatever is done to the shelf meanwhile."""
        return dict(self._owned()).items()

    def values(self) -> ValuesView[Value]:
        """The values as they are now."""
        return dict(self._owned()).values()

    def __len__(self) -> int:
        return len(self._owned())

    def __contains__(self, key: object) -> bool:
        return key in self._owned()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and dict(self) == dict(other)

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        return f"Shelf({dict(self)!r})"
