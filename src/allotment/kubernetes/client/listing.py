"""All objects of a kind, page by page, as they stood at one moment.

A page that comes too late is answered 410: the rest as it is now would not fit what was read before, so the
list is begun anew, and given up where that happens time after time. Facts: Kubernetes' documentation,
"Kubernetes API Concepts", "Retrieving large results sets in chunks".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from allotment.kubernetes.client.errors import ExpiredError
from allotment.kubernetes.kinds import Kind, Object

PAGE: Final = 500
TIMES: Final = 3


@dataclass(frozen=True, slots=True)
class Listed:
    """Objects, each with its kind, and the version of the cluster at which they stood so."""

    objects: tuple[Object, ...]
    version: str = ""


def selected(labels: str, fields: str) -> dict[str, str]:
    """The query that says which objects are meant."""
    told = {"labelSelector": labels, "fieldSelector": fields}
    return {key: value for key, value in told.items() if value}


def listed(read: Callable[[Mapping[str, str]], Any], kind: Kind, query: Mapping[str, str]) -> Listed:
    """The objects; ``read`` gets one page."""
    for again in range(TIMES):
        try:
            return _pages(read, kind, {"limit": str(PAGE), **query})
        except ExpiredError:
            if again == TIMES - 1:
                raise
    raise AssertionError("a list is read or refused")


def _pages(read: Callable[[Mapping[str, str]], Any], kind: Kind, query: Mapping[str, str]) -> Listed:
    found: list[Object] = []
    said = {"apiVersion": kind.api_version, "kind": kind.name}
    token = ""
    while True:
        page = read({**query, "continue": token} if token else query)
        metadata = page.get("metadata") or {}
        found += [{**said, **each} for each in page.get("items") or ()]
        token = metadata.get("continue") or ""
        if not token:
            return Listed(tuple(found), str(metadata.get("resourceVersion") or ""))
