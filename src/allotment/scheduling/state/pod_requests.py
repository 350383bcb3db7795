"""What a pod asks a node for: containers, those that run before them and beside them, and the overhead.

The rule is that of ``PodRequests`` in k8s.io/component-helpers: the containers add up with the sidecars; an
init container that ends needs its own amount beside the sidecars that were started before it; the larger of
both counts. Amounts that are said for the whole pod stand in the place of the sum, and the overhead comes on
top.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from allotment.scheduling.state.amounts import amounts_of

POD_LEVEL: Final = frozenset({"cpu", "memory"})
_HUGE: Final = "hugepages-"


def pod_requests(spec: Mapping[str, Any]) -> dict[str, int]:
    """The requests of a pod by resource."""
    total = _sum(_requests(container) for container in spec.get("containers") or ())
    sidecars: dict[str, int] = {}
    most: dict[str, int] = {}
    for container in spec.get("initContainers") or ():
        own = _requests(container)
        if container.get("restartPolicy") == "Always":
            total, sidecars = _sum((total, own)), _sum((sidecars, own))
            own = sidecars
        else:
            own = _sum((sidecars, own))
        most = _most(most, own)
    total = _most(total, most)
    whole = _requests(spec)
    total.update({name: amount for name, amount in whole.items() if _for_whole_pods(name)})
    return _sum((total, amounts_of(spec.get("overhead") or {})))


def _for_whole_pods(resource: str) -> bool:
    return resource in POD_LEVEL or resource.startswith(_HUGE)


def _requests(part: Mapping[str, Any]) -> dict[str, int]:
    return amounts_of((part.get("resources") or {}).get("requests") or {})


def _sum(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, 0) + amount
    return total


def _most(left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int]:
    return {
        name: max(left.get(name, right.get(name, 0)), right.get(name, left.get(name, 0)))
        for name in {**left, **right}
    }
