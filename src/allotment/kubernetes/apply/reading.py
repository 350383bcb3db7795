"""What is live: one list call for each kind that an apply looks at, by our label where the kind has it.

A kind that the cluster does not serve, or that this identity may not read, is told as missing: what follows
from it is for those to say who need the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from allotment.kubernetes.apply.groups import OURS
from allotment.kubernetes.client import ApiError, Client
from allotment.kubernetes.cluster import Missing, Snapshot
from allotment.kubernetes.cluster.overlooked import overlooked
from allotment.kubernetes.kinds import (
    CLAIM,
    CLAIM_TEMPLATE,
    CLUSTER_QUEUE,
    COHORT,
    CONFIG_MAP,
    DEPLOYMENT,
    DEVICE_CLASS,
    GANG_POD_GROUPS,
    GANG_WORKLOADS,
    JOB,
    KAI_QUEUE,
    LOCAL_QUEUE,
    NODE,
    SERVICE,
    SLICE,
    WORKLOAD,
    Kind,
    Object,
)
from allotment.kubernetes.render.context import Context

OWN: Final = (JOB, CONFIG_MAP, CLAIM_TEMPLATE, DEPLOYMENT, SERVICE)
"""Kinds that are rendered for every team."""
NEEDED: Final = frozenset({JOB, CONFIG_MAP, DEPLOYMENT, SERVICE})
"""Kinds without which nothing can be said: that they may not be read is an error, and no gap."""
OF_KUEUE: Final = (WORKLOAD, LOCAL_QUEUE)
WORDS: Final = {403: "forbidden", 404: "not served"}


def read_live(client: Client, context: Context, now: Callable[[], float]) -> Snapshot:
    """The team's objects and what they are held against; ApiError for what cannot be done without."""
    found = _read(client, _asked(context))
    found = replace(found, objects=(*found.objects, *overlooked(client, found.objects)))
    return replace(found, time=now(), version=_version(client))


def with_devices(client: Client, live: Snapshot) -> Snapshot:
    """The same, with the devices that are published and the nodes that have them."""
    found = _read(client, ((SLICE, None, ""), (NODE, None, "")))
    objects, missing = (*live.objects, *found.objects), (*live.missing, *found.missing)
    return replace(live, objects=objects, missing=missing)


def _read(client: Client, asked: Iterable[tuple[Kind, str | None, str]]) -> Snapshot:
    objects: list[Object] = []
    missing: list[Missing] = []
    for kind, namespace, selected in asked:
        try:
            objects += client.listed(kind, namespace, labels=selected)
        except ApiError as error:
            if error.status not in WORDS or (kind in NEEDED):
                raise
            missing.append(Missing(kind, WORDS[error.status]))
    return Snapshot(0.0, tuple(objects), client.name, missing=tuple(missing))


def _version(client: Client) -> str:
    """Kubernetes' version, such as 1.36; nothing where the cluster tells it to nobody."""
    try:
        told = client.raw("/version")
    except ApiError as error:
        if error.status in WORDS:
            return ""
        raise
    return f"{told.get('major', '')}.{str(told.get('minor', '')).rstrip('+')}"


def _asked(context: Context) -> Iterator[tuple[Kind, str | None, str]]:
    """Kinds, where, and by which label."""
    namespace = context.namespace
    for kind in OWN:
        yield kind, namespace, OURS
    if not context.with_kueue:
        yield CLAIM, namespace, OURS
    if context.scheduler == "default":
        for kind in gang_kinds(context.minor):
            yield kind, namespace, OURS
    yield DEVICE_CLASS, None, ""
    if context.with_kueue:
        for kind in OF_KUEUE:
            yield kind, namespace, ""
        for kind in (CLUSTER_QUEUE, COHORT):
            yield kind, None, ""
    if context.with_kai:
        yield KAI_QUEUE, None, ""


def gang_kinds(minor: int) -> tuple[Kind, ...]:
    """The gang objects of a version of Kubernetes: those of 1.35, 1.36, and 1.37 and later differ."""
    number = min(minor, 37) - 35
    if number < 0:
        return ()
    return (_GANG_WORKLOADS[number], *_GANG_POD_GROUPS[:number][-1:])


_GANG_WORKLOADS: Final = tuple(
    next(each for each in GANG_WORKLOADS if each.api_version.endswith(version))
    for version in ("v1alpha1", "v1alpha2", "v1beta1")
)
_GANG_POD_GROUPS: Final = tuple(
    next(each for each in GANG_POD_GROUPS if each.api_version.endswith(version))
    for version in ("v1alpha2", "v1beta1")
)
