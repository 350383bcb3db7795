"""Pods that no filter can tell apart, as a number that is looked up at once.

What makes pods alike is large: the whole of what they ask for. Pods of one work share those parts themselves,
so that it is enough to see that they are the same objects.
"""

from __future__ import annotations

from typing import Final

from allotment.scheduling.state.pods import Pod

_MOST: Final = 10_000  # parts that are known


class Kinds:
    """The kinds of pods that there are, by number. A kind keeps its number for good."""

    __slots__ = ("_by_likeness", "_by_parts")

    def __init__(self) -> None:
        self._by_parts: dict[tuple[int, ...], tuple[int, Pod]] = {}  # the pod keeps its parts from going
        self._by_likeness: dict[tuple[object, ...], int] = {}

    def of(self, pod: Pod) -> int:
        """The kind of a pod."""
        parts = (
            id(pod.requests),
            id(pod.node_selector),
            id(pod.affinity),
            id(pod.tolerations),
            id(pod.claims),
        )
        known = self._by_parts.get(parts)
        if known is not None:
            return known[0]
        if len(self._by_parts) >= _MOST:
            self._by_parts.clear()
        kind = self._by_likeness.setdefault(pod.likeness, len(self._by_likeness))
        self._by_parts[parts] = kind, pod
        return kind
