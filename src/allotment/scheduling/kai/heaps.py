"""A binary heap that moves its items as Go's ``container/heap`` does.

Where an order leaves two items equal, or items change while they are in the heap, who comes out first depends
on how the heap moves them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Heap(Generic[Item]):
    """Items of which the first by ``before`` comes out first; at most ``size`` of them are kept."""

    __slots__ = ("before", "items", "size")

    def __init__(self, before: Callable[[Item, Item], bool], size: int | None = None) -> None:
        self.before, self.size = before, size
        self.items: list[Item] = []

    def __len__(self) -> int:
        return len(self.items)

    @property
    def first(self) -> Item:
        """The item that comes out next."""
        return self.items[0]

    def push(self, item: Item) -> None:
        """Put an item in."""
        self.items.append(item)
        self._up(len(self.items) - 1)
        if self.size is not None and len(self.items) > self.size:
            self._remove(self.size)

    def extend_last(self, items: Iterable[Item]) -> None:
        """Put items in that are in order and come after all that are there."""
        self.items.extend(items)
        if self.size is not None:
            del self.items[self.size :]

    def pop(self) -> Item:
        """Take the first item out."""
        last = len(self.items) - 1
        self._swap(0, last)
        self._down(0, last)
        return self.items.pop()

    def settle_first(self) -> None:
        """Find the place of the first item after it has changed."""
        if not self._down(0, len(self.items)):
            self._up(0)

    def _remove(self, index: int) -> None:
        last = len(self.items) - 1
        if index != last:
            self._swap(index, last)
            if not self._down(index, last):
                self._up(index)
        self.items.pop()

    def _swap(self, left: int, right: int) -> None:
        self.items[left], self.items[right] = self.items[right], self.items[left]

    def _up(self, index: int) -> None:
        while index > 0:
            parent = (index - 1) // 2
            if not self.before(self.items[index], self.items[parent]):
                break
            self._swap(parent, index)
            index = parent

    def _down(self, start: int, end: int) -> bool:
        index = start
        while True:
            child = 2 * index + 1
            if child >= end:
                break
            if child + 1 < end and self.before(self.items[child + 1], self.items[child]):
                child += 1
            if not self.before(self.items[child], self.items[index]):
                break
            self._swap(index, child)
            index = child
        return index > start
