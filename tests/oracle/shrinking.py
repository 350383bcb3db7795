"""Makes a scenario as small as it can be while two allocators still differ about it.

Parts are taken out one after the other, the largest first, as long as what is left still shows the
difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

Path = tuple[str | int, ...]

TOP = frozenset({"features", "classes", "slices", "claims"})
OBJECTS = frozenset({"id", "name", "metadata", "driver", "pool", "generation", "resourceSliceCount", "node"})
REQUESTS = frozenset({"spec", "devices", "requests", "exactly", "deviceClassName", "allocationMode", "count"})
VALUES = frozenset({"opaque", "cel", "expression", "key", "operator", "value", "effect", "allocatedState"})
NODES = frozenset({"nodeSelectorTerms", "matchExpressions", "values", "nodeName", "allNodes"})
KEPT = OBJECTS | REQUESTS | VALUES | NODES


def shrunk(scenario: dict[str, Any], differs: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The smallest that is found from this one."""
    smallest = scenario
    again = True
    while again:
        again = False
        for path in sorted(_parts(smallest), key=len):
            tried = _without(smallest, path)
            if tried is not None and differs(tried):
                smallest, again = tried, True
    return smallest


def _parts(value: Any, path: Path = ()) -> Iterator[Path]:
    entries: Iterator[tuple[str | int, Any]] = iter(())
    if isinstance(value, dict):
        entries = iter(value.items())
    elif isinstance(value, list):
        entries = iter(reversed(list(enumerate(value))))
    for key, part in entries:
        if key not in KEPT and (path or key not in TOP):
            yield (*path, key)
        yield from _parts(part, (*path, key))


def _without(value: dict[str, Any], path: Path) -> dict[str, Any] | None:
    """The document without this part; None where it is gone already."""
    copied = deepcopy(value)
    inner: Any = copied
    try:
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]
    except (KeyError, IndexError):
        return None
    return copied
