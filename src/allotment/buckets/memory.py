"""A bucket in memory: for tests, simulations and trials, with the same promises as a real one."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from allotment.buckets.bucket import Entry, key_exists, key_missing, too_large


class MemoryBucket:
    """Objects in a dictionary; safe to use from several threads."""

    def __init__(self, objects: dict[str, bytes] | None = None) -> None:
        self.objects: dict[str, bytes] = dict(objects or {})
        self._lock = threading.Lock()

    def create(self, key: str, data: bytes) -> None:
        """Write an object that is not there yet."""
        with self._lock:
            if key in self.objects:
                raise key_exists(key)
            self.objects[key] = bytes(data)

    def read(self, key: str, most: int | None = None) -> bytes:
        """The object's bytes."""
        try:
            data = self.objects[key]
        except KeyError:
            raise key_missing(key) from None
        if most is not None and len(data) > most:
            raise too_large(key, most)
        return data

    def exists(self, key: str) -> bool:
        """Whether the object is there."""
        return key in self.objects

    def list(self, prefix: str) -> Iterator[Entry]:
        """Every object below a prefix."""
        with self._lock:
            found = [Entry(key, len(data)) for key, data in self.objects.items() if key.startswith(prefix)]
        return iter(found)

    def list_folders(self, prefix: str) -> tuple[str, ...]:
        """The names directly below a prefix that have objects below them."""
        with self._lock:
            below = [key[len(prefix) :] for key in self.objects if key.startswith(prefix)]
        return tuple(sorted({rest.split("/", 1)[0] for rest in below if "/" in rest}))
