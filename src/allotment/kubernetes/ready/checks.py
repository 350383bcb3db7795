"""The table of what is asked of a cluster, from what is nearest to what is farthest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from allotment.answers import Answer, Check
from allotment.kubernetes.ready import (
    classes,
    connection,
    devices,
    kai,
    kueue,
    kueue_config,
    nodes,
    objects,
    rights,
    teams,
    versions,
)
from allotment.kubernetes.ready.seen import Seen

CHECKS: Final[Mapping[str, Callable[[Seen], Iterator[Answer]]]] = {
    "cluster": connection.identity,
    "clock": connection.clock,
    "kubernetes": versions.kubernetes,
    "gates": versions.gates,
    "driver": devices.driver,
    "slices": devices.slices,
    "taints": nodes.taints,
    "layout": nodes.layout,
    "fractions": nodes.fractions,
    "classes": objects.held_against("classes"),
    "kinds of card": classes.found_by_classes,
    "extended names": devices.extended_names,
    "kueue": kueue.kueue,
    "kueue's configuration": kueue_config.configuration,
    "kai": kai.kai,
    "queues": objects.held_against("queues"),
    "active queues": kueue.active_queues,
    "kai's queues": kai.queues,
    "priorities": objects.held_against("priorities"),
    "admission": objects.held_against("admission"),
    "namespaces": objects.held_against("namespaces"),
    "going": teams.namespaces,
    "roles": objects.held_against("roles"),
    "rights": rights.rights,
    "credentials": teams.credentials,
    "limits": teams.limits,
    "not looked at": connection.unread,
}


def checks(seen: Seen) -> Iterator[tuple[str, Check]]:
    """Every check, ready to be asked."""
    for name, check in CHECKS.items():
        yield name, partial(check, seen)
